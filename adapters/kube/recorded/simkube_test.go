package recorded_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/cli"
)

// applied returns an object as a trace of SimKube has it: as it was applied.
func applied(t *testing.T, o client.Object) map[string]any {
	t.Helper()
	kinds, _, err := coreScheme(t).ObjectKinds(o)
	if err != nil {
		t.Fatal(err)
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[0])
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestATraceOfSimKubeStartsACheck imports a trace in which one guest is there and another one comes later, and has a
// search begin between them.
func TestATraceOfSimKubeStartsACheck(t *testing.T) {
	const start = 1743286823
	event := func(at int, objects ...any) map[string]any {
		return map[string]any{"ts": start + at, "applied_objs": objects, "deleted_objs": []any{}}
	}
	trace, err := msgpack.Marshal(map[string]any{
		"version": 2, "config": map[string]any{"trackedObjects": map[string]any{}}, "index": map[string]any{}, "pod_lifecycles": map[string]any{},
		"events": []any{event(0, applied(t, house()), applied(t, guest("a"))), event(3, applied(t, guest("b")))},
	})
	if err != nil {
		t.Fatal(err)
	}
	folder, entry := t.TempDir(), seatsEntry(t)
	file, recording := filepath.Join(folder, "trace.sk"), filepath.Join(folder, "trace.ort")
	if err := os.WriteFile(file, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, cli.ExitHolds, entry, "trace", "import", "simkube", file, "--out", recording)
	text := command(t, cli.ExitInconclusive, entry, "check", "seats", "--from", recording+"@1s")
	wants(t, text, "The search begins in a recording", "creates ServiceAccount default/b")
	text = command(t, cli.ExitViolated, entry, "check", "seats", "--from", recording+"@1s", "--stale", "seats/ConfigMap=lag(1)")
	wants(t, text, "outcome", "data.taken")
}

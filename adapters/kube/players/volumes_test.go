package players

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// TestVolumeProtector runs the strategy until nothing is left to do.
func TestVolumeProtector(t *testing.T) {
	w := newWorld(t, kube.VolumeProtection())
	protector, err := VolumeProtector(w.server)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := protector.New()
	if err != nil {
		t.Fatal(err)
	}
	before := map[core.Key]core.Content{}
	run := func() {
		for requests := []core.Request{""}; len(requests) > 0; {
			requests = nil
			for _, key := range slices.SortedFunc(maps.Keys(union(before, w.objects)), core.Key.Compare) {
				if before[key] != w.objects[key] && slices.Contains(protector.Describe().Watches, key.Kind) {
					requests = append(requests, instance.Handle(w, core.Event{Key: key, Old: before[key], New: w.objects[key]})...)
				}
			}
			before = maps.Clone(w.objects)
			for _, r := range requests {
				if result := instance.Reconcile(w, r); result.Err != nil {
					t.Fatal(result.Err)
				}
			}
		}
	}
	for _, name := range []string{"used", "waiting", "free"} {
		c := w.must(creation(claimKind, tree{"name": name}, claim()))
		expect(t, "finalizers of a claim", c.GetFinalizers(), []any{kinds.ClaimProtection})
	}
	w.must(creation(podKind, tree{"name": "p"}, using("used", "n")))
	w.must(creation(podKind, tree{"name": "unscheduled"}, using("waiting", "")))
	run()
	w.must(request(kube.DeleteCollection, claimKind, ""))
	run()
	w.refuse(request(kube.Get, claimKind, "free"), 404, `persistentvolumeclaims "free" not found`)
	w.refuse(request(kube.Get, claimKind, "waiting"), 404, `persistentvolumeclaims "waiting" not found`)
	w.must(request(kube.Get, claimKind, "used"))
	deletion := request(kube.Delete, podKind, "p")
	deletion.GracePeriodSeconds = new(int64)
	w.must(deletion)
	run()
	w.refuse(request(kube.Get, claimKind, "used"), 404, `persistentvolumeclaims "used" not found`)

	v := w.must(creation(volumeKind, tree{"name": "v", "finalizers": []any{"example.com/x"}}, volume()))
	expect(t, "finalizers of a volume", v.GetFinalizers(), []any{"example.com/x", kinds.VolumeProtection})
	bound := func(phase string) {
		w.must(ofStatus(patching(volumeKind, "v", types.MergePatchType, `{"status":{"phase":"`+phase+`"}}`)))
	}
	bound("Bound")
	w.must(request(kube.Delete, volumeKind, "v"))
	run()
	expect(t, "finalizers while it is bound", len(w.must(request(kube.Get, volumeKind, "v")).GetFinalizers()), 2)
	bound("Released")
	run()
	expect(t, "finalizers after that", w.must(request(kube.Get, volumeKind, "v")).GetFinalizers(), []any{"example.com/x"})
}

// A server that protects nothing, or has no volumes, needs no protector.
func TestVolumeProtectorMistakes(t *testing.T) {
	w := newWorld(t)
	if _, err := VolumeProtector(w.server); err == nil {
		t.Error("there is a protector for a server that protects nothing")
	}
	bare, err := kube.NewServer(runtime.NewScheme(), kube.VolumeProtection())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VolumeProtector(bare); err == nil {
		t.Error("there is a protector for a server without volumes")
	}
}

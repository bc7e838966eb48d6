package main

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var runs = flag.Int("runs", 1, "how often each scenario is recorded and validated")

// needsServers skips a test where the real server would have to be built first.
func needsServers(t testing.TB) {
	t.Helper()
	_, err := controlplane.Present()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no kube-apiserver yet: set KUBEBUILDER_ASSETS, or let orrery confirm build one")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMain is the command if the script calls it.
func TestMain(m *testing.M) {
	if os.Getenv("LIVE_COMMAND") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestScript runs the script: record, ask, replay, validate, search.
func TestScript(t *testing.T) {
	needsServers(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "bash", "live.sh", program, t.TempDir())
	script.Env = append(os.Environ(), "LIVE_COMMAND=yes")
	output, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"jobset default/js1", "status.restarts", "VIOLATED  jobset", "2 different outcomes", "The search begins in recordings", "still happens"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%q is not in\n%s", want, output)
		}
	}
}

// TestLiveRunsValidate records all scenarios, and holds them against the model: restarts, deletions, controllers that end and start again, two replicas with a lease. A model with a fault does not
// explain them, and the audit log of the server tells the same histories of objects.
func TestLiveRunsValidate(t *testing.T) {
	needsServers(t)
	system, err := newSystem()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios())) {
		for range *runs {
			t.Run(name, func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), name)
				log := filepath.Join(t.TempDir(), "audit.log")
				if _, err := record(t.Context(), folder, name, log); err != nil {
					t.Fatal(err)
				}
				sources, err := analysis.Files(folder)
				if err != nil {
					t.Fatal(err)
				}
				report, err := recorded.Validate(system.Store.(recorded.Model), sources)
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				report.Text(&text)
				if report.Unexplained > 0 || report.Explained == 0 {
					t.Fatal(text.String())
				}
				t.Logf("%d of %d calls explained, %d not judged", report.Explained, report.Calls, report.UnjudgedCalls())
				report, err = recorded.Validate(faulty{system.Store.(recorded.Model)}, sources)
				if err != nil || report.Unexplained == 0 || report.Findings[0].By != recorded.BySimulator {
					t.Errorf("a fault of the simulated server is not found: %+v, %v", report, err)
				}
				sameHistories(t, sources, log, name != "killed" && name != "lease")
			})
		}
	}
}

// faulty is a simulated server that forgets a default of Jobs.
type faulty struct{ recorded.Model }

// Answer implements core.Store.
func (f faulty) Answer(state core.Snapshot, call core.Call) (core.Answer, error) {
	answer, err := f.Model.Answer(state, call)
	if r, ok := call.(*kube.Request); ok && err == nil && r.Kind.Kind == "Job" && r.Verb == kube.Create {
		if response, ok := answer.Response.(*kube.Response); ok && response.Object != nil {
			answer.Response = kube.Done([]byte(strings.Replace(string(response.Object), `"completionMode":"Indexed"`, `"completionMode":"NonIndexed"`, 1)))
		}
	}
	return answer, err
}

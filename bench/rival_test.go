package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRivals runs the other checkers, where they are installed, on counters whose states are known.
func TestRivals(t *testing.T) {
	for _, rival := range FindRivals(t.TempDir()) {
		t.Run(rival.Name, func(t *testing.T) {
			if rival.Tool == nil {
				t.Skip(rival.Missing)
			}
			trials := []Trial{{Reduction: full, Workers: 1}, {Reduction: reduced, Workers: 1}}
			if rival.Name == Rumur {
				trials = []Trial{{Reduction: full, Workers: 1}, {Reduction: full, Workers: 2}}
			}
			for _, trial := range trials {
				trial.System, trial.Params = Counters, "n=3 k=2"
				states, transitions := 27, 54 // (k+1)^n and n·k·(k+1)^(n-1)
				if trial.Reduction == reduced {
					states, transitions = 7, 6
				}
				sample, err := rival.Tool.Run(t.Context(), trial)
				if err != nil {
					t.Fatal(err)
				}
				if sample.States != states || sample.Transitions != transitions || sample.PeakBytes == 0 {
					t.Errorf("%s: got %+v, want %d states and %d transitions", trial, sample, states, transitions)
				}
			}
			if _, err := rival.Tool.Run(t.Context(), Trial{System: tenants, Params: "n=1"}); err == nil {
				t.Errorf("there is a model of tenants for %s", rival.Title)
			}
		})
	}
}

// TestMissing wants what is not installed to be named.
func TestMissing(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	for _, rival := range FindRivals(folder) {
		if rival.Tool != nil || !strings.Contains(rival.Missing.Error(), "the package "+rival.Name+" of Debian") {
			t.Errorf("%s: got %v", rival.Title, rival.Missing)
		}
		if err := os.WriteFile(filepath.Join(folder, rival.Name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, rival := range FindRivals(folder) {
		if rival.Tool != nil || !strings.Contains(rival.Missing.Error(), "there is no program gcc") {
			t.Errorf("%s without a compiler: got %v", rival.Title, rival.Missing)
		}
	}
}

// TestSamples reads what verifiers said, and refuses what is not as it should be.
func TestSamples(t *testing.T) {
	for _, test := range []struct {
		file    string
		checker checker
		want    Sample
		// spoilt are words to replace by others.
		spoilt [][2]string
	}{
		{
			"spin.txt", spin{}, Sample{States: 4_782_969, Transitions: 44_641_044, Seconds: 7.93, PeakBytes: 296_853_962},
			[][2]string{{"errors: 0", "errors: 1"}, {"elapsed time", "time"}, {"4782969", "many"}},
		},
		{
			"rumur.txt", rumur{}, Sample{States: 531_441, Transitions: 4_251_528, Seconds: 2.5, PeakBytes: 19_768 << 10},
			[][2]string{{`errors="0"`, `errors="1"`}, {"<summary", "<progress"}, {`states="531441"`, `states="many"`}},
		},
	} {
		t.Run(test.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", test.file))
			if err != nil {
				t.Fatal(err)
			}
			said := string(text)
			sample, err := test.checker.sample(said, 2.5)
			if err != nil {
				t.Fatal(err)
			}
			if sample != test.want {
				t.Errorf("got %+v, want %+v", sample, test.want)
			}
			for _, words := range slices.Concat([][2]string{{said, ""}}, test.spoilt) {
				if sample, err := test.checker.sample(strings.ReplaceAll(said, words[0], words[1]), 2.5); err == nil {
					t.Errorf("with %q for %q: got %+v", words[1], words[0], sample)
				}
			}
		})
	}
}

// TestUnknownMemory wants a search to count where nobody knows the memory.
func TestUnknownMemory(t *testing.T) {
	sample, err := rumur{}.sample(`<summary states="3" rules_fired="2" errors="0" duration_seconds="0"/>`, 0.001)
	if want := (Sample{States: 3, Transitions: 2, Seconds: 0.001}); err != nil || sample != want {
		t.Errorf("got %+v, %v, want %+v", sample, err, want)
	}
}

// TestVerification looks at how the options of the SPIN verifier follow the size of a search.
func TestVerification(t *testing.T) {
	for _, test := range []struct {
		n         int
		reduction string
		want      string
	}{
		{14, full, "./pan -m156 -w23 -b -n"},
		{14, reduced, "./pan -m156 -w10 -b -n"},
		{1, full, "./pan -m104 -w10 -b -n"},
	} {
		if got := typed(spin{}.recipe(test.n, 2, Trial{Reduction: test.reduction}).verify); got != test.want {
			t.Errorf("%d counters, %s: got %s, want %s", test.n, test.reduction, got, test.want)
		}
	}
}

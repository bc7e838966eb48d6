package bench

import (
	"os"
	"strings"
	"testing"
)

// TestSpin runs SPIN, where it is installed, on counters whose states are known.
func TestSpin(t *testing.T) {
	spin, err := FindSpin()
	if err != nil {
		t.Skip(err)
	}
	for _, test := range []struct {
		reduction           string
		states, transitions int
	}{
		{full, 27, 54}, // (k+1)^n and n·k·(k+1)^(n-1)
		{reduced, 7, 6},
	} {
		sample, err := spin.Run(t.Context(), Trial{Tool: Spin, System: Counters, Params: "n=3 k=2", Reduction: test.reduction, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if sample.States != test.states || sample.Transitions != test.transitions || sample.PeakBytes == 0 {
			t.Errorf("%s: got %+v, want %d states and %d transitions", test.reduction, sample, test.states, test.transitions)
		}
	}
	if _, err := spin.Run(t.Context(), Trial{System: tenants, Params: "n=1"}); err == nil {
		t.Error("there is a model of tenants for SPIN")
	}
	if err := spin.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(spin.folder); err == nil {
		t.Error("what was made is still there")
	}
}

const panOutput = `
(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	invalid end states	+

State-vector 116 byte, depth reached 28, errors: 0
  4782969 states, stored
 39858076 states, matched
 44641045 transitions (= stored+matched)
        0 atomic steps
hash conflicts:  11205345 (resolved)

Stats on memory usage (in Megabytes):
  620.350	equivalent memory usage for states (stored*(State-vector + overhead))
  219.180	actual memory usage for states (compression: 35.33%)
   64.000	memory used for hash table (-w23)
    0.008	memory used for DFS stack (-m156)
  283.102	total actual memory usage


pan: elapsed time 7.93 seconds
pan: rate 603148.68 states/second
`

func TestParsePan(t *testing.T) {
	sample, err := parsePan(panOutput)
	if err != nil {
		t.Fatal(err)
	}
	want := Sample{States: 4_782_969, Transitions: 44_641_044, Seconds: 7.93, PeakBytes: 296_853_962}
	if sample != want {
		t.Errorf("got %+v, want %+v", sample, want)
	}
	for _, spoilt := range []string{
		"",
		strings.Replace(panOutput, "errors: 0", "errors: 1", 1),
		strings.Replace(panOutput, "elapsed time", "time", 1),
		strings.Replace(panOutput, "4782969", "many", 1),
	} {
		if sample, err := parsePan(spoilt); err == nil {
			t.Errorf("got %+v of\n%s", sample, spoilt)
		}
	}
}

func TestVerification(t *testing.T) {
	for _, test := range []struct{ params, reduction, want string }{
		{"n=14 k=2", full, "-m156 -w23 -b -n"},
		{"n=14 k=2", reduced, "-m156 -w10 -b -n"},
		{"n=1 k=2", full, "-m104 -w10 -b -n"},
	} {
		if got := strings.Join(verification(Trial{Params: test.params, Reduction: test.reduction}), " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.params, got, test.want)
		}
	}
}

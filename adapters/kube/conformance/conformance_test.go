package conformance

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

var (
	requests = flag.Int("requests", 0, "how many requests to compare with a real API server; 0 skips what needs one")
	seed     = flag.Uint64("seed", 1, "the seed of the requests")
	length   = flag.Int("length", 12, "how many requests are in a sequence")
	shrink   = flag.String("shrink", "", "which kinds of differences to cut down to a short sequence: a regular expression")
	fidelity = flag.String("fidelity", "", "a file to write what was measured to, as a page")
	golden   = flag.Bool("golden", false, "keep sequences as golden cases: those that are cut down, and in TestRecordGolden some on which the servers agree")
)

func TestAgainstRealAPIServer(t *testing.T) {
	l := newLaboratory(t)
	measured, err := l.Measure(t.Context(), *seed, *requests, *length)
	if err != nil {
		t.Fatal(err)
	}
	if *fidelity != "" {
		if err := os.WriteFile(*fidelity, []byte(measured.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, missing := range slices.Sorted(maps.Keys(measured.Unsupported)) {
		t.Logf("not modelled: %s (%s)", missing, times(measured.Unsupported[missing]))
	}
	wanted, err := regexp.Compile(*shrink)
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range slices.Sorted(maps.Keys(measured.Findings)) {
		finding := measured.Findings[signature]
		t.Errorf("%s (%s)\n%s", signature, times(finding.Count), finding.Example)
		if *shrink != "" && wanted.MatchString(signature) {
			t.Log(shrunk(t, l, finding.Sequence, signature))
		}
	}
	total := measured.Tally.Total()
	t.Logf("of %d requests %d had the same outcome, %d were the same in full; %d more are not modelled",
		total.Simulated.Asked, total.Simulated.SameOutcome, total.Simulated.Same, total.Simulated.Unsupported)
	t.Logf("the fake client: of %d requests %d had the same outcome, %d were the same in full",
		total.Fake.Asked, total.Fake.SameOutcome, total.Fake.Same)
}

// shrunk is a short sequence that shows a difference, as a transcript. With the flag
// -golden it becomes a golden case.
func shrunk(t *testing.T, l *Laboratory, sequence Sequence, signature string) string {
	t.Helper()
	if *golden {
		for i := range sequence {
			sequence[i].Typed = false // A golden case has requests, and they are what matters.
		}
	}
	short, err := l.Shrink(t.Context(), sequence, signature)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := l.Run(t.Context(), short, false)
	if err != nil {
		t.Fatal(err)
	}
	if c, whole := trial.Golden(signature); *golden && whole {
		if err := c.Save("difference-" + fileName.ReplaceAllString(signature, "-")); err != nil {
			t.Fatal(err)
		}
	}
	return trial.Transcript()
}

// fileName finds what a file is not to have in its name.
var fileName = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// TestRecordGolden records the cases of the golden test of package kube. It does so only
// with the flag -golden.
func TestRecordGolden(t *testing.T) {
	if !*golden {
		t.Skip("pass -golden to record golden cases")
	}
	l := newLaboratory(t)
	cases, err := l.Agreements(t.Context(), *seed, *requests, *length)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if err := c.Save(fmt.Sprintf("agreement-%03d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cases", len(cases))
}

// newLaboratory starts a real server, or skips the test if none is asked for.
func newLaboratory(t testing.TB) *Laboratory {
	t.Helper()
	if *requests == 0 {
		t.Skip("a real API server is needed: pass -requests N to compare N requests with one")
	}
	ctx := t.Context()
	binaries, err := controlplane.Find(ctx, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(ctx, binaries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	subjects, err := Subjects()
	if err != nil {
		t.Fatal(err)
	}
	normalisations, err := Normalisations()
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := NewSimulated(subjects)
	if err != nil {
		t.Fatal(err)
	}
	mapper := simulated.server.RESTMapper()
	real, err := NewReal(ctx, plane.Config(), mapper, subjects)
	if err != nil {
		t.Fatal(err)
	}
	return &Laboratory{
		Real:           real,
		Simulated:      simulated,
		Fake:           NewFake(mapper, subjects),
		Normalisations: normalisations,
		Subjects:       subjects,
	}
}

package conformance

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

var (
	requests = flag.Int("requests", 0, "how many requests to compare with a real API server, with each seed; 0 skips what needs one")
	seed     = flag.Uint64("seed", 1, "the seed of the requests")
	seeds    = flag.Int("seeds", 1, "how many seeds to make requests with, from -seed on; each has a real API server of its own")
	length   = flag.Int("length", 12, "how many requests are in a sequence")
	shrink   = flag.String("shrink", "", "which kinds of differences to cut down to a short sequence: a regular expression")
	fidelity = flag.String("fidelity", "", "a file to write what was measured to, as a page")
	golden   = flag.Bool("golden", false, "keep sequences as golden cases: those that are cut down, and in TestRecordGolden some on which the servers agree")
)

func TestAgainstRealAPIServer(t *testing.T) {
	if *requests == 0 {
		t.Skip(needed)
	}
	each := make([]*Fidelity, *seeds)
	t.Run("seed", func(t *testing.T) {
		for i := range each {
			t.Run(fmt.Sprint(*seed+uint64(i)), func(t *testing.T) {
				t.Parallel()
				var err error
				if each[i], err = newLaboratory(t).Measure(t.Context(), *seed+uint64(i), *requests, *length); err != nil {
					t.Fatal(err)
				}
				t.Log(each[i])
			})
		}
	})
	if t.Failed() {
		return
	}
	measured := each[0]
	for _, next := range each[1:] {
		measured.Add(next)
	}
	if *fidelity != "" {
		if err := os.WriteFile(*fidelity, []byte(measured.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(measured)
	if n := len(measured.Findings); n > 0 {
		t.Errorf("the servers differ in %d ways that are not accepted", n)
	}
	shrinkFindings(t, measured)
}

// shrinkFindings shows short sequences for the differences that the flag -shrink asks for.
func shrinkFindings(t *testing.T, measured *Fidelity) {
	t.Helper()
	if *shrink == "" {
		return
	}
	wanted, err := regexp.Compile(*shrink)
	if err != nil {
		t.Fatal(err)
	}
	l := newLaboratory(t)
	for _, signature := range slices.Sorted(maps.Keys(measured.Findings)) {
		if wanted.MatchString(signature) {
			t.Log(shrunk(t, l, measured.Findings[signature].Sequence, signature))
		}
	}
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
		if err := c.Save("difference-" + strings.Trim(fileName.ReplaceAllString(signature, "-"), "-")); err != nil {
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

// needed is why a test is skipped.
const needed = "a real API server is needed: pass -requests N to compare N requests with one"

// newLaboratory starts a real server, or skips the test if none is asked for. More subjects
// than the usual ones can be had.
func newLaboratory(t testing.TB, more ...Subject) *Laboratory {
	t.Helper()
	if *requests == 0 && *fieldKinds == "" {
		t.Skip(needed)
	}
	l, stop, err := StartLaboratory(t.Context(), hclog.Default(), append(subjects(t), more...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return l
}

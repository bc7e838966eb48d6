package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"
)

var (
	fieldKinds  = flag.String("fields", "", "the kinds to compare field by field with a real API server: a regular expression; empty skips it")
	differences = flag.String("differences", "", "a file to write the differences in single fields to, a JSON object on each line")
)

// mostAccepted is how much of what a real server refuses the simulated one may accept.
const mostAccepted = 0.05

// TestFields changes small valid objects one field at a time, and compares what a real
// server and the simulated one make of it.
func TestFields(t *testing.T) {
	if *fieldKinds == "" {
		t.Skip("a real API server is needed: pass -fields PATTERN to compare the kinds that the pattern fits with one, -fields . for all")
	}
	_, more, err := FieldBases()
	if err != nil {
		t.Fatal(err)
	}
	found, done := recordDifferences(t)
	total, err := newLaboratory(t, more...).MeasureFields(t.Context(), regexp.MustCompile(*fieldKinds).MatchString, found, func(kind string, tally *FieldTally) {
		t.Logf("%s: %s", kind, tally)
	})
	if err != nil {
		t.Fatal(err)
	}
	done()
	t.Logf("in all: %s", total)
	if total.Requests == 0 {
		t.Fatalf("no kind fits %q", *fieldKinds)
	}
	if share := float64(total.Differences[Accepts]) / float64(max(total.Refused, 1)); share > mostAccepted {
		t.Errorf("%.1f %% of what a real server refuses is accepted; %.0f %% may be", 100*share, 100*mostAccepted)
	}
	for class, n := range total.Differences {
		if class.Decides() && class != Accepts {
			t.Errorf("%s: %d differences that are not accepted", class, n)
		}
	}
}

// recordDifferences returns what takes the differences, and what ends that: they are
// written to the file that was asked for, or else one of each class is shown for each field.
func recordDifferences(t *testing.T) (take func(FieldDifference), done func()) {
	t.Helper()
	if *differences != "" {
		file, err := os.Create(*differences)
		if err != nil {
			t.Fatal(err)
		}
		encoder := json.NewEncoder(file)
		return func(d FieldDifference) {
				if err := encoder.Encode(d); err != nil {
					t.Fatal(err)
				}
			}, func() {
				if err := file.Close(); err != nil {
					t.Fatal(err)
				}
			}
	}
	shown := map[string]bool{}
	return func(d FieldDifference) {
		field := fmt.Sprint(d.Class, d.Kind, d.Verb, d.Path)
		if d.Class.Decides() && !shown[field] {
			t.Log(d)
		}
		shown[field] = true
	}, func() {}
}

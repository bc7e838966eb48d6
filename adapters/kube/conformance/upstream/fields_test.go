package upstream

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/conformance"
	"github.com/orrery-dev/orrery/adapters/kube/upstream"
)

var (
	fieldKinds  = flag.String("fields", "", "the kinds to compare field by field with a real API server: a regular expression; empty skips it")
	page        = flag.String("page", "", "a page of all kinds to write the numbers to; those without these rules stay")
	differences = flag.String("differences", "", "a file to write the differences in single fields to, a JSON object on each line")
)

// TestFields changes small valid objects one field at a time. What is accepted, and what is
// stored, must be what a real server accepts and stores.
func TestFields(t *testing.T) {
	if *fieldKinds == "" {
		t.Skip("a real API server is needed: pass -fields PATTERN to compare the kinds that the pattern fits with one, -fields . for all")
	}
	subjects, err := conformance.FieldSubjects()
	if err != nil {
		t.Fatal(err)
	}
	// The files that tests read are where those of the package above look for them.
	t.Chdir("..")
	var rows []conformance.FieldRow
	l, stop, err := conformance.StartLaboratory(t.Context(), hclog.Default(), subjects, kube.WithRules(upstream.Rules()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	var all []conformance.FieldDifference
	total, err := l.MeasureFields(t.Context(), regexp.MustCompile(*fieldKinds).MatchString,
		func(d conformance.FieldDifference) { all = append(all, d) },
		func(kind string, tally *conformance.FieldTally) {
			t.Logf("%s: %s", kind, tally)
			rows = append(rows, conformance.NewFieldRow(kind, tally))
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("in all: %s", total)
	if total.Requests == 0 {
		t.Fatalf("no kind fits %q", *fieldKinds)
	}
	for _, d := range all {
		if d.Class.Decides() {
			t.Error(d)
		}
	}
	for _, name := range total.Unmet(false) {
		t.Errorf("the list of accepted differences has %q, which was not met", name)
	}
	if *page != "" {
		if err := conformance.UpdateFieldsPage(*page, func(p *conformance.FieldsPage) { p.Upstream = rows }); err != nil {
			t.Fatal(err)
		}
	}
	if *differences != "" {
		write(t, *differences, all)
	}
}

// write writes differences to a file, one on each line.
func write(t *testing.T, name string, all []conformance.FieldDifference) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	buffer := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffer)
	for _, d := range all {
		if err := encoder.Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := buffer.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

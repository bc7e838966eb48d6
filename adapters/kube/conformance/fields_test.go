package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

var (
	fieldKinds  = flag.String("fields", "", "the kinds to compare field by field with a real API server: a regular expression; empty skips it")
	checkedFile = flag.String("checked", "", "a file to write the list of checked fields to, for which all kinds have to be compared")
	fieldsPage  = flag.String("page", "", "a page of all kinds to write the numbers to; those with the rules of a real server stay")
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
	bases, more, err := FieldBases()
	if err != nil {
		t.Fatal(err)
	}
	found, done := recordDifferences(t)
	l := newLaboratory(t, more...)
	wanted := regexp.MustCompile(*fieldKinds).MatchString
	checked := checkedFields(t, l, bases, wanted)
	take := func(d FieldDifference) {
		checked.Observe(d)
		found(d)
	}
	var rows []FieldRow
	total, err := l.MeasureFields(t.Context(), wanted, take, func(kind string, tally *FieldTally) {
		t.Logf("%s: %s", kind, tally)
		rows = append(rows, NewFieldRow(kind, tally))
	})
	if err != nil {
		t.Fatal(err)
	}
	done()
	writeChecked(t, checked)
	if *fieldsPage != "" {
		if err := UpdateFieldsPage(*fieldsPage, func(p *FieldsPage) { p.Own = rows }); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("in all: %s", total)
	if total.Requests == 0 {
		t.Fatalf("no kind fits %q", *fieldKinds)
	}
	if share := float64(total.Differences[Accepts]) / float64(max(total.Refused, 1)); share > mostAccepted {
		t.Errorf("%.1f %% of what a real server refuses is accepted; %.0f %% may be", 100*share, 100*mostAccepted)
	}
	table, err := fieldrules.Read()
	if err != nil {
		t.Fatal(err)
	}
	if *checkedFile == "" {
		for _, field := range checked.Unnamed(table) {
			t.Errorf("%s: something is accepted that a real server refuses, and no report names the field: write checked.txt anew with -checked", field)
		}
	}
	for _, name := range total.Unmet(true) {
		t.Errorf("the list of accepted differences has %q, which was not met", name)
	}
	for class, n := range total.Differences {
		if class.Decides() && class != Accepts {
			t.Errorf("%s: %d differences that are not accepted", class, n)
		}
	}
}

// checkedFields are the fields of the wanted kinds.
func checkedFields(t *testing.T, l *Laboratory, bases []FieldBase, wanted func(string) bool) *CheckedFields {
	t.Helper()
	constants, err := Constants()
	if err != nil {
		t.Fatal(err)
	}
	checked := &CheckedFields{}
	for _, base := range bases {
		if !wanted(base.Subject) {
			continue
		}
		subject := l.Subjects[slices.IndexFunc(l.Subjects, func(s Subject) bool { return s.Name == base.Subject })]
		if err := checked.Add(subject, l.Simulated.scheme, constants); err != nil {
			t.Fatal(err)
		}
	}
	return checked
}

// writeChecked writes the list of the checked fields to the file that was asked for.
func writeChecked(t *testing.T, checked *CheckedFields) {
	t.Helper()
	if *checkedFile == "" {
		return
	}
	var list bytes.Buffer
	if _, err := checked.WriteTo(&list); err != nil {
		t.Fatal(err)
	}
	const readable = 0o644
	if err := os.WriteFile(*checkedFile, list.Bytes(), readable); err != nil {
		t.Fatal(err)
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

// TestFieldsPage holds docs/fields.md against the fields and values that there are: a change of
// them, of the accepted differences or of the real server's version wants a new measurement.
func TestFieldsPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/fields.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := ReadFieldsPage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if page.String() != string(text) {
		t.Error("docs/fields.md is not as it would be written: measure again (CONTRIBUTING.md)")
	}
	subjects, err := FieldSubjects()
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := NewSimulated(subjects)
	if err != nil {
		t.Fatal(err)
	}
	bases, _, err := FieldBases()
	if err != nil {
		t.Fatal(err)
	}
	constants, err := Constants()
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string][]FieldRow{"with the rules of a real server": page.Upstream, "without them": page.Own} {
		if len(rows) != len(bases) {
			t.Fatalf("%s, docs/fields.md has %d rows, and there are %d objects: measure again (CONTRIBUTING.md)", name, len(rows), len(bases))
		}
		for i, base := range bases {
			subject := subjects[slices.IndexFunc(subjects, func(s Subject) bool { return s.Name == base.Subject })]
			parts, err := subject.mutations(simulated.scheme, constants)
			if err != nil {
				t.Fatal(err)
			}
			fields, values := 0, 0
			for _, part := range parts {
				fields += part.Paths
				values += len(part.All)
			}
			if r := rows[i]; r.Kind != base.Subject || r.Fields != fields || r.Values != values {
				t.Errorf("%s, docs/fields.md has %d fields and %d values of %s, and there are %d and %d of %s: measure again (CONTRIBUTING.md)",
					name, r.Fields, r.Values, r.Kind, fields, values, base.Subject)
			}
		}
	}
	for _, r := range page.Upstream {
		if r.Accepted+r.Other > 0 {
			t.Errorf("with the rules of a real server, docs/fields.md has differences of %s", r.Kind)
		}
	}
}

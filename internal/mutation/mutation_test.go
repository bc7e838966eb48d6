package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMutation mutates a module of a few lines, of which is known what its tests notice.
func TestMutation(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "module.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	want := ""
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		if err := os.WriteFile(filepath.Join(root, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	o := options{code: ".", tests: ".", accepted: "accepted.txt", parallel: 1, budget: time.Hour, times: 2, patience: time.Second, short: true, verbose: true, seed: 1}
	if err := run(t.Context(), o, root, t.TempDir(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(out.String(), strings.TrimSpace(line)) {
			t.Errorf("it does not say %s", line)
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != strings.Count(want, "\n")+2 {
		t.Errorf("it says %d lines", lines)
	}
	if t.Failed() {
		t.Log(out.String())
	}
	out.Reset()
	o.unreached = true
	if err := run(t.Context(), o, root, t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(out.String(), "processor time.\n")
	if want := "   1  code.go: Late\n   1  code.go: state[K].forever\nno test reaches 2 of 18 mutants, in 2 functions\n"; list != want {
		t.Errorf("what no test reaches is\n%s", list)
	}
}

// TestWordlessFailures has tests fail that end before they say anything, as the kernel ends those that have used up
// their processor time.
func TestWordlessFailures(t *testing.T) {
	for script, want := range map[string]string{"exit 0": "", "exit 3": "exit status 3", "kill -KILL $$": tooLong, "kill -XCPU $$": tooLong, "kill -TERM $$": "signal: terminated"} {
		binary := filepath.Join(t.TempDir(), "wordless.test")
		if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // It is to be run.
			t.Fatal(err)
		}
		s := &suite{folder: t.TempDir(), binary: binary}
		if failure, _, err := s.run(t.Context(), []string{"Test"}, limits{time.Hour, time.Hour}); err != nil || failure != want {
			t.Errorf("%s: it fails by %q, %v, want %q", script, failure, err, want)
		}
	}
}

// TestSlower: what is accepted may be slower. It may not be noticed otherwise, and what is not accepted is noticed by
// that.
func TestSlower(t *testing.T) {
	m := mutant{file: "a.go", name: "F: removed: x()"}
	for _, test := range []struct {
		accepted            bool
		failure             string
		noticed, equivalent int
		wrong               bool
	}{
		{true, "", 0, 1, false},
		{true, "a: " + tooLong, 0, 1, false},
		{true, "a: --- FAIL: TestX", 0, 0, true},
		{false, "a: " + tooLong, 1, 0, false},
		{false, "a: --- FAIL: TestX", 1, 0, false},
	} {
		s := score{accepted: map[string]string{}, out: io.Discard}
		if test.accepted {
			s.accepted[m.key()] = "why"
		}
		s.note(m, fate{failure: test.failure, reaching: 1})
		if s.noticed != test.noticed || s.equivalent != test.equivalent || (s.wrong != nil) != test.wrong {
			t.Errorf("%+v: %d are noticed, %d accepted, %v", test, s.noticed, s.equivalent, s.wrong)
		}
	}
}

// TestAccepted holds the lists of accepted mutants against what is wrong with them.
func TestAccepted(t *testing.T) {
	mutants := []mutant{{file: "a.go", name: "F: removed: x()"}}
	for _, test := range []struct{ text, want string }{
		{"# why\na.go: F: removed: x()\n\tit is slower, no more\n", ""},
		{"other/b.go: G: removed: x()\n\tits file is not mutated this time\n", ""},
		{"a.go: F: removed: x()\n", "say why the last mutant"},
		{"a.go: F: removed: x()\na.go: F: removed: y()\n\tboth\n", "say why the mutant before"},
		{"\twithout a mutant\n", "a reason without a mutant"},
		{"a.go: F: removed: y()\n\tit was there once\n", "there is no such mutant any more"},
		{"a.go: F: removed: x()\n\tonce\na.go: F: removed: x()\n\ttwice\n", "accepted twice"},
	} {
		name := filepath.Join(t.TempDir(), "accepted.txt")
		if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readAccepted(name, mutants)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%q: %v", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q: the error is %v, want %q", test.text, err, test.want)
		}
	}
}

// TestAgain reads what an earlier run printed.
func TestAgain(t *testing.T) {
	mutants := []mutant{
		{number: 0, file: "a.go", line: 3, name: "F: removed: x()"},
		{number: 1, file: "a.go", line: 4, name: "F: negated: y"},
		{number: 2, file: "b.go", line: 5, name: "G: removed: x()"},
	}
	name := filepath.Join(t.TempDir(), "out")
	text := "noticed    " + mutants[0].String() + " (it panics)\n" + survivedMark + mutants[1].String() + "\n" + unreachedMark + "b.go:77: G: removed: x()\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	chosen, err := survivorsIn(name, mutants)
	if err != nil || len(chosen) != 2 || chosen[0] != mutants[1] || chosen[1] != mutants[2] {
		t.Errorf("%v, %v", chosen, err)
	}
}

// TestSample: a smaller sample is the beginning of a larger one, another seed has others, and where code is gone the
// others are the same as before.
func TestSample(t *testing.T) {
	var all []mutant
	for i := range 100 {
		all = append(all, mutant{number: i, file: "a.go", name: fmt.Sprintf("F: removed: f(%d)", i)})
	}
	few, many, others := sample(all, 5, 1), sample(all, 0, 1), sample(all, 5, 2)
	if len(few) != 5 || len(many) != 100 {
		t.Fatalf("%d and %d mutants", len(few), len(many))
	}
	same := 0
	for i := range few {
		if few[i] != many[i] {
			t.Errorf("number %d of the smaller sample is another one", i)
		}
		if few[i] == others[i] {
			same++
		}
	}
	if same == 5 {
		t.Error("another seed has the same sample")
	}
	gone := many[3].key()
	var fewer []mutant
	for _, m := range all {
		if m.key() != gone {
			m.number = len(fewer)
			fewer = append(fewer, m)
		}
	}
	for i, m := range sample(fewer, 4, 1) {
		if want := append(slices.Clone(many[:3]), many[4])[i]; m.key() != want.key() {
			t.Errorf("number %d is %s where one mutant is gone, and was %s", i, m.key(), want.key())
		}
	}
}

package analysis_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// TestTexts compares what people read.
func TestTexts(t *testing.T) {
	files := []analysis.Source{tale(t).source()}
	var out strings.Builder
	check := func(name string, notes analysis.Notes, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		notes.Text(&out)
		golden(t, name, out.String())
		out.Reset()
	}
	notes, err := analysis.Show(files, analysis.Filter{}, func(s analysis.Shown) error { s.Text(&out); return nil })
	check("show.txt", notes, err)
	notes, err = analysis.Stale(files, func(s analysis.StaleRead) error { s.Text(&out); return nil })
	check("stale.txt", notes, err)
	fights, notes, err := analysis.Fights(files, 1)
	for _, f := range fights {
		f.Text(&out)
	}
	check("fights.txt", notes, err)
	idle, notes, err := analysis.Idle(files)
	for _, c := range idle {
		c.Text(&out)
	}
	check("idle.txt", notes, err)
	slow, notes, err := analysis.Slow(files, 2)
	for _, e := range slow {
		e.Text(&out)
	}
	check("slow.txt", notes, err)
	why, notes, err := analysis.Why(files, "configmap/default/web.data.n")
	why.Text(&out)
	check("why-field.txt", notes, err)
	short := newTeller(t, "0", 1)
	quarrel(short)
	why, notes, err = analysis.Why([]analysis.Source{short.source()}, "default/web.data.n")
	why.Text(&out)
	check("why-chain.txt", notes, err)
	why, notes, err = analysis.Why(files, "Secret/default/s")
	why.Text(&out)
	check("why-secret.txt", notes, err)
}

// TestStale has the three reads that are stale, each for another reason, and no other.
func TestStale(t *testing.T) {
	var got []string
	_, err := analysis.Stale([]analysis.Source{tale(t).source()}, func(s analysis.StaleRead) error {
		got = append(got, fmt.Sprintf("%s read %s, held %q, %d behind, %d writes, missing %v", s.Controller, s.Read, s.Held, s.Behind, len(s.Writes), s.Missing))
		return nil
	})
	want := []string{
		`grow read ConfigMap default/web@11, held "12", 1 behind, 1 writes, missing false`,
		`grow read Secret default/s, held "15", 1 behind, 1 writes, missing true`,
		`shrink read ConfigMap default/web@14, held "17", 1 behind, 0 writes, missing false`,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNotStale has reads that look stale and are not known to be.
func TestNotStale(t *testing.T) {
	x := newTeller(t, "0", 1)
	const cm = "ConfigMap"
	v1 := x.object(cm, "a", "1", "", "")
	x.event("c", live.Added, v1, 0, "")
	r := x.begin("c", "default/a")
	x.get(r, cm, "a", v1) // there is a version 2, which was made later as far as is known
	v2 := x.object(cm, "a", "2", "", "")
	x.event("c", live.Updated, v2, v1, "")
	x.get(r, cm, "a", v2)
	s9 := x.object("Secret", "s", "9", "", "")
	x.event("c", live.Added, s9, 0, "")
	x.get(r, cm, "a", v2) // kinds have versions of their own
	v5 := x.object(cm, "a", "5", "", "")
	x.event("c", live.Updated, v5, v2, "")
	x.event("c", live.Deleted, v5, 0, "")
	x.get(r, cm, "a", 0)       // it is gone
	x.get(r, cm, "b", 0)       // it never was
	x.get(r, "Secret", "s", 0) // it may have been deleted by now, and was
	x.event("c", live.Deleted, s9, 0, "")
	x.done(r, "")
	_, err := analysis.Stale([]analysis.Source{x.source()}, func(s analysis.StaleRead) error {
		t.Errorf("%+v is said to be stale", s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFights has the one field, and not those that the server counts.
func TestFights(t *testing.T) {
	fights, _, err := analysis.Fights([]analysis.Source{tale(t).source()}, 2)
	if err != nil || len(fights) != 1 {
		t.Fatalf("%+v, %v", fights, err)
	}
	f := fights[0]
	writers := fmt.Sprint(f.Writers)
	if f.Field != "data.n" || f.Object.String() != "ConfigMap default/web" || f.Returns != 3 || writers != "map[field manager kubectl-edit:1 grow:2 shrink:2]" {
		t.Errorf("%+v", f)
	}
	if fights, _, err := analysis.Fights([]analysis.Source{tale(t).source()}, 4); err != nil || len(fights) != 0 {
		t.Errorf("%+v, %v", fights, err)
	}
}

func TestIdleAndSlow(t *testing.T) {
	files := []analysis.Source{tale(t).source()}
	idle, _, err := analysis.Idle(files)
	if err != nil || len(idle) != 2 {
		t.Fatalf("%+v, %v", idle, err)
	}
	if grow := idle[0]; grow.Controller != "grow" || grow.Reconciles != 6 || grow.Idle != 1 || grow.Failed != 2 || grow.NoOps != 1 || grow.Calls != 1 {
		t.Errorf("%+v", grow)
	}
	if shrink := idle[1]; shrink.Reconciles != 4 || shrink.Idle != 1 {
		t.Errorf("%+v", shrink)
	}
	slow, _, err := analysis.Slow(files, 2)
	if err != nil || len(slow) != 2 {
		t.Fatalf("%+v, %v", slow, err)
	}
	// From the event of version 10 to the end of the reconcile that wrote 13; the one behind it changes nothing. shrink
	// has none in between.
	for _, e := range slow {
		want := map[string][2]int{"grow": {3, 1}, "shrink": {2, 0}}[e.Controller]
		if e.Request != "default/web" || [2]int{e.Reconciles, e.Failed} != want || e.Took != 20*time.Millisecond {
			t.Errorf("%+v", e)
		}
	}
}

// TestUnchanged tells writes that change nothing from those that do, when they do not say what they have seen.
func TestUnchanged(t *testing.T) {
	x := newTeller(t, "0", 1)
	v1 := x.object("ConfigMap", "a", "1", "", "")
	x.event("c", live.Added, v1, 0, "")
	r := x.begin("c", "default/a")
	x.write(r, live.Apply, "ConfigMap", "a", "", v1, nil) // it was there
	x.done(r, "")
	r = x.begin("c", "default/a")
	_, at := x.next()
	v2 := x.object("ConfigMap", "a", "2", "", "")
	x.event("c", live.Updated, v2, v1, "") // the event comes before the answer
	n, _ := x.next()
	x.add(live.Call{N: n, At: at, Took: 3 * time.Millisecond, Reconcile: r, Verb: live.Apply, Object: core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}, Answer: []int{v2}})
	x.done(r, "")
	var changed []bool
	_, err := analysis.Show([]analysis.Source{x.source()}, analysis.Filter{}, func(s analysis.Shown) error {
		changed = append(changed, s.Calls[0].Changed)
		return nil
	})
	if want := []bool{false, true}; err != nil || !slices.Equal(changed, want) {
		t.Errorf("%v, %v, want %v", changed, err, want)
	}
}

// TestNotes says what is missing.
func TestNotes(t *testing.T) {
	whole := tale(t)
	source := whole.source()
	cut := inMemory("cut.ort", whole.out.Bytes()[:whole.out.Len()-3])
	broken := bytes.Clone(whole.out.Bytes())
	broken[len(broken)-3] ^= 1
	gaps := newTeller(t, "0", 2)
	gaps.add(live.Gap{At: 1, Until: 1001, Reason: live.Overload, Entries: 3})
	gaps.add(live.Gap{At: 2000, Until: 3000, Reason: live.Overload, Entries: 2})
	gaps.add(live.Unseen{Controller: "typed", Reason: "not \x1b[31m seen"})
	tests := []struct {
		files []analysis.Source
		want  string
	}{
		{[]analysis.Source{source}, ""},
		{[]analysis.Source{cut}, "cut.ort was cut off"},
		{[]analysis.Source{inMemory("broken.ort", broken)}, "broken.ort: the recording is damaged at byte"},
		{[]analysis.Source{source, inMemory("empty.ort", nil)}, "empty.ort has nothing in it"},
		{[]analysis.Source{inMemory("begun.ort", whole.out.Bytes()[:len("orrery-recording 2\n")+5]), source}, "begun.ort has nothing in it"},
		{[]analysis.Source{gaps.source()}, "starts with part 2"},
		{[]analysis.Source{gaps.source()}, "5 entries are missing in 2 gaps (overload) of 2µs in all"},
		{[]analysis.Source{gaps.source()}, "controller typed: not \uFFFD[31m seen"},
	}
	for _, test := range tests {
		notes, err := analysis.Show(test.files, analysis.Filter{}, func(analysis.Shown) error { return nil })
		var out strings.Builder
		notes.Text(&out)
		if err != nil || test.want == "" && out.Len() > 0 || !strings.Contains(out.String(), test.want) {
			t.Errorf("%v, notes\n%s\nwant %q", err, out.String(), test.want)
		}
	}
	if _, _, err := analysis.Idle([]analysis.Source{source, source}); err == nil || !strings.Contains(err.Error(), "name each file once") {
		t.Errorf("the same file twice: %v", err)
	}
}

// TestFilter shows what is about one object, or of one controller.
func TestFilter(t *testing.T) {
	for _, test := range []struct {
		filter analysis.Filter
		want   int
	}{
		{analysis.Filter{}, 10},
		{analysis.Filter{Controller: "shrink"}, 4},
		{analysis.Filter{Object: "secret/default/s"}, 2},
		{analysis.Filter{Object: "default/s"}, 2},
		{analysis.Filter{Object: "ConfigMap/default/web"}, 7},
		{analysis.Filter{Controller: "nobody"}, 0},
	} {
		n := 0
		_, err := analysis.Show([]analysis.Source{tale(t).source()}, test.filter, func(analysis.Shown) error { n++; return nil })
		if err != nil || n != test.want {
			t.Errorf("%+v shows %d, want %d: %v", test.filter, n, test.want, err)
		}
	}
}

func TestWhyErrors(t *testing.T) {
	x := newTeller(t, "0", 1)
	a := x.object("ConfigMap", "a", "1", "", "")
	x.event("c", live.Added, a, 0, "")
	b := x.object("Secret", "a", "2", "", "")
	x.event("c", live.Added, b, 0, "")
	file := x.source()
	for question, want := range map[string]string{
		"nobody":                       "no object of the recording is called",
		"default/a":                    `can be ConfigMap/default/a or Secret/default/a`,
		"Secret/default/a.data.none":   "has no field data.none",
		"Secret/default/a.data[n":      "a bracket is not closed",
		"Secret/default/a.":            "",
		"Secret/default/a.data[a.b].0": "",
	} {
		_, _, err := analysis.Why([]analysis.Source{file}, question)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", question, err, want)
		}
	}
}

package analysis_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/internal/block"
	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew")

// teller writes a recording by hand.
type teller struct {
	t   testing.TB
	out bytes.Buffer
	w   *live.Writer
	n   uint64
	now time.Duration
}

func newTeller(t testing.TB, replica string, part int) *teller {
	t.Helper()
	x := &teller{t: t}
	var err error
	x.w, err = live.NewWriter(&x.out, live.Header{Process: live.Process{Name: "operator", Replica: replica}, Part: part})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// next returns a number and a time for an entry, a millisecond after the last one.
func (x *teller) next() (uint64, time.Duration) {
	x.n++
	x.now += time.Millisecond
	return x.n, x.now
}

func (x *teller) add(e live.Entry) {
	x.t.Helper()
	if err := x.w.Add(e); err != nil {
		x.t.Fatal(err)
	}
}

// object writes a version of an object with a field and the manager that wrote it.
func (x *teller) object(kind, name, rv, field, manager string) int {
	x.t.Helper()
	value := fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q,"resourceVersion":%q,"generation":%s,"managedFields":[{"manager":"first","time":"2026-01-01T00:00:00Z"},{"manager":%q,"time":"2026-01-01T00:00:01Z"}]},"data":{"n":%q,"a.b":["x"]}}`,
		kind, name, rv, rv, manager, field)
	number, err := x.w.AddObject(live.Object{Key: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, UID: "uid-" + name, ResourceVersion: rv, Value: json.RawMessage(value)})
	if err != nil {
		x.t.Fatal(err)
	}
	return number
}

// event tells a controller of a change, and queues a request.
func (x *teller) event(controller, typed string, object, old int, request string) uint64 {
	n, at := x.next()
	x.add(live.Event{N: n, At: at, Controller: controller, Type: typed, Object: object, Old: old, Initial: typed == live.Added && n == 1})
	if request != "" {
		q, at := x.next()
		x.add(live.Queued{N: q, At: at, Controller: controller, Event: n, Request: request})
	}
	return n
}

func (x *teller) begin(controller, request string, causes ...live.Cause) uint64 {
	n, at := x.next()
	x.add(live.Begin{N: n, At: at, Controller: controller, Request: request, Causes: causes, Waited: time.Millisecond})
	return n
}

func (x *teller) get(of uint64, kind, name string, object int) {
	n, at := x.next()
	c := live.Call{N: n, At: at, Reconcile: of, Verb: live.Get, Object: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, Cached: true}
	if object == 0 {
		c.Failed = &live.Failure{Code: 404, Reason: "NotFound"}
	} else {
		c.Answer = []int{object}
	}
	x.add(c)
}

func (x *teller) write(of uint64, verb, kind, name, base string, object int, failed *live.Failure) {
	n, at := x.next()
	c := live.Call{N: n, At: at, Took: time.Millisecond / 2, Reconcile: of, Verb: verb, Object: core.Key{Kind: core.Kind(kind), Namespace: "default", Name: name}, Base: base, Failed: failed}
	if object != 0 {
		c.Answer = []int{object}
	}
	x.add(c)
}

func (x *teller) done(of uint64, failed string) {
	n, at := x.next()
	x.add(live.Done{N: n, At: at, Reconcile: of, Error: failed})
}

// ended returns the recording.
func (x *teller) ended() []byte {
	x.t.Helper()
	if err := x.w.End(live.End{At: x.now}); err != nil {
		x.t.Fatal(err)
	}
	return x.out.Bytes()
}

// source returns the recording as one file.
func (x *teller) source() analysis.Source { return inMemory("operator.ort", x.ended()) }

func inMemory(name string, file []byte) analysis.Source {
	return analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}
}

func byEvent(n uint64) live.Cause { return live.Cause{By: live.ByEvent, N: n} }

// tale is a recording with a bit of everything: grow and shrink fight over the field n of a ConfigMap, grow reads it once when it is stale, makes a Secret
// twice since it does not find the one it made, and somebody else edits the ConfigMap.
func tale(t testing.TB) *teller {
	x := newTeller(t, "0", 1)
	v14 := quarrel(x)

	n, at := x.next()
	x.add(live.Queued{N: n, At: at, Controller: "grow", Request: "default/s"})
	r := x.begin("grow", "default/s", live.Cause{By: live.ByCode, N: n})
	v15 := x.object("Secret", "s", "15", "", "operator")
	x.write(r, live.Create, "Secret", "s", "", v15, nil)
	x.done(r, "")
	r = x.begin("grow", "default/s")
	x.get(r, "Secret", "s", 0) // stale: it was made before, and is there later
	x.write(r, live.Create, "Secret", "s", "", 0, &live.Failure{Code: 409, Reason: "AlreadyExists"})
	x.done(r, "exists")
	x.event("", live.Added, v15, 0, "")

	v20 := x.object("ConfigMap", "other", "20", "", "kubectl")
	x.event("grow", live.Added, v20, 0, "")
	r = x.begin("shrink", "default/web")
	x.get(r, "ConfigMap", "web", v14) // stale: 17 is there, since another one of the kind has 20; but that is told later
	x.done(r, "")
	v17 := x.object("ConfigMap", "web", "17", "5", "kubectl-edit")
	x.event("shrink", live.Updated, v17, v14, "default/web")
	x.begin("shrink", "default/web") // has no end
	return x
}

// quarrel is the part of the tale in which grow and shrink fight. It returns the last version.
func quarrel(x *teller) int {
	const cm, web = "ConfigMap", "web"
	conflict := &live.Failure{Code: 409, Reason: "Conflict"}

	v10 := x.object(cm, web, "10", "0", "kubectl")
	e := x.event("grow", live.Added, v10, 0, "default/web")
	r := x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v10)
	v11 := x.object(cm, web, "11", "1", "operator")
	x.write(r, live.Update, cm, web, "10", v11, nil)
	x.done(r, "")

	e = x.event("shrink", live.Updated, v11, v10, "default/web")
	r = x.begin("shrink", "default/web", byEvent(e))
	x.get(r, cm, web, v11)
	v12 := x.object(cm, web, "12", "0", "operator")
	x.write(r, live.Update, cm, web, "11", v12, nil)
	x.done(r, "")

	e = x.event("grow", live.Updated, v12, v11, "default/web")
	r = x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v11) // stale: 12 is known since three milliseconds
	x.write(r, live.Update, cm, web, "11", 0, conflict)
	x.done(r, "conflict")
	r = x.begin("grow", "default/web", live.Cause{By: live.ByFailure, N: r})
	x.get(r, cm, web, v12)
	v13 := x.object(cm, web, "13", "1", "operator")
	x.write(r, live.Update, cm, web, "12", v13, nil)
	x.done(r, "")

	e = x.event("shrink", live.Updated, v13, v12, "default/web")
	r = x.begin("shrink", "default/web", byEvent(e))
	x.get(r, cm, web, v13)
	v14 := x.object(cm, web, "14", "0", "operator")
	x.write(r, live.Update, cm, web, "13", v14, nil)
	x.done(r, "")

	e = x.event("grow", live.Updated, v14, v13, "default/web")
	r = x.begin("grow", "default/web", byEvent(e))
	x.get(r, cm, web, v14)
	x.write(r, live.Update, cm, web, "14", v14, nil) // changes nothing
	x.done(r, "")
	return v14
}

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
	// From the event of version 10 to the end of the reconcile that wrote 13; the one behind it changes nothing. shrink has none in between.
	for _, e := range slow {
		want := map[string][2]int{"grow": {3, 1}, "shrink": {2, 0}}[e.Controller]
		if e.Request != "default/web" || [2]int{e.Reconciles, e.Failed} != want || e.Took != 20*time.Millisecond {
			t.Errorf("%+v", e)
		}
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

// FuzzQuestions asks everything about entries that no recorder writes.
func FuzzQuestions(f *testing.F) {
	const start = "\x01\x02{}"
	f.Add([]byte(start), "a")
	for _, question := range []string{"ConfigMap/default/web.data.n", "Secret/default/s"} {
		plain := []byte(start)
		r, err := live.NewReader(bytes.NewReader(tale(f).ended()))
		if err != nil {
			f.Fatal(err)
		}
		for {
			entry, err := r.Next()
			if err != nil {
				break
			}
			tags := map[string]byte{"live.Object": 2, "live.Event": 3, "live.Queued": 4, "live.Begin": 5, "live.Call": 6, "live.Done": 7, "live.End": 10}
			text, err := json.Marshal(entry)
			if err != nil {
				f.Fatal(err)
			}
			plain = append(plain, tags[fmt.Sprintf("%T", entry)])
			plain = append(binary.AppendUvarint(plain, uint64(len(text))), text...)
		}
		f.Add(plain, question)
	}
	f.Fuzz(func(t *testing.T, plain []byte, question string) {
		if len(plain) == 0 {
			return
		}
		var file bytes.Buffer
		blocks, err := block.NewWriter(&file, "orrery-recording 1", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := blocks.Write(plain); err != nil {
			t.Fatal(err)
		}
		files := []analysis.Source{inMemory("fuzz.ort", file.Bytes())}
		_, _ = analysis.Show(files, analysis.Filter{Object: question}, func(s analysis.Shown) error { s.Text(io.Discard); return nil })
		_, _ = analysis.Stale(files, func(s analysis.StaleRead) error { s.Text(io.Discard); return nil })
		_, _, _ = analysis.Fights(files, 1)
		_, _, _ = analysis.Idle(files)
		_, _, _ = analysis.Slow(files, 3)
		if answer, _, err := analysis.Why(files, question); err == nil {
			answer.Text(io.Discard)
		}
	})
}

package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/internal/block"
	"github.com/orrery-dev/orrery/record/live"
)

func header() live.Header {
	return live.Header{
		Process:  live.Process{Name: "widgets", Replica: "widgets-0", Version: "v1"},
		Started:  time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Part:     1,
		Redacted: []string{"data and stringData of Secrets"},
	}
}

// entries has one of each kind, with every field set somewhere.
func entries() []live.Entry {
	grace := int64(0)
	pod := core.Key{Kind: "Pod", Namespace: "default", Name: "a"}
	return []live.Entry{
		live.Object{Key: pod, UID: "u", ResourceVersion: "7", Value: json.RawMessage(`{"kind":"Pod","n":12345678901234567890}`)},
		live.Object{Key: pod, UID: "u", ResourceVersion: "6"},
		live.Event{N: 1, At: 2, Controller: "pod", Type: live.Updated, Object: 1, Old: 2},
		live.Queued{N: 2, At: 3, Controller: "pod", Event: 1, Request: "default/b", After: time.Second, Limited: true},
		live.Begin{N: 3, At: 4, Controller: "pod", Request: "default/a", Causes: []live.Cause{{By: live.ByEvent, N: 1}}, MoreCauses: 1, Waited: 2, ID: "x"},
		live.Call{N: 4, At: 5, Took: 1, Reconcile: 3, Verb: live.List, Object: core.Key{Kind: "Pod", Namespace: "default"}, Cached: true, Selection: &live.Selection{Labels: "a=b", Limit: 1}, Answer: []int{1}, ListVersion: "9", Continues: true},
		live.Call{N: 5, At: 6, Took: 1, Reconcile: 3, Verb: live.Delete, Object: pod, Write: &live.Write{UID: "u", Grace: &grace}, Failed: &live.Failure{Code: 404, Reason: "NotFound", Message: "gone <a> & b"}},
		live.Done{N: 6, At: 9, Reconcile: 3, After: time.Minute},
		live.Gap{At: 9, Until: 10, Reason: live.Overload, Entries: 3},
		live.Unseen{At: 10, Controller: "typed", Reason: "its requests are of another type"},
	}
}

// written returns a recording, with a block for each three entries.
func written(t testing.TB, whole bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := live.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range entries() {
		if object, is := entry.(live.Object); is {
			number, err := w.AddObject(object)
			if number != i+1 || err != nil {
				t.Fatalf("object number %d, %v", number, err)
			}
		} else if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if whole {
		err = w.End(live.End{At: 11})
	} else {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the entries of a recording, whether it is complete, and the error that ended it.
func read(file []byte) (got []live.Entry, complete bool, err error) {
	r, err := live.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	for {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got, r.Complete(), nil
		}
		if err != nil {
			return got, false, err
		}
		got = append(got, entry)
	}
}

func TestRoundTrip(t *testing.T) {
	file := written(t, true)
	r, err := live.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header(); !reflect.DeepEqual(got, header()) {
		t.Errorf("header %+v", got)
	}
	got, complete, err := read(file)
	if want := append(entries(), live.End{At: 11}); err != nil || !complete || !reflect.DeepEqual(got, want) {
		t.Errorf("complete %v, error %v, got\n%+v\nwant\n%+v", complete, err, got, want)
	}
}

// TestCutOff cuts a recording everywhere: what can be read is what stands in whole blocks, and it never counts as
// complete.
func TestCutOff(t *testing.T) {
	file := written(t, true)
	most := 0
	for length := range file {
		got, complete, err := read(file[:length])
		var damaged *live.CorruptError
		switch {
		case errors.Is(err, live.ErrNotRecording), errors.As(err, &damaged):
			if len(got) > 0 {
				t.Fatalf("cut off at %d: %v after %d entries", length, err, len(got))
			}
		case err != nil || complete:
			t.Fatalf("cut off at %d: complete %v, error %v", length, complete, err)
		case len(got) > 0 && !reflect.DeepEqual(got, entries()[:len(got)]):
			t.Fatalf("cut off at %d: got %+v", length, got)
		}
		most = max(most, len(got))
	}
	if want := 10; most != want {
		t.Errorf("%d entries could be read without the last block, want %d", most, want)
	}
	if _, complete, err := read(written(t, false)); complete || err != nil {
		t.Errorf("without its end: complete %v, error %v", complete, err)
	}
}

// TestDamage changes each byte: what comes out is never anything but the first of the entries.
func TestDamage(t *testing.T) {
	whole := written(t, true)
	for i := range whole {
		file := bytes.Clone(whole)
		file[i] ^= 0x41
		got, complete, err := read(file)
		if err == nil && complete {
			t.Fatalf("byte %d: the damage went unnoticed", i)
		}
		for n, entry := range got {
			if !reflect.DeepEqual(entry, entries()[n]) {
				t.Fatalf("byte %d: entry %d is %+v", i, n, entry)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	var unknown *live.VersionError
	if _, _, err := read([]byte("orrery-recording 3\n")); !errors.As(err, &unknown) || unknown.Version != `"3"` {
		t.Errorf("got %v", err)
	}
	for _, file := range []string{"", "orrery-record 2\n", "orrery-recording", strings.Repeat("a", 1000)} {
		if _, _, err := read([]byte(file)); !errors.Is(err, live.ErrNotRecording) {
			t.Errorf("%q: got %v", file, err)
		}
	}
}

// TestUnsound writes entries that no recorder writes.
func TestUnsound(t *testing.T) {
	pod := live.Object{Key: core.Key{Kind: "Pod", Name: "a"}}
	tests := []struct {
		name    string
		entries []live.Entry
		want    string
	}{
		{"no header", nil, "the first entry is not a header"},
		{"second header", []live.Entry{header(), header()}, "a second header"},
		{"unknown event", []live.Entry{header(), pod, live.Event{N: 1, Type: "moved", Object: 1}}, `no event "moved"`},
		{"event about nothing", []live.Entry{header(), live.Event{N: 1, Type: live.Added}}, "about no object"},
		{"unknown object", []live.Entry{header(), pod, live.Event{N: 1, Type: live.Added, Object: 2}}, "no object 2"},
		{"negative object", []live.Entry{header(), live.Call{N: 1, Verb: live.Get, Answer: []int{-1}}}, "no object -1"},
		{"answer without object", []live.Entry{header(), live.Call{N: 1, Verb: live.Get, Answer: []int{0}}}, "an answer is no object"},
		{"numbers go down", []live.Entry{header(), live.Begin{N: 2}, live.Begin{N: 2}}, "entry 2 comes after entry 2"},
		{"no number", []live.Entry{header(), live.Begin{}}, "entry 0 comes after entry 0"},
		{"later reconcile", []live.Entry{header(), live.Call{N: 1, Reconcile: 1}}, "begins later"},
		{"later cause", []live.Entry{header(), live.Begin{N: 1, Causes: []live.Cause{{N: 1}}}}, "a cause that comes later"},
		{"end of nothing", []live.Entry{header(), live.Done{N: 1}}, "does not say of which"},
		{"behind the end", []live.Entry{header(), live.End{}, live.Gap{}}, "follows the end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := assembled(t, test.entries)
			if _, _, err := read(file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// assembled returns a recording of entries as they are, the header included; of a gap if there are none.
func assembled(t *testing.T, entries []live.Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := live.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	out.WriteString("orrery-recording 1\n")
	if len(entries) == 0 {
		entries = []live.Entry{live.Gap{}}
	}
	for _, entry := range entries {
		if err := w.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEntriesThatCannotBeWritten leaves the recording as it was.
func TestEntriesThatCannotBeWritten(t *testing.T) {
	var out bytes.Buffer
	w, err := live.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	large := json.RawMessage(`"` + strings.Repeat("x", 17<<20) + `"`)
	if _, err := w.AddObject(live.Object{Value: large}); !errors.Is(err, live.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	var unsayable *live.EntryError
	if _, err := w.AddObject(live.Object{Value: json.RawMessage(`{`)}); !errors.As(err, &unsayable) {
		t.Errorf("no JSON: %v", err)
	}
	number, err := w.AddObject(live.Object{Key: core.Key{Kind: "Pod"}})
	if number != 1 || err != nil {
		t.Errorf("object %d, %v", number, err)
	}
	if err := w.End(live.End{}); err != nil {
		t.Fatal(err)
	}
	if got, complete, err := read(out.Bytes()); len(got) != 2 || !complete || err != nil {
		t.Errorf("got %+v, complete %v, error %v", got, complete, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, true))
	f.Add(written(f, false))
	f.Add([]byte("orrery-recording 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if got, _, _ := read(file); len(got) > 0 && len(file) < 32 {
			t.Error("entries were read from almost nothing")
		}
	})
}

// FuzzEntries gets past the checksums, which random bytes never do: whatever is read can be written, and is then the
// same.
func FuzzEntries(f *testing.F) {
	f.Add([]byte("\x01\x02{}\x02\x02{}\x03\x1e{\"n\":1,\"type\":\"added\",\"object\":1}"))
	f.Add([]byte("\x01\x02{}\x05\x07{\"n\":1}\x06\x1b{\"n\":2,\"reconcile\":1,\"took\":9}\x07\x15{\"n\":3,\"reconcile\":1}\x0a\x02{}"))
	f.Fuzz(func(t *testing.T, plain []byte) {
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
		got, _, _ := read(file.Bytes())
		var again bytes.Buffer
		w, err := live.NewWriter(&again, header())
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range got {
			if err := w.Add(entry); err != nil {
				t.Fatalf("%+v was read and cannot be written: %v", entry, err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if back, _, err := read(again.Bytes()); len(back) != len(got) || err != nil {
			t.Errorf("%d of %d entries come back: %v", len(back), len(got), err)
		}
	})
}

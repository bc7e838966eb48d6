package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/internal/block"
	"github.com/orrery-dev/orrery/record/live"
)

// outlined returns the entries of an outline, and whether it is complete.
func outlined(o *live.Outline) (got []live.Entry, complete bool, err error) {
	for {
		entry, err := o.Next()
		if errors.Is(err, io.EOF) {
			return got, o.Complete(), nil
		}
		if err != nil {
			return got, false, err
		}
		got = append(got, entry)
	}
}

// abridged returns as much of an entry as an index has, nil if it has nothing of it.
func abridged(e live.Entry) live.Entry {
	switch e := e.(type) {
	case live.Queued:
		return nil
	case live.Object:
		e.Value = nil
		return e
	case live.Begin:
		return live.Begin{N: e.N, At: e.At, Controller: e.Controller, Request: e.Request}
	case live.Done:
		return live.Done{N: e.N, At: e.At, Reconcile: e.Reconcile}
	case live.Call:
		if e.Failed != nil {
			e.Failed = &live.Failure{Code: e.Failed.Code}
		}
		if e.Write != nil {
			e.Write = &live.Write{DryRun: e.Write.DryRun}
			if !e.Write.DryRun {
				e.Write = nil
			}
		}
		e.Sent, e.Selection, e.Continues = nil, nil, false
		return e
	}
	return e
}

// same reports whether an entry of an outline is what it should be: abridged, or whole where there is no index.
func same(got, whole live.Entry) bool {
	o, is := got.(live.Object)
	w, should := whole.(live.Object)
	if is && should && o.Valued() == w.Valued() && o.Value == nil {
		w.Value = nil
		return reflect.DeepEqual(bare(o), bare(w))
	}
	return reflect.DeepEqual(got, whole) || reflect.DeepEqual(got, abridged(whole))
}

// bare leaves out what tells that there is a value.
func bare(o live.Object) live.Object {
	return live.Object{Key: o.Key, UID: o.UID, ResourceVersion: o.ResourceVersion, Form: o.Form}
}

// holds compares an outline with all entries of a recording, and what it finds with them, in an order of its own.
func holds(t rapid.TB, file []byte, want []live.Entry) *live.Outline {
	t.Helper()
	o, err := live.NewOutline(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	got, complete, err := outlined(o)
	if err != nil || !complete {
		t.Fatalf("complete %v, error %v", complete, err)
	}
	next := 0
	var objects []live.Object
	for _, whole := range want {
		if object, is := whole.(live.Object); is {
			objects = append(objects, object)
		}
		if _, queued := whole.(live.Queued); queued && (next == len(got) || !reflect.DeepEqual(got[next], whole)) {
			continue
		}
		if next == len(got) || !same(got[next], whole) {
			t.Fatalf("entry %d is\n%+v\nwant\n%+v", next, got[min(next, len(got)-1)], whole)
		}
		next++
	}
	if next != len(got) {
		t.Fatalf("%d entries, want %d", len(got), next)
	}
	for i, want := range slices.Backward(objects) {
		if object, err := o.Object(i + 1); err != nil || !reflect.DeepEqual(object, want) {
			t.Fatalf("object %d is %+v, %v, want %+v", i+1, object, err, want)
		}
	}
	for _, want := range slices.Backward(want) {
		n := reflect.ValueOf(want).FieldByName("N")
		if _, queued := want.(live.Queued); queued || !n.IsValid() {
			continue
		}
		if entry, err := o.Entry(n.Uint()); err != nil || !reflect.DeepEqual(entry, want) {
			t.Fatalf("entry number %d is %+v, %v, want %+v", n.Uint(), entry, err, want)
		}
	}
	return o
}

func TestOutline(t *testing.T) {
	o := holds(t, written(t, true), append(entries(), live.End{At: 11}))
	var unknown *live.UnknownError
	if _, err := o.Entry(1 << 40); !errors.As(err, &unknown) {
		t.Errorf("an entry that is not there: %v", err)
	}
	if _, err := o.Object(-1); !errors.As(err, &unknown) {
		t.Errorf("an object that is not there: %v", err)
	}
}

// TestOutlineOfTheFirstVersion has no index.
func TestOutlineOfTheFirstVersion(t *testing.T) {
	all := []live.Entry{header()}
	all = append(append(all, entries()...), live.End{At: 11})
	holds(t, assembled(t, all), all[1:])
}

// TestOutlineCutOff cuts a recording everywhere: an outline ends where reading it ends.
func TestOutlineCutOff(t *testing.T) {
	file := written(t, true)
	for length := range file {
		want, _, wantErr := read(file[:length])
		o, err := live.NewOutline(bytes.NewReader(file[:length]))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("cut off at %d: %v, want %v", length, err, wantErr)
		}
		if err != nil {
			continue
		}
		got, complete, err := outlined(o)
		want = slices.DeleteFunc(want, func(e live.Entry) bool { _, queued := e.(live.Queued); return queued && len(got) < len(want) })
		if err != nil || complete || len(got) != len(want) {
			t.Fatalf("cut off at %d: complete %v, error %v, %d entries, want %d", length, complete, err, len(got), len(want))
		}
	}
}

// TestOutlineDamage changes each byte: what comes out is never anything but what was there, whole or abridged.
func TestOutlineDamage(t *testing.T) {
	whole := written(t, true)
	want := slices.DeleteFunc(append(entries(), live.End{At: 11}), func(e live.Entry) bool { _, queued := e.(live.Queued); return queued })
	for i := range whole {
		file := bytes.Clone(whole)
		file[i] ^= 0x41
		o, err := live.NewOutline(bytes.NewReader(file))
		if err != nil {
			continue
		}
		got, _, _ := outlined(o)
		got = slices.DeleteFunc(got, func(e live.Entry) bool { _, queued := e.(live.Queued); return queued })
		for n, entry := range got {
			if !same(entry, want[n]) {
				t.Fatalf("byte %d: entry %d is %+v, want %+v", i, n, entry, want[n])
			}
			if call, is := entry.(live.Call); is {
				if found, err := o.Entry(call.N); err == nil && !reflect.DeepEqual(found, want[n]) {
					t.Fatalf("byte %d: call %d is %+v", i, call.N, found)
				}
			}
		}
	}
}

// TestOutlineOfAnything writes entries with whatever in them.
func TestOutlineOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w, err := live.NewWriter(&out, header())
		if err != nil {
			t.Fatal(err)
		}
		text := rapid.SampledFrom([]string{"", "a", "b", "default", "\u00e9\x00<"})
		rv := rapid.OneOf(rapid.SampledFrom([]string{"", "x", "007", "-1", "18446744073709551615", "4611686018427387904"}), rapid.Map(rapid.Uint64Range(0, 100), func(n uint64) string { return fmt.Sprint(n) }))
		key := rapid.Custom(func(t *rapid.T) core.Key {
			return core.Key{Kind: core.Kind(text.Draw(t, "kind")), Namespace: text.Draw(t, "namespace"), Name: text.Draw(t, "name")}
		})
		duration := rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
		var want []live.Entry
		objects, number := 0, uint64(0)
		for range rapid.IntRange(0, 60).Draw(t, "entries") {
			number += rapid.Uint64Range(1, math.MaxInt64/100).Draw(t, "n")
			object := rapid.IntRange(min(1, objects), objects).Draw(t, "object")
			var e live.Entry
			switch rapid.IntRange(0, 8).Draw(t, "what") {
			case 0:
				e = live.Object{Key: key.Draw(t, "key"), UID: text.Draw(t, "uid"), ResourceVersion: rv.Draw(t, "rv"), Form: rapid.SampledFrom([]string{live.Served, live.Cached, live.Metadata}).Draw(t, "form")}
				if o := e.(live.Object); rapid.Bool().Draw(t, "valued") {
					o.Value = json.RawMessage(`{"a":"b"}`)
					e = o
				}
				objects++
			case 1:
				e = live.Begin{N: number, At: duration.Draw(t, "at"), Controller: text.Draw(t, "controller"), Request: text.Draw(t, "request"), ID: "id", Causes: []live.Cause{{By: live.ByCode, N: number - 1}}}
			case 2:
				e = live.Done{N: number, At: duration.Draw(t, "at"), Reconcile: rapid.Uint64Range(1, max(1, number-1)).Draw(t, "reconcile"), Error: "e"}
				if number == 1 {
					continue
				}
			case 3:
				e = live.Queued{N: number, At: duration.Draw(t, "at")}
			case 4:
				e = live.Gap{At: duration.Draw(t, "at"), Reason: text.Draw(t, "reason")}
			case 5:
				if objects == 0 {
					continue
				}
				e = live.Event{N: number, At: duration.Draw(t, "at"), Controller: text.Draw(t, "controller"), Type: live.Updated, Object: object, Old: rapid.IntRange(0, objects).Draw(t, "old"), Missed: rapid.Bool().Draw(t, "missed")}
			case 6:
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				continue
			default:
				c := live.Call{N: number, At: duration.Draw(t, "at"), Took: duration.Draw(t, "took"), Reconcile: rapid.Uint64Range(0, number-1).Draw(t, "reconcile"), Client: text.Draw(t, "client"), Verb: text.Draw(t, "verb"),
					Object: key.Draw(t, "key"), Base: rv.Draw(t, "base"), ListVersion: rv.Draw(t, "list"), Cached: rapid.Bool().Draw(t, "cached"), Sent: json.RawMessage(`1`)}
				if objects > 0 {
					c.Answer = rapid.SliceOfN(rapid.IntRange(1, objects), 1, 5).Draw(t, "answer")
				}
				if rapid.Bool().Draw(t, "failed") {
					c.Failed = &live.Failure{Code: rapid.Int().Draw(t, "code"), Message: "m"}
				}
				if rapid.Bool().Draw(t, "write") {
					c.Write = &live.Write{DryRun: rapid.Bool().Draw(t, "dry"), Manager: "m"}
				}
				e = c
			}
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
			want = append(want, e)
		}
		if err := w.End(live.End{At: 1}); err != nil {
			t.Fatal(err)
		}
		want = append(want, live.End{At: 1})
		// What a text that is no UTF-8 becomes is the business of JSON: the entries are compared as they are read.
		if got, _, err := read(out.Bytes()); err != nil || len(got) != len(want) {
			t.Fatalf("%d entries, %v, want %d", len(got), err, len(want))
		}
		holds(t, out.Bytes(), want)
	})
}

// TestOutlineUnpacksFew finds an entry among many without unpacking the others.
func TestOutlineUnpacksFew(t *testing.T) {
	var out bytes.Buffer
	w, err := live.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	const all = 60_000 // and several indexes
	for n := range uint64(all) {
		if err := w.Add(live.Begin{N: n + 1, At: time.Duration(n), Controller: "c", Request: fmt.Sprintf("default/a-%d", n%100), ID: fmt.Sprintf("%050d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(live.End{}); err != nil {
		t.Fatal(err)
	}
	o, err := live.NewOutline(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, complete, err := outlined(o); !complete || err != nil {
		t.Fatal(complete, err)
	}
	before := o.Unpacked()
	entry, err := o.Entry(all / 2)
	if begin, is := entry.(live.Begin); err != nil || !is || begin.ID != fmt.Sprintf("%050d", all/2-1) {
		t.Errorf("%+v, %v", entry, err)
	}
	if before != 2 || o.Unpacked() != 3 { // the header, the end, and the one
		t.Errorf("%d blocks were unpacked for the outline, and %d in all", before, o.Unpacked())
	}
}

// FuzzIndex reads indexes that no writer writes: the outline ends, and what it found before can be asked for.
func FuzzIndex(f *testing.F) {
	file := written(f, true)
	f.Add([]byte("\x01\x01\x00"), true)
	f.Add([]byte("\x01\x7f\x02\x01\x00\x00\x01a\x00\x00\x00\x00\x00"), false)
	f.Add(file[20:], false)
	f.Fuzz(func(t *testing.T, index []byte, fits bool) {
		var out bytes.Buffer
		blocks, err := block.NewWriter(&out, "orrery-recording 2", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := blocks.Write([]byte("\x01\x02{}\x03\x1e{\"n\":1,\"type\":\"added\",\"object\":1}")); err != nil {
			t.Fatal(err)
		}
		if fits { // the sizes are right, and the rows are anything
			size := out.Len() - len("orrery-recording 2\n")
			index = append([]byte{1, byte(size&0x7f | 0x80), byte(size >> 7)}, index...)
		}
		if len(index) == 0 || blocks.WriteAside(index) != nil {
			return
		}
		o, err := live.NewOutline(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := outlined(o)
		for _, entry := range got {
			if e, is := entry.(live.Event); is {
				_, _ = o.Entry(e.N)
				_, _ = o.Object(e.Object)
			}
		}
	})
}

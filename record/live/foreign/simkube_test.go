package foreign_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/orrery-dev/orrery/record/live"
	"github.com/orrery-dev/orrery/record/live/foreign"
)

// packed returns MessagePack. Maps are written in the order of their keys.
func packed(t testing.TB, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := msgpack.NewEncoder(&out)
	encoder.SetSortMapKeys(true)
	encoder.UseCompactInts(true)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type object = map[string]any

// deployment is an object as a trace has it: without version and status.
func deployment(name string, replicas any) object {
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": "web", "labels": object{"app": name}},
		"spec": object{"replicas": replicas, "paused": false, "ratio": 0.5, "args": []any{"a", nil}},
	}
}

type simEvent struct {
	TS      int64    `msgpack:"ts"`
	Applied []object `msgpack:"applied_objs"`
	Deleted []object `msgpack:"deleted_objs"`
}

const simStart = 1743286823

// traceOf returns a trace of SimKube with all that its format has.
func traceOf(t testing.TB, version any, events ...any) []byte {
	t.Helper()
	if events == nil {
		events = []any{}
	}
	// The keys of lifetimes are pairs, which no map of Go's can have for MessagePack, and those in them are numbers.
	lifetimes := []byte{0x81}
	lifetimes = append(lifetimes, packed(t, []string{"apps/v1.Deployment", "web/a"})...)
	lifetimes = append(lifetimes, packed(t, map[uint64]any{17 << 50: []object{{"start_ts": simStart, "end_ts": simStart + 5}}})...)
	trace := []byte{0x85}
	for _, field := range []struct {
		name  string
		value []byte
	}{
		{"version", packed(t, version)},
		{"config", packed(t, object{"trackedObjects": object{"apps/v1.Deployment": object{"trackLifecycle": true}}})},
		{"events", packed(t, events)},
		{"index", packed(t, object{"apps/v1.Deployment": map[string]uint64{"web/a": 1 << 63}})},
		{"pod_lifecycles", lifetimes},
	} {
		trace = append(append(trace, packed(t, field.name)...), field.value...)
	}
	return trace
}

func simulated(t testing.TB, trace []byte) recording {
	t.Helper()
	var out bytes.Buffer
	if err := foreign.SimKube(bytes.NewReader(trace), &out, foreign.Options{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	return read(t, out.Bytes())
}

// told says in a line each what a recording of a trace says.
func told(r recording) []string {
	var all []string
	for _, e := range r.events {
		o := r.objects[e.Object-1]
		text := fmt.Sprintf("%v %s %s %s %s", e.At, e.Type, o.Kind, o.Name, o.Value[bytes.LastIndex(o.Value, []byte(`"replicas"`)):])
		if e.Initial {
			text += " initial"
		}
		if e.Old != 0 {
			text += " before " + r.objects[e.Old-1].ResourceVersion
		}
		all = append(all, fmt.Sprint(text, " @", o.ResourceVersion))
	}
	return all
}

func TestSimKube(t *testing.T) {
	secret := object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "s", "namespace": "web"}, "data": object{"replicas": "hush"}}
	got := simulated(t, traceOf(t, 2,
		simEvent{simStart, []object{deployment("a", 1)}, []object{}},
		simEvent{simStart + 3, []object{deployment("b", 1), deployment("a", 2), secret}, []object{}},
		simEvent{simStart + 4, []object{}, []object{deployment("a", 2)}},
		simEvent{simStart + 5, []object{deployment("a", uint64(1<<63))}, []object{deployment("b", 1)}},
	))
	want := []string{
		`0s added Deployment.apps a "replicas":1}} initial @1`,
		`3s added Deployment.apps b "replicas":1}} @2`,
		`3s updated Deployment.apps a "replicas":2}} before 1 @3`,
		`4s deleted Deployment.apps a "replicas":2}} @5`,
		`5s added Deployment.apps a "replicas":9223372036854775808}} @6`,
		`5s deleted Deployment.apps b "replicas":1}} @7`,
	}
	lines := told(got)
	if len(lines) != 7 || !strings.HasPrefix(lines[3], `3s added Secret s "replicas":"redacted:`) {
		t.Fatalf("got %q", lines)
	}
	if lines = append(lines[:3], lines[4:]...); !reflect.DeepEqual(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if !got.header.Started.Equal(time.Unix(simStart, 0)) || got.header.Process != (live.Process{Name: "SimKube", Replica: "web"}) || len(got.unseen) != 2 || len(got.gaps) != 0 || got.end != 5*time.Second {
		t.Errorf("header %+v, unseen %q, gaps %v, end %v", got.header, got.unseen, got.gaps, got.end)
	}
	if text := string(got.objects[0].Value); !strings.Contains(text, `"args":["a",null],"paused":false,"ratio":0.5`) {
		t.Errorf("the object is %s", text)
	}
}

// TestSimKubeGaps goes on behind what is damaged, and says that something is missing.
func TestSimKubeGaps(t *testing.T) {
	fine := simEvent{simStart + 9, []object{deployment("z", 1)}, nil}
	tests := map[string]struct {
		event  any
		reason string
	}{
		"an object without a name": {simEvent{simStart, []object{{"kind": "Pod", "apiVersion": "v1"}}, []object{}}, live.Broken},
		"an object without a kind": {simEvent{simStart, []object{{"metadata": object{"name": "a"}}}, []object{}}, live.Broken},
		"nothing":                  {simEvent{simStart, []object{nil}, []object{}}, live.Broken},
		"no object":                {object{"ts": simStart, "applied_objs": []any{7}, "deleted_objs": []any{}}, live.Broken},
		"a number that is none":    {simEvent{simStart, []object{}, []object{deployment("a", posInf())}}, live.Broken},
		"no list":                  {object{"ts": simStart, "applied_objs": 7, "deleted_objs": []any{}}, live.Broken},
		"a list is missing":        {object{"ts": simStart, "applied_objs": []any{}}, live.Broken},
		"a large object":           {simEvent{simStart, []object{deployment(strings.Repeat("a", 5<<20), 1)}, []object{}}, live.TooLarge},
	}
	for name, test := range tests {
		fine.Deleted = []object{}
		got := simulated(t, traceOf(t, 2, simEvent{simStart, []object{}, []object{}}, test.event, fine))
		if len(got.gaps) != 1 || got.gaps[0].Reason != test.reason || got.gaps[0].Entries != 1 || len(got.events) != 1 {
			t.Errorf("%s: gaps %+v, events %v", name, got.gaps, told(got))
		}
	}
	// without a time; before the start; in 292 billion years
	got := simulated(t, traceOf(t, 2, simEvent{simStart, []object{}, []object{}}, object{"applied_objs": []any{}}, simEvent{-1 << 63, []object{deployment("a", 1)}, []object{}}, simEvent{1<<63 - 1, []object{deployment("b", 1)}, []object{}}))
	if len(got.gaps) != 1 || len(got.events) != 2 || got.events[0].At != 0 || got.events[1].At < time.Hour || got.end != got.events[1].At {
		t.Errorf("gaps %+v, events %v", got.gaps, told(got))
	}
}

func posInf() float64 {
	zero := 0.0
	return 1 / zero
}

// TestNoTrace refuses what is no trace, and says why.
func TestNoTrace(t *testing.T) {
	good := traceOf(t, 2, simEvent{simStart, []object{deployment("a", 1)}, []object{}})
	deep := append(bytes.Repeat([]byte{0x91}, 1<<20), 0xc0)
	tests := map[string]struct {
		trace []byte
		want  string
	}{
		"nothing":          {nil, "unexpected EOF"},
		"JSON":             {[]byte(`{"version":2,"events":[]}`), "bytes follow it"},
		"a list":           {[]byte{0x90}, "it names no version"},
		"no version":       {packed(t, object{"events": []any{}}), "it names no version"},
		"another version":  {traceOf(t, 1), "its version is 1, and this reads version 2"},
		"a strange one":    {traceOf(t, "2"), "it names no version"},
		"no events":        {packed(t, object{"version": 2}), "it has no events"},
		"events are none":  {packed(t, object{"version": 2, "events": 3}), "its events are no list"},
		"no time":          {packed(t, object{"version": 2, "events": []any{3}}), "an event has no time"},
		"an early time":    {traceOf(t, 2, simEvent{-1 << 63, nil, nil}), "it begins in the year"},
		"a late time":      {traceOf(t, 2, simEvent{1<<63 - 1, nil, nil}), "it begins in the year"},
		"more behind":      {append(bytes.Clone(good), 0xc0), "1 bytes follow it"},
		"depth":            {deep, "it is nested deeper than 128 levels"},
		"a large claim":    {[]byte{0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0}, "unexpected EOF"},
		"a large text":     {[]byte{0xdb, 0xff, 0xff, 0xff, 0xff, 'a'}, "unexpected EOF"},
		"no such value":    {[]byte{0xc1}, "0xc1 starts no value"},
		"half a long size": {[]byte{0xdf, 0xff}, "unexpected EOF"},
	}
	for name, test := range tests {
		err := foreign.SimKube(bytes.NewReader(test.trace), io.Discard, foreign.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "this is no trace of SimKube 2: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	for length := range good {
		if err := foreign.SimKube(bytes.NewReader(good[:length]), io.Discard, foreign.Options{}); err == nil {
			t.Errorf("a trace that is cut off after %d of %d bytes is imported", length, len(good))
		}
	}
	if err := foreign.SimKube(bad{}, io.Discard, foreign.Options{}); err == nil {
		t.Error("a disk that cannot be read is no error")
	}
	if err := foreign.SimKube(bytes.NewReader(good), &full{room: 50}, foreign.Options{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

// TestSimKubeWithoutEvents is a recording without any.
func TestSimKubeWithoutEvents(t *testing.T) {
	if got := simulated(t, traceOf(t, 2)); len(got.events)+len(got.gaps) != 0 || got.header.Started.Year() != 1970 {
		t.Errorf("got %+v", got)
	}
}

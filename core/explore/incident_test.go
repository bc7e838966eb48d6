package explore_test

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// TestIncidents checks that what goes wrong in controller code is put down, that the
// search goes on around it, and that what it could not see is cut.
func TestIncidents(t *testing.T) {
	var runs atomic.Int64
	over := make(chan struct{})
	defer close(over)
	for _, test := range []struct {
		name      string
		reconcile func(do, core.Request) core.Result
		kind      core.IncidentKind
		message   string
		cut       bool
	}{
		{"panic", func(do do, _ core.Request) core.Result {
			if do("get a") == "1" {
				panic("it is one")
			}
			return core.Result{}
		}, core.Panicked, "it is one", false},
		{"calls without end", func(do do, _ core.Request) core.Result {
			for do("get a") == "1" {
				continue
			}
			return core.Result{}
		}, core.Runaway, "made more than", true},
		{"never returns", func(do do, _ core.Request) core.Result {
			if do("get a") == "1" {
				<-over // of which the code of the check does not know
			}
			return core.Result{}
		}, core.Stuck, "did not return within", true},
		{"memory of the process", func(do do, _ core.Request) core.Result {
			do("put b %s", strconv.FormatInt(runs.Add(1), 10))
			return core.Result{}
		}, core.Nondeterministic, "two fresh instances", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := boardWith([]string{"a 0"}, toggler("a", "0", "1"),
				writer{name: "troubled", initial: []core.Request{"r"}, reconcile: test.reconcile})
			o := options(1)
			o.Bounds.States = 50
			if test.kind == core.Stuck {
				o.Run.Deadline = 300 * time.Millisecond
			}
			space := search(t, system, o)
			incidents := space.Incidents()
			if len(incidents) == 0 {
				t.Fatal("nothing was put down")
			}
			first := incidents[0]
			if first.Kind != test.kind || first.Strategy != "troubled" || !strings.Contains(first.Message, test.message) {
				t.Errorf("the incident is %+v", first)
			}
			cut := false
			for id := range core.StateID(space.States()) {
				cut = cut || space.Cut(id)
			}
			if test.cut != cut && test.kind != core.Nondeterministic {
				t.Errorf("that a state is cut is %t", cut)
			}
			if space.States() < 2 {
				t.Errorf("the search did not go on: %d states", space.States())
			}
		})
	}
}

// TestUnsupportedCalls checks that a call that the world does not model makes a search
// incomplete, wherever it is met.
func TestUnsupportedCalls(t *testing.T) {
	inHandler := func(at string) writer {
		return writer{name: "w", handle: func(do do, e core.Event) []core.Request {
			if e.New.Canonical() == at {
				do("break")
			}
			return nil
		}}
	}
	for _, test := range []struct {
		name   string
		system *core.System
		states int
	}{
		{"in a step", boardWith(nil, toggler("a", "0", "1"), writer{name: "w", initial: []core.Request{"r"}, reconcile: func(do do, _ core.Request) core.Result {
			do("break")
			return core.Result{}
		}}), 3},
		{"in a handler", boardWith([]string{"a 0"}, toggler("a", "0", "1"), inHandler("1")), 1},
		{"in a handler at the start", boardWith([]string{"a 0"}, toggler("a", "0", "1"), inHandler("0")), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for workers := 1; workers <= 2; workers++ {
				space := search(t, test.system, options(workers))
				if !reason(space, "unsupported call: break: do not do that") || space.States() != test.states {
					t.Errorf("%d states, want %d; reasons %v", space.States(), test.states, space.Reasons())
				}
			}
		})
	}
}

// TestTryingMeetsUnsupportedCalls checks that what cannot be tried in a stored state is
// a reason, too: nobody knows what it would have done.
func TestTryingMeetsUnsupportedCalls(t *testing.T) {
	system := boardWith([]string{"a 0"}, writer{name: "w", initial: []core.Request{"r"}, reconcile: func(do do, _ core.Request) core.Result {
		if do("get a") == "1" {
			do("break")
		}
		do("put a 1")
		return core.Result{}
	}})
	space := search(t, system, options(1))
	if reasons := space.Reasons(); len(reasons) > 0 {
		t.Fatalf("the search is not complete: %v", reasons)
	}
	last := core.StateID(space.States() - 1)
	if effects := space.Try(last, core.Item{Strategy: "w", Request: "r"}); len(effects) > 0 {
		t.Errorf("trying it would do %+v", effects)
	}
	if !reason(space, "unsupported call: break") {
		t.Errorf("the reasons are %v", space.Reasons())
	}
}

// TestTryAndRelist checks what would happen in a state, which nothing of it changes.
func TestTryAndRelist(t *testing.T) {
	system := boardWith([]string{"a 0"}, writer{
		name:    "w",
		initial: []core.Request{"r"},
		handle:  func(_ do, e core.Event) []core.Request { return []core.Request{core.Request("saw " + e.Key.Name)} },
		reconcile: func(do do, _ core.Request) core.Result {
			do("put a 1!raw")
			return core.Result{}
		},
	})
	space := search(t, system, options(1))
	before := space.States()
	for id := range core.StateID(before) {
		want := space.Fingerprint(id)
		effects := space.Try(id, core.Item{Strategy: "w", Request: "r"})
		now := space.State(id).Get(noteKey("a"))
		if len(effects) != 1 || !effects[0].Wrote || effects[0].Failed != "" || effects[0].Order != "" {
			t.Fatalf("trying it in state %d gives %+v", id, effects)
		}
		effect := effects[0]
		if now == note("0") && (len(effect.Changes) != 1 || effect.Changes[0].Before != note("0") || effect.Changes[0].After != note("1")) {
			t.Errorf("from 0 it changes %+v", effect.Changes)
		}
		if now == note("1") && len(effect.Changes) != 0 {
			t.Errorf("from 1 it changes %+v", effect.Changes)
		}
		relisted := space.Relisted(id)
		if len(relisted) != 2 || relisted[0].Request != "r" || relisted[1].Request != "saw a" {
			t.Errorf("a restart in state %d would run %v", id, relisted)
		}
		if space.Fingerprint(id) != want || space.States() != before {
			t.Errorf("trying it changed state %d", id)
		}
	}
	if len(space.Try(0, core.Item{Strategy: "nobody", Request: "r"})) > 0 {
		t.Error("nobody did something")
	}
}

// TestTellAndReplay checks that runs are told step by step, that they replay, and that a run
// that goes another way now is found.
func TestTellAndReplay(t *testing.T) {
	system := boardWith([]string{"a 0"}, toggler("a", "0", "1"))
	space := search(t, system, options(1))
	edge := space.Edges(0)[0]
	trace, err := space.Trace(context.Background(), 0, core.Run{edge, space.Edges(edge.To)[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Steps) != 2 || len(trace.Steps[0].Calls) != 2 {
		t.Fatalf("it is told as %+v", trace)
	}
	put := trace.Steps[0].Calls[1]
	if at := put.At; at == nil || at.Module != "" || at.File != "core/explore/board_test.go" || at.Line == 0 || !strings.HasPrefix(at.Function, "explore_test.writer.Reconcile") {
		t.Errorf("the call is made at %v", at)
	}
	if put.At = nil; !reflect.DeepEqual(put, core.TraceCall{Call: "put a 1", Response: "ok", Wrote: true}) {
		t.Errorf("it is told as %+v", trace)
	}
	// The code has moved meanwhile: that makes no difference.
	trace.Steps[0].Calls[1].At.Line += 7
	trace.CycleStart = 0
	limits := options(1).Run
	if d, err := explore.Replay(context.Background(), system, explore.Conditions{}, trace, limits, nil); d != nil || err != nil {
		t.Errorf("replayed at once: %+v, %v", d, err)
	}
	for _, test := range []struct {
		name   string
		system *core.System
		step   int
		want   string
	}{
		{"other objects", boardWith([]string{"a 1"}, toggler("a", "0", "1")), 0, "no longer starts with these objects"},
		{"another controller", boardWith([]string{"a 0"}, toggler("b", "0", "1")), 1, "there is no longer a controller"},
		{"another write", boardWith([]string{"a 0"}, toggler("a", "0", "2")), 1, `"put a 2"`},
		{"another second step", boardWith([]string{"a 0"}, toggler("a", "0", "1", "2")), 2, `"put a 2"`},
	} {
		d, err := explore.Replay(context.Background(), test.system, explore.Conditions{}, trace, limits, nil)
		if err != nil || d == nil || d.Step != test.step || !strings.Contains(d.Reason, test.want) {
			t.Errorf("%s: %+v, %v, want step %d with %q", test.name, d, err, test.step, test.want)
		}
	}
}

package explore

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestTriedRequestsArePutDown tries a request where nothing asks for it: what goes wrong is put down to the state that
// it was tried in.
func TestTriedRequestsArePutDown(t *testing.T) {
	space := searchSlate(t, slateWith([]string{"a 0"},
		goes("counts", always(func(do asks, _ core.Request) core.Result {
			if do("get a") == "1" {
				return core.Result{}
			}
			do("put a 1")
			return core.Result{Requeue: true}
		})),
		goes("fails", always(func(do asks, _ core.Request) core.Result {
			if do("get b") == "1" && do("get a") == "1" {
				panic("it is one")
			}
			do("put b 1")
			return core.Result{}
		}))), Options{})
	end := space.Quiescent()[0]
	if len(space.Incidents()) > 0 || len(space.Quiescent()) != 1 {
		t.Fatalf("the incidents are %+v", space.Incidents())
	}
	space.learner.Where = transition.Provenance{State: 0}
	item := core.Item{Strategy: "fails", Request: "go"}
	if got := space.Try(end, item); len(got) != 1 || len(got[0].Changes) > 0 {
		t.Errorf("what panics has the effects %+v", got)
	}
	if all := space.Incidents(); len(all) != 1 || all[0].State != end || all[0].Step.Item != item || !strings.Contains(all[0].Message, "it is one") {
		t.Errorf("what goes wrong in state %d is put down as %+v", end, all)
	}
}

// TestAllOrdersAreTried tries a request with two calls at once: each of them may be the last.
func TestAllOrdersAreTried(t *testing.T) {
	both := goes("both", always(func(do asks, _ core.Request) core.Result {
		var all sync.WaitGroup
		for _, n := range []string{"1", "2"} {
			all.Go(func() { do("put a %s", n) })
		}
		all.Wait()
		return core.Result{}
	}))
	both.Sequential = false
	space := searchSlate(t, slateWith([]string{"a 0"}, both), Options{})
	var got []string
	for _, effect := range space.Try(0, core.Item{Strategy: "both", Request: "go"}) {
		for _, change := range effect.Changes {
			got = append(got, fmt.Sprint(change.After.Fields()))
		}
	}
	if slices.Sort(got); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("what is tried in all orders leaves %v", got)
	}
}

// TestWhatCannotBeTriedIsSaid asks what a restart would run where an event handler makes a call that is not modelled:
// nothing is said to be run, and there is one more reason why the search is not complete.
func TestWhatCannotBeTriedIsSaid(t *testing.T) {
	watches := hand{core.Description{Name: "watches", Watches: []core.Kind{"word"}, Sequential: true}, func() hired {
		return hired{
			handle: func(do asks, e core.Event) []core.Request {
				if e.Initial && e.New.Canonical() == "1" {
					do("break")
				}
				return []core.Request{"go"}
			},
			reconcile: func(asks, core.Request) core.Result { return core.Result{} },
		}
	}}
	space := searchSlate(t, slateWith([]string{"a 0"}, watches, goes("sets", always(func(do asks, _ core.Request) core.Result {
		do("put a 1")
		return core.Result{}
	}))), Options{})
	if got := fmt.Sprint(space.Relisted(0), space.Reasons()); got != "[watches(go) sets(go)] []" {
		t.Fatalf("at the start, a restart runs %s", got)
	}
	end := space.Quiescent()[0]
	if got := space.Relisted(end); got != nil || !strings.Contains(fmt.Sprint(space.Reasons()), "unsupported call: break") {
		t.Errorf("a restart runs %v, and the reasons are %v", got, space.Reasons())
	}
}

// TestAwaited lists what waits for a time that was not searched, in each state by itself.
func TestAwaited(t *testing.T) {
	space := searchSlate(t, slateWith(nil, goes("waits", always(func(asks, core.Request) core.Result {
		return core.Result{RequeueAfter: time.Hour}
	}))), Options{})
	end := space.Quiescent()[0]
	if got := space.Awaited(end); got != nil {
		t.Errorf("of a controller that waits for no time, %v is awaited", got)
	}
	space.machine.Actors[0].Waits.Why = "it waits for a time"
	for _, id := range []core.StateID{end, 0, end} {
		if got, want := fmt.Sprint(space.Awaited(id)), map[bool]string{true: "[waits(go)]", false: "[]"}[id == end]; got != want {
			t.Errorf("in state %d, %s is awaited, want %s", id, got, want)
		}
	}
}

// TestUnknownTargetsAreLeftOut has steps lead to a state of which it is not known what it says about names that are
// interchangeable: no step to it is listed.
func TestUnknownTargetsAreLeftOut(t *testing.T) {
	space := searchModel(t, first(), Options{Merge: true})
	if merged, why := space.Merged(); !merged {
		t.Fatal(why)
	}
	known := &targets{}
	space.reader.Load(space.row(0))
	if !known.add(space.reader) || len(known.lookups) != 1 {
		t.Error("a stored state is not known")
	}
	a := plain.NewVar[int]("a")
	cell, _ := space.machine.Vocabulary.Lookup(a.Key())
	space.reader.Set(cell, space.machine.Vocabulary.Intern(cell, a.Is(99).Content)) // which nobody has looked at
	if known.add(space.reader) || len(known.lookups) != 1 {
		t.Error("a state is known of which nothing is")
	}
}

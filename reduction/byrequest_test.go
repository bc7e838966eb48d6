package reduction_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// stepper is a controller that remembers for each request how often it was asked for it.
type stepper struct {
	core.Strategy
	// asks says which requests event handlers enqueue, by what is remembered of each.
	asks func(event core.Event, asked map[core.Request]int, requests []core.Request) []core.Request
}

func (s stepper) New() (core.Instance, error) {
	instance, err := s.Strategy.New()
	return &stepping{Instance: instance, stepper: s, asked: map[core.Request]int{}}, err
}

type stepping struct {
	core.Instance
	stepper
	asked map[core.Request]int
}

func (s *stepping) Memory() map[string]string {
	shown := map[string]string{"asked": strconv.Itoa(len(s.asked))}
	for request, n := range s.asked {
		shown["asked["+string(request)+"]"] = strconv.Itoa(n)
	}
	return shown
}

func (s *stepping) Handle(r core.EffectRecorder, event core.Event) []core.Request {
	requests := s.Instance.Handle(r, event)
	if s.asks == nil {
		return requests
	}
	return s.asks(event, s.asked, requests)
}

func (s *stepping) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	if s.asked[request] == 3 {
		return core.Result{}
	}
	result := s.Instance.Reconcile(r, request)
	s.asked[request]++
	return result
}

// TestMemoryByRequest has two controllers work on objects that have nothing to do with each other, of which one
// remembers how far it is with each: for each object more, there are as many states more, and as much code is run more,
// as if nothing was remembered. As one memory, what is remembered of all of them would be another one in nearly each
// state.
func TestMemoryByRequest(t *testing.T) {
	search := func(objects int, remembers bool, whole ...string) *explore.Space {
		a, b := plain.NewFamily[int]("A"), plain.NewFamily[int]("B")
		var requests []core.Request
		var start []core.Object
		for i := range objects {
			requests, start = append(requests, core.Request(strconv.Itoa(i))), append(start, a.At(i).Is(0))
		}
		of := func(request core.Request) plain.Var[int] { return a.Named(string(request)) }
		watches := []plain.Watch{{Kind: a.Kind()}}
		system, err := plain.Model{Name: "steps", Initial: []core.Initial{plain.Start(start...)}, Controllers: []plain.Controller{
			{Name: "stepper", Requests: requests, Watches: watches, Reconcile: func(w *plain.World, request core.Request) core.Result {
				if n := of(request).Get(w); n < 3 {
					of(request).Set(w, n+1)
				}
				return core.Result{}
			}},
			{Name: "mirror", Requests: requests, Watches: watches, Reconcile: func(w *plain.World, request core.Request) core.Result {
				b.Named(string(request)).Set(w, of(request).Get(w))
				return core.Result{}
			}},
		}}.System()
		if err != nil {
			t.Fatal(err)
		}
		if remembers {
			system.Strategies[0] = stepper{Strategy: system.Strategies[0]}
		}
		o := options()
		o.Reducer, o.Conditions.Whole = reduction.Stubborn{}, whole
		space, err := explore.Search(t.Context(), system, o)
		if err != nil || len(space.Reasons()) > 0 {
			t.Fatal(err, space.Reasons())
		}
		return space
	}
	for objects := 2; objects <= 4; objects++ {
		without, with := search(objects, false), search(objects, true)
		if with.States() != without.States() || with.Stats.Behaviours != without.Stats.Behaviours {
			t.Errorf("%d objects: %d states and %d behaviors with memory, %d and %d without", objects, with.States(), with.Stats.Behaviours, without.States(), without.Stats.Behaviours)
		}
		if memory := with.Memory(); len(memory) != 1 || !memory[0].ByRequest || memory[0].Contents != 3*objects {
			t.Errorf("%d objects: the memory is %+v", objects, memory)
		}
	}
	if one := search(3, true, "stepper"); one.States() < 1000 || one.Memory()[0].ByRequest || one.Memory()[0].Contents != 63 {
		t.Errorf("as one memory: %d states, %+v", one.States(), one.Memory())
	}
}

// TestHeededMemory has a request be enqueued by an event only if enough is remembered of it, which is all that two
// steps have to do with each other: both orders matter.
func TestHeededMemory(t *testing.T) {
	for enough := 1; enough <= 2; enough++ {
		for _, late := range []bool{false, true} {
			x, y := plain.NewVar[int]("x"), plain.NewFamily[int]("Y")
			controllers := []plain.Controller{
				{
					Name: "armed", Requests: []core.Request{"a", "b"},
					Watches: []plain.Watch{{Kind: x.Key().Kind, Map: func(core.Key) []core.Request { return nil }}},
					Reconcile: func(w *plain.World, request core.Request) core.Result {
						n, _ := y.Named(string(request)).Lookup(w)
						if n < enough+1 {
							y.Named(string(request)).Set(w, n+1)
						}
						return core.Result{Requeue: n+1 < enough}
					},
				},
				once("other", func(w *plain.World) { x.Set(w, 1) }),
			}
			if late {
				slices.Reverse(controllers)
			}
			system, err := plain.Model{Name: "heeds", Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: controllers}.System()
			if err != nil {
				t.Fatal(err)
			}
			armed := slices.IndexFunc(system.Strategies, func(s core.Strategy) bool { return s.Describe().Name == "armed" })
			system.Strategies[armed] = stepper{system.Strategies[armed], func(_ core.Event, asked map[core.Request]int, _ []core.Request) []core.Request {
				if asked["a"] >= enough {
					return []core.Request{"a"}
				}
				return nil
			}}
			o := options()
			want, _, _ := find(t, system, o)
			if len(want.ends) != 2 {
				t.Fatalf("there are %d ends", len(want.ends))
			}
			o.Reducer = reduction.Stubborn{}
			got, space, _ := find(t, system, o)
			if difference := differ(got, want); difference != "" {
				t.Errorf("%d, %v: %s", enough, late, difference)
			}
			if memory := space.Memory(); len(memory) != 1 || !memory[0].ByRequest {
				t.Errorf("the memory is %+v", memory)
			}
		}
	}
}

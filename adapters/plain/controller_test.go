package plain_test

import (
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Scaling a set up, one machine at a time, is woken by its own writes.
func TestController(t *testing.T) {
	type set struct{ Want, Have int }
	sets, machines := plain.NewFamily[set]("set"), plain.NewFamily[string]("machine")
	scaler := plain.Controller{
		Name: "scaler",
		Watches: []plain.Watch{
			{Kind: sets.Kind()},
			{Kind: machines.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"s"} }},
		},
		Reconcile: func(w *plain.World, request core.Request) core.Result {
			s, found := sets.Named(string(request)).Lookup(w)
			if !found {
				return core.Result{}
			}
			have := len(machines.All(w))
			if have < s.Want {
				machines.At(have+1).Set(w, "up")
			} else if s.Have != have {
				s.Have = have
				sets.Named(string(request)).Set(w, s)
			}
			return core.Result{}
		},
	}
	g := explore(t, plain.Model{
		Initial:     []core.Initial{plain.Start(sets.Named("s").Is(set{Want: 2}))},
		Controllers: []plain.Controller{scaler},
	})
	if got, want := len(g.Terminal()), 1; got != want {
		t.Fatalf("got %d terminal states, want %d", got, want)
	}
	end := g.States[g.Terminal()[0]]
	if got, want := sets.Named("s").Get(end), (set{2, 2}); got != want {
		t.Errorf("the set ends as %+v, want %+v", got, want)
	}
	if got := machines.All(end); !slices.Equal(got, []plain.Member[string]{{"1", "up"}, {"2", "up"}}) {
		t.Errorf("the machines end as %v", got)
	}
}

// Watched kinds are read from the controller's own view, all others live.
func TestWhereControllersRead(t *testing.T) {
	watched, other := plain.NewFamily[int]("watched"), plain.NewFamily[int]("other")
	system, err := plain.Model{
		Name:    "test",
		Initial: []core.Initial{plain.Start(watched.At(1).Is(0), other.At(1).Is(0))},
		Controllers: []plain.Controller{{
			Name:    "c",
			Watches: []plain.Watch{{Kind: watched.Kind()}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				watched.At(1).Get(w)
				watched.All(w)
				other.At(1).Get(w)
				other.All(w)
				watched.At(1).Set(w, 0)
				return core.Result{}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	instance, err := system.Strategies[0].New()
	if err != nil {
		t.Fatal(err)
	}
	r := &sources{store: system.Store, objects: system.Initial[0].Objects}
	instance.Reconcile(r, "1")
	want := []core.Source{core.Cached, core.Cached, core.Live, core.Live, core.Live}
	if !slices.Equal(r.seen, want) {
		t.Errorf("got %v, want %v", r.seen, want)
	}
}

// sources records where calls want to be answered from.
type sources struct {
	store   core.Store
	objects []core.Object
	seen    []core.Source
}

func (r *sources) Do(call core.Call) core.Response {
	r.seen = append(r.seen, call.Source())
	answer, err := r.store.Answer(r, call)
	if err != nil {
		panic(err)
	}
	return answer.Response
}

func (r *sources) Held(core.Key) []core.Content { return nil }

func (r *sources) Get(key core.Key) core.Content {
	for _, o := range r.objects {
		if o.Key == key {
			return o.Content
		}
	}
	return nil
}

func (r *sources) List(kind core.Kind, _ string) []core.Object {
	return slices.DeleteFunc(slices.Clone(r.objects), func(o core.Object) bool { return o.Key.Kind != kind })
}

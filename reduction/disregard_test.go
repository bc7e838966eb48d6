package reduction_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/reduction"
)

// TestHeededTogether has a controller list things and do something else if one thing, two things together, or something
// that it looks at only because of a thing, are as it wants: what it does must be found in all orders. It is left out
// if nothing of the kind can be.
func TestHeededTogether(t *testing.T) {
	x, y, things := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewFamily[int]("things")
	sets := func(name string, v plain.Var[int]) plain.Controller {
		return once(name, func(w *plain.World) { v.Set(w, 1) })
	}
	has := func(w *plain.World, name int, value int) bool {
		for _, thing := range things.All(w) {
			if thing.Name == fmt.Sprint(name) && thing.Value == value {
				return true
			}
		}
		return false
	}
	for _, test := range []struct {
		name string
		sees func(w *plain.World) bool
		ends int
	}{
		{"one thing", func(w *plain.World) bool { return has(w, 1, 1) }, 2},
		{"that one is gone", func(w *plain.World) bool { return !has(w, 1, 0) }, 2},
		{"both things", func(w *plain.World) bool { return has(w, 1, 1) && has(w, 2, 1) }, 2},
		{"either thing", func(w *plain.World) bool { return has(w, 1, 1) || has(w, 2, 1) }, 2},
		{"all things", func(w *plain.World) bool {
			return !slices.ContainsFunc(things.All(w), func(m plain.Member[int]) bool { return m.Value == 0 })
		}, 2},
		{"something else because of a thing", func(w *plain.World) bool { return has(w, 1, 1) && x.Get(w) == 1 }, 2},
		{"nothing that can be", func(w *plain.World) bool { return has(w, 1, 2) || has(w, 6, 1) }, 1},
		{"nothing", func(w *plain.World) bool { return len(things.All(w)) == 0 }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := plain.Model{
				Name:    "heeds",
				Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0), things.At(1).Is(0), things.At(2).Is(0), things.At(3).Is(0), things.At(4).Is(0), things.At(5).Is(0))},
				Controllers: []plain.Controller{
					once("looks", func(w *plain.World) {
						if test.sees(w) {
							y.Set(w, 2)
						} else {
							y.Set(w, 1)
						}
					}),
					sets("1", things.At(1)), sets("2", things.At(2)), sets("3", things.At(3)), sets("4", things.At(4)), sets("5", things.At(5)), sets("else", x),
				},
			}.System()
			if err != nil {
				t.Fatal(err)
			}
			o := options()
			want, full, _ := find(t, system, o)
			o.Reducer = reduction.Stubborn{}
			got, reduced, _ := find(t, system, o)
			if difference := differ(got, want); difference != "" {
				t.Error(difference)
			}
			if len(want.ends) != test.ends || test.ends == 1 && reduced.States() != 8 {
				t.Errorf("%d of %d states, %d ends", reduced.States(), full.States(), len(want.ends))
			}
		})
	}
}

// TestPicksOfAll has a controller list all things for each of them and change the one it works for. What is done for
// one thing does not multiply with what is done for another one.
func TestPicksOfAll(t *testing.T) {
	for n, want := range map[int]int{1: 3, 2: 5, 3: 7} {
		things, done := plain.NewFamily[int]("things"), plain.NewFamily[int]("done")
		var requests []core.Request
		for i := range n {
			requests = append(requests, core.Request(fmt.Sprint(i)))
		}
		system, err := plain.Model{Name: "picks", Initial: []core.Initial{plain.Start()}, Controllers: []plain.Controller{{
			Name: "works", Requests: requests,
			Reconcile: func(w *plain.World, request core.Request) core.Result {
				for _, thing := range things.All(w) {
					if thing.Name == string(request) {
						done.Named(string(request)).Set(w, thing.Value)
						return core.Result{}
					}
				}
				things.Named(string(request)).Set(w, 1)
				return core.Result{Requeue: true}
			},
		}}}.System()
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		whole, full, _ := find(t, system, o)
		o.Reducer = reduction.Stubborn{}
		got, reduced, _ := find(t, system, o)
		if difference := differ(got, whole); difference != "" || reduced.States() != want {
			t.Errorf("%d: %d of %d states, not %d; %s", n, reduced.States(), full.States(), want, difference)
		}
	}
}

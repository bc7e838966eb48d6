package reduction_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/reduction"
)

// TestWhatComesToBeListed has a controller list things of which it is not told. A thing comes to be there and changes:
// whether the controller may look before matters if any of what the thing becomes makes the controller do something.
func TestWhatComesToBeListed(t *testing.T) {
	for harm := 1; harm <= 4; harm++ {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %t", harm, there), func(t *testing.T) {
				z, things := plain.NewVar[int]("z"), plain.NewFamily[int]("things")
				start := []core.Object{z.Is(0)}
				if there {
					start = append(start, things.At(1).Is(0))
				}
				system, err := plain.Model{Name: "lists", Initial: []core.Initial{plain.Start(start...)}, Controllers: []plain.Controller{
					once("looks", func(w *plain.World) {
						for _, thing := range things.All(w) {
							if thing.Value == harm {
								z.Set(w, 1)
							}
						}
					}),
					{Name: "makes", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
						n, _ := things.At(2).Lookup(w)
						things.At(2).Set(w, min(n+1, 3))
						return core.Result{Requeue: n < 2}
					}},
				}}.System()
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
				if never := harm == 4; never != (len(want.ends) == 1) || never && reduced.States() >= full.States()-2 {
					t.Errorf("%d of %d states, %d ends", reduced.States(), full.States(), len(want.ends))
				}
			})
		}
	}
}

// TestWhatNeverComesToBe has a controller go wrong where two things are seen together. To find out whether it could
// look first, that is tried: it is said if, and only if, it can be.
func TestWhatNeverComesToBe(t *testing.T) {
	for _, comes := range []bool{false, true} {
		x, things := plain.NewVar[int]("x"), plain.NewFamily[int]("things")
		var wrong atomic.Bool
		system, err := plain.Model{Name: "never", Initial: []core.Initial{plain.Start(x.Is(0))}, Controllers: []plain.Controller{
			{
				Name: "looks", Requests: []core.Request{"r"},
				Watches: []plain.Watch{{Kind: x.Key().Kind, Map: func(core.Key) []core.Request { return []core.Request{"r"} }}},
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					early := x.Get(w) == 0
					for range things.All(w) {
						if early {
							wrong.Store(true)
							panic("it is too early")
						}
					}
					return core.Result{}
				},
			},
			{
				Name: "makes", Requests: []core.Request{"r"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					_, made := things.At(1).Lookup(w)
					if first := !made && x.Get(w) == 0; first != comes {
						x.Set(w, 1)
					} else {
						things.At(1).Set(w, 1)
					}
					return core.Result{Requeue: !made && x.Get(w) == 0 || x.Get(w) == 1 && !made}
				},
			},
		}}.System()
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		want, _, _ := find(t, system, o)
		wrong.Store(false)
		o.Reducer = reduction.Stubborn{}
		got, _, _ := find(t, system, o)
		if difference := differ(got, want); difference != "" || (len(got.incidents) > 0) != comes {
			t.Errorf("%t: %s, %v", comes, difference, got.incidents)
		}
		if !wrong.Load() {
			t.Errorf("%t: it was not tried", comes)
		}
	}
}

// TestListsOfAll has a controller list all things for each of them, and look at that one alone. What is done for one
// thing does not multiply with what is done for another one.
func TestListsOfAll(t *testing.T) {
	search := func(n int) (full, reduced int) {
		things, done := plain.NewFamily[int]("things"), plain.NewFamily[int]("done")
		var requests []core.Request
		for i := range n {
			requests = append(requests, core.Request(strconv.Itoa(i)))
		}
		system, err := plain.Model{Name: "all", Initial: []core.Initial{plain.Start()}, Controllers: []plain.Controller{
			{
				Name: "looks", Requests: requests, Watches: []plain.Watch{{Kind: things.Kind()}},
				Reconcile: func(w *plain.World, request core.Request) core.Result {
					for _, thing := range things.All(w) {
						if thing.Name == string(request) && thing.Value == 3 {
							done.Named(string(request)).Set(w, 1)
						}
					}
					return core.Result{}
				},
			},
			{
				Name: "makes", Requests: requests,
				Reconcile: func(w *plain.World, request core.Request) core.Result {
					n, _ := things.Named(string(request)).Lookup(w)
					things.Named(string(request)).Set(w, min(n+1, 3))
					return core.Result{Requeue: n < 2}
				},
			},
		}}.System()
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		want, space, _ := find(t, system, o)
		o.Reducer = reduction.Stubborn{}
		got, less, _ := find(t, system, o)
		if difference := differ(got, want); difference != "" {
			t.Errorf("%d: %s", n, difference)
		}
		return space.States(), less.States()
	}
	for n := 1; n <= 3; n++ {
		full, reduced := search(n)
		t.Logf("%d things: %d states in full, %d reduced", n, full, reduced)
	}
}

// TestRandomLists compares searches of random systems in which controllers list things, of which they are told, or of
// those of their requests, or of none: reduced, they find what full ones do.
func TestRandomLists(t *testing.T) {
	less := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 108))
		things, out := plain.NewFamily[int]("things"), plain.NewFamily[int]("out")
		requests := []core.Request{"0", "1"}
		model := plain.Model{Name: "lists", Initial: []core.Initial{plain.Start()}}
		for i := range 1 + r.IntN(2) {
			var matters [2][2][4]bool // to which request of the controller it matters which thing is what
			for request := range matters {
				for thing := range 2 {
					if thing == request || r.IntN(3) == 0 {
						matters[request][thing][r.IntN(4)] = true
					}
				}
			}
			lists := plain.Controller{Name: fmt.Sprintf("lists%d", i), Requests: requests[:1+r.IntN(2)], Reconcile: func(w *plain.World, request core.Request) core.Result {
				asked, _ := strconv.Atoi(string(request))
				for _, thing := range things.All(w) {
					if name, _ := strconv.Atoi(thing.Name); matters[asked][name][thing.Value] {
						out.At(2*i+asked).Set(w, 1)
					}
				}
				return core.Result{}
			}}
			if r.IntN(3) > 0 {
				lists.Watches = []plain.Watch{{Kind: things.Kind()}}
			}
			model.Controllers = append(model.Controllers, lists)
		}
		for i := range 2 {
			becomes := [3]int{r.IntN(5) - 1, r.IntN(5) - 1, r.IntN(5) - 1} // -1 is none
			model.Controllers = append(model.Controllers, plain.Controller{
				Name: fmt.Sprintf("makes%d", i), Requests: requests[:1],
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					n, _ := out.At(10 + i).Lookup(w)
					if n == len(becomes) {
						return core.Result{}
					}
					if value := becomes[n]; value < 0 {
						things.At(i).Delete(w)
					} else {
						things.At(i).Set(w, value)
					}
					out.At(10+i).Set(w, n+1)
					return core.Result{Requeue: true}
				},
			})
		}
		r.Shuffle(len(model.Controllers), func(i, j int) {
			model.Controllers[i], model.Controllers[j] = model.Controllers[j], model.Controllers[i]
		})
		system, err := model.System()
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		want, full, _ := find(t, system, o)
		o.Reducer = reduction.Stubborn{}
		got, reduced, _ := find(t, system, o)
		if difference := differ(got, want); difference != "" {
			t.Errorf("seed %d: %s", seed, difference)
		}
		if reduced.States() < full.States() {
			less++
		}
	}
	if less < 30 {
		t.Errorf("only %d of the systems have fewer states", less)
	}
}

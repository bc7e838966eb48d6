package explore

import (
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestCyclic finds loops behind each of several starts, and none where there are none.
func TestCyclic(t *testing.T) {
	x := plain.NewVar[int]("x")
	// Up to 3 there is one way, and 10 and 11 follow each other.
	step := plain.Process{Name: "p", Actions: []plain.Action{
		{Name: "on", Do: func(w *plain.World) { w.Require(x.Get(w) < 3); x.Set(w, x.Get(w)+1) }},
		{Name: "around", Do: func(w *plain.World) { w.Require(x.Get(w) >= 10); x.Set(w, 21-x.Get(w)) }},
	}}
	for _, test := range []struct {
		starts []int
		want   int // states in loops
	}{{[]int{0}, 0}, {[]int{0, 2}, 0}, {[]int{10}, 2}, {[]int{0, 10}, 2}, {[]int{3, 10}, 2}, {[]int{11, 1}, 2}} {
		var initial []core.Initial
		for _, start := range test.starts {
			initial = append(initial, plain.Start(x.Is(start)))
		}
		system, err := plain.Model{Name: "ways", Initial: initial, Processes: []plain.Process{step}}.System()
		if err != nil {
			t.Fatal(err)
		}
		space, err := Search(t.Context(), system, Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		space.eachLoop(func(states []core.StateID) bool { n += len(states); return true })
		if cyclic := space.cyclic(); n != test.want || cyclic != (test.want > 0) {
			t.Errorf("from %v, %d states are in loops, and there are loops: %t", test.starts, n, cyclic)
		}
	}
}

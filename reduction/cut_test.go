package reduction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

// lacking is a store that does not model calls about some object.
type lacking struct {
	core.Store
	about string
}

// Answer implements [core.Store].
func (l lacking) Answer(s core.Snapshot, c core.Call) (core.Answer, error) {
	if strings.Contains(c.String(), l.about) {
		return core.Answer{}, &core.Unsupported{Call: c.String(), Reason: "it is not modelled"}
	}
	return l.Store.Answer(s, c)
}

// TestCutStepsHideNobody has a step that cannot be taken to its end leave out nobody: whoever else may act is followed
// in the same state.
func TestCutStepsHideNobody(t *testing.T) {
	for cut := range 3 {
		x := plain.NewFamily[int]("x")
		var controllers []plain.Controller
		var initial []core.Object
		for i := range 3 {
			initial = append(initial, x.At(i).Is(0))
			controllers = append(controllers, plain.Controller{Name: fmt.Sprint("c", i), Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
				x.At(i).Set(w, 1)
				return core.Result{}
			}})
		}
		system, err := plain.Model{Name: "lacking", Initial: []core.Initial{plain.Start(initial...)}, Controllers: controllers}.System()
		if err != nil {
			t.Fatal(err)
		}
		system.Store = lacking{system.Store, fmt.Sprint("x ", cut)}
		o := options()
		o.Reducer = reduction.Stubborn{}
		space, err := explore.Search(t.Context(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		reached := map[int]bool{}
		for id := range core.StateID(space.States()) {
			for i := range 3 {
				if x.At(i).Get(space.State(id)) == 1 {
					reached[i] = true
				}
			}
		}
		if len(reached) != 2 || reached[cut] || len(space.Incidents())+len(space.Reasons()) == 0 {
			t.Errorf("without what c%d does, these have acted: %v, in %d states; reasons %q", cut, reached, space.States(), space.Reasons())
		}
	}
}

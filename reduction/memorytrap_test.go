package reduction_test

import (
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/reduction"
)

// mindful is a controller that remembers that it was asked to "turn", and panics if it is asked to "look" behind that.
// Otherwise it does nothing.
type mindful struct{ core.Strategy }

func (m mindful) New() (core.Instance, error) {
	instance, err := m.Strategy.New()
	return &minding{Instance: instance}, err
}

type minding struct {
	core.Instance
	turned bool
}

func (m *minding) Memory() map[string]string {
	return map[string]string{"turned": strconv.FormatBool(m.turned)}
}

func (m *minding) Reconcile(r core.EffectRecorder, request core.Request) core.Result {
	switch {
	case request == "turn":
		m.turned = true
	case m.turned:
		panic("it has turned")
	}
	return core.Result{}
}

// TestMemoryThatIsOnlyRead has one request depend on what another one leaves in memory, and on nothing else: both
// orders matter.
func TestMemoryThatIsOnlyRead(t *testing.T) {
	y := plain.NewVar[int]("y")
	system, err := plain.Model{
		Name: "trap", Initial: []core.Initial{plain.Start(y.Is(0))},
		Controllers: []plain.Controller{
			{Name: "mindful", Requests: []core.Request{"turn", "look"}, Reconcile: func(*plain.World, core.Request) core.Result { return core.Result{} }},
			once("other", func(w *plain.World) { y.Set(w, 1) }),
		},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	system.Strategies[0] = mindful{system.Strategies[0]}
	o := options()
	want, _, _ := find(t, system, o)
	if len(want.ends) != 1 || len(want.incidents) != 1 {
		t.Fatalf("there are %d ends and %d incidents", len(want.ends), len(want.incidents))
	}
	o.Reducer = reduction.Stubborn{}
	got, _, _ := find(t, system, o)
	if difference := differ(got, want); difference != "" {
		t.Error(difference)
	}
}

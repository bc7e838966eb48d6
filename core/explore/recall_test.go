package explore

import (
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// TestRecall adds what earlier searches found, each once, to what the last one did, in the states that it has stored as
// well.
func TestRecall(t *testing.T) {
	x := plain.NewVar[int]("x")
	model := plain.Model{Name: "count", Initial: []core.Initial{plain.Start(x.Is(0))}, Processes: []plain.Process{{Name: "p", Actions: []plain.Action{{Name: "add", Do: func(w *plain.World) {
		w.Require(x.Get(w) < 3)
		x.Set(w, x.Get(w)+1)
	}}}}}}
	system, err := model.System()
	if err != nil {
		t.Fatal(err)
	}
	space, err := Search(t.Context(), system, Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}})
	if err != nil {
		t.Fatal(err)
	}
	incident := func(message string, state core.StateID) core.Incident {
		return core.Incident{Kind: core.Panicked, Strategy: "p", Message: message, State: state}
	}
	seen := &earlier{}
	seen.collect(&transition.Learner{Incidents: []core.Incident{incident("early", 2), incident("known", 1)}}, space)
	seen.collect(&transition.Learner{Incidents: []core.Incident{incident("early", 3), incident("before any state", 0)}}, nil)
	seen.collect(&transition.Learner{Incidents: []core.Incident{incident("behind its end", 77)}}, space)
	seen.sightings[0].incident.State = 9 // it had another number there
	space.learner.Incidents = []core.Incident{incident("known", 3)}
	space.recall(t.Context(), seen.sightings)
	before := func(message string) core.Incident {
		i := incident(message, 0)
		i.AtStart = true
		return i
	}
	want := []core.Incident{incident("known", 3), incident("early", 2), before("before any state"), before("behind its end")}
	got := space.Incidents()
	if len(got) != len(want) {
		t.Fatalf("there are %+v", got)
	}
	for i := range want {
		if transition.WrongOf(got[i]) != transition.WrongOf(want[i]) || got[i].State != want[i].State || got[i].AtStart != want[i].AtStart {
			t.Errorf("incident %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

package behavior

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// willing is a world that answers everything.
type willing struct{}

func (willing) Do(_ context.Context, call core.Call, _ core.RecordedCall) (core.Response, error) {
	return named(call.Identity()), nil
}
func (willing) Event(_ context.Context, e core.TraceEvent) (core.Event, error) {
	return core.Event{Key: e.Key()}, nil
}
func (willing) Shows(context.Context, core.TraceChange) (string, error) { return "", nil }

// watchful is a controller whose handlers do the same as its reconciles.
type watchful struct{ doing }

func (watchful) Describe() core.Description    { return core.Description{Name: "doing", Sequential: true} }
func (w watchful) New() (core.Instance, error) { return w, nil }
func (w watchful) Handle(r core.EffectRecorder, _ core.Event) []core.Request {
	w.doing(r)
	return nil
}

// TestEnactCancelled has the error of the context be told that ends while code of a recorded run runs on, wherever that
// is.
func TestEnactCancelled(t *testing.T) {
	asks := core.TraceCall{Call: "a", Response: "a"}
	event := []core.TraceEvent{{Controller: "doing", Kind: "Lamp", Name: "x"}}
	handler := core.TraceCall{Call: "a", Response: "a", Handler: "doing"}
	for _, test := range []struct {
		name string
		step core.TraceStep
	}{
		{"to the next call of a later step", core.TraceStep{Kind: core.Ask.Name(), Controller: "doing", Request: "r", Calls: []core.TraceCall{asks, asks}}},
		{"to the end in a later step", core.TraceStep{Kind: core.Return.Name(), Controller: "doing", Request: "r"}},
		{"to the next call", core.TraceStep{Kind: core.Reconcile.Name(), Controller: "doing", Request: "r", Calls: []core.TraceCall{asks, asks}}},
		{"to the end", core.TraceStep{Kind: core.Reconcile.Name(), Controller: "doing", Request: "r", Calls: []core.TraceCall{asks}}},
		{"to a crash", core.TraceStep{Kind: core.Reconcile.Name(), Controller: "doing", Request: "r", Calls: []core.TraceCall{asks}, Crashes: true}},
		{"to the end of a handler", core.TraceStep{Kind: core.Deliver.Name(), Controller: "doing", Calls: []core.TraceCall{handler}, Events: event}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		e := newEnactment(&core.System{Strategies: []core.Strategy{watchful{func(r core.EffectRecorder) {
			r.Do(named("a"))
			cancel()
			for !r.(direct).session.aborted.Load() {
				time.Sleep(time.Millisecond)
			}
		}}}}, willing{}, Limits{Deadline: time.Minute, Calls: 9})
		var err error
		switch kind, _ := core.StepKindOf(test.step.Kind); kind {
		case core.Deliver:
			err = e.open(ctx, "doing")
		case core.Ask, core.Return:
			err = e.begin(ctx, core.Item{Strategy: "doing", Request: "r"}, 0)
		}
		if err == nil && test.step.Kind == core.Return.Name() {
			e.flights[0].session.Settle(ctx)
			e.flights[0].session.rested = nil
			e.flights[0].session.Answer(named("a"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := e.step(ctx, test.step); !errors.Is(err, context.Canceled) {
			t.Errorf("on the way %s: %v", test.name, err)
		}
		cancel()
		e.end()
	}
}

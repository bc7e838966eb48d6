package leases

import (
	"context"

	"github.com/orrery-dev/orrery/core"
)

// reconciler is what [Publisher] and [Sweeper] have in common.
type reconciler interface {
	Reconcile(ctx context.Context, host string) error
}

// loop is a control loop as a strategy.
type loop struct {
	name    string
	watches []core.Kind
	// wakes reports whether an event puts the host into the work queue.
	wakes func(core.Event) bool
	// start makes an instance with empty memory.
	start func() core.Instance
	// active tells that an instance is a [core.Active] one.
	active bool
}

var _ core.Strategy = (*loop)(nil)

// Describe implements [core.Strategy].
func (l *loop) Describe() core.Description {
	return core.Description{Name: l.name, Watches: l.watches, Active: l.active}
}

// New implements [core.Strategy].
func (l *loop) New() (core.Instance, error) { return l.start(), nil }

// instance is a controller at work.
type instance struct {
	reconciler reconciler
	wakes      func(core.Event) bool
}

// Handle implements [core.Instance].
func (i instance) Handle(_ core.EffectRecorder, event core.Event) []core.Request {
	if !i.wakes(event) {
		return nil
	}
	return []core.Request{core.Request(event.Key.Name)}
}

// Reconcile implements [core.Instance].
func (i instance) Reconcile(recorder core.EffectRecorder, host core.Request) core.Result {
	ctx := recording(context.Background(), recorder)
	return core.Result{Err: i.reconciler.Reconcile(ctx, string(host))}
}

package clientgo

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/orrery-dev/orrery/core"
)

// background is what goes on in a process between items.
type background struct {
	ctx  context.Context
	stop func()
	// of names the controllers that something goes on for, and ofAll tells that it may be for any.
	of    []string
	ofAll bool
	// started tells that it goes on by now.
	started bool
}

func newBackground(logger logr.Logger) background {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
	return background{ctx: ctx, stop: stop}
}

var _ core.Active = (*instance)(nil)

// Start implements [core.Active]. What goes on was started by the set-up.
func (i *instance) Start(recorder core.EffectRecorder) []func() {
	i.environment.current.Background(i.environment.background.ctx, recorder)
	i.environment.background.started = true
	return nil
}

// Stop implements [core.Active].
func (i *instance) Stop() { i.environment.background.stop() }

// collects reports whether what is added to queues is looked for afterwards: what the set-up adds, event handlers, and goroutines of which nobody knew that they
// go on.
func (e *Environment) collects() bool {
	return e.working == nil && (e.handling != nil || !e.background.started)
}

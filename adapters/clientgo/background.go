package clientgo

import (
	"context"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
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
	// asked tells that it may go on, began is closed when it does, and setup is the goroutine of the set-up, which does
	// not wait for that.
	asked *atomic.Bool
	began chan struct{}
	setup uint64
}

func newBackground(logger logr.Logger) background {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
	setup, _ := goroutine.Current()
	return background{ctx: ctx, stop: stop, asked: new(atomic.Bool), began: make(chan struct{}), setup: setup}
}

// waits has goroutines that the set-up has started for what goes on between items wait until that begins: how far they
// come before the set-up has returned is chance. It reports whether it has begun, false for all others.
func (b *background) waits() bool {
	if !b.asked.Load() {
		return false
	}
	if current, _ := goroutine.Current(); current == b.setup {
		return false
	}
	select {
	case <-b.began:
		return true
	case <-b.ctx.Done():
		return false
	}
}

// runs reports whether anything runs by now. What the set-up has started waits until it does.
func (e *Environment) runs() bool { return e.current.Run() != nil || e.background.waits() }

var _ core.Active = (*instance)(nil)

// Start implements [core.Active]. What goes on was started by the set-up.
func (i *instance) Start(recorder core.EffectRecorder) []func() {
	i.environment.current.Background(i.environment.background.ctx, recorder)
	i.environment.background.started = true
	close(i.environment.background.began)
	return nil
}

// Stop implements [core.Active].
func (i *instance) Stop() { i.environment.background.stop() }

// collects reports whether what is added to queues is looked for afterwards: what the set-up adds, event handlers, and
// goroutines of which nobody knew that they go on.
func (e *Environment) collects() bool {
	return e.working.Load() == nil && (e.handling != nil || !e.background.started)
}

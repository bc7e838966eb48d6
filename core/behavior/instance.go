package behavior

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// NewInstance makes a fresh instance of a strategy. A panic, an exit of the goroutine
// and a wait beyond the deadline are errors that name the controller. When the context ends, its error is returned.
func NewInstance(ctx context.Context, strategy core.Strategy, deadline time.Duration) (core.Instance, error) {
	type made struct {
		instance core.Instance
		err      error
		end      ending
	}
	result := make(chan made, 1)
	go func() {
		var m made
		contain(func() ending {
			m.instance, m.err = strategy.New()
			return ending{}
		}, func() bool { return false }, func(end ending) {
			m.end = end
			result <- m
		})
	}()
	name := strategy.Describe().Name
	watch := time.NewTimer(deadline)
	defer watch.Stop()
	select {
	case m := <-result:
		switch {
		case m.end.failure == Panicked:
			return nil, fmt.Errorf("setting up controller %q panicked: %s", name, m.end.message)
		case m.end.failure != None:
			return nil, fmt.Errorf("setting up controller %q: it %s", name, m.end.message)
		case m.err != nil:
			return nil, fmt.Errorf("setting up controller %q: %w", name, m.err)
		case m.instance == nil:
			return nil, fmt.Errorf("setting up controller %q: Strategy.New returned neither an instance nor an error", name)
		}
		return m.instance, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-watch.C:
		return nil, fmt.Errorf("setting up controller %q did not finish within %s: do not wait for anything there", name, deadline)
	}
}

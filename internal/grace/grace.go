// Package grace gives what has to be finished a little longer than what can be left as it is.
package grace

import (
	"context"
	"time"
)

// After returns a context that ends so long after another one does.
func After(ctx context.Context, period time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(period)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-later.Done():
		}
	})
	return later, func() {
		stop()
		cancel()
	}
}

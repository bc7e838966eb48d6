package leases

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// working is an instance that works in the background, too.
type working struct {
	remembering
	run  func(context.Context)
	stop context.CancelFunc
}

var _ core.Active = (*working)(nil)

// Start implements [core.Active].
func (w *working) Start(recorder core.EffectRecorder) []func() {
	ctx, stop := context.WithCancel(recording(context.Background(), recorder))
	w.stop = stop
	return []func(){func() { w.run(ctx) }}
}

// Stop implements [core.Active].
func (w *working) Stop() { w.stop() }

// waiting returns the memory of a backlog.
func waiting(b *Backlog) map[string]string {
	memory := map[string]string{}
	for i, host := range b.Hosts() {
		memory[fmt.Sprintf("Sweeper.Later[%d]", i)] = host
	}
	return memory
}

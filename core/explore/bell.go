package explore

import (
	"runtime"
	"sync/atomic"
)

// bell is how the goroutines of a crew call each other. Who waits for it listens for a while before he goes to sleep: to be
// woken takes longer than most of what there is to wait for. One goroutine may wait at a time.
type bell struct {
	rung   atomic.Uint64
	asleep atomic.Bool
	wake   chan struct{}
}

func newBell() *bell { return &bell{wake: make(chan struct{}, 1)} }

// ring rings the bell once more.
func (b *bell) ring() {
	b.rung.Add(1)
	if b.asleep.Swap(false) {
		b.wake <- struct{}{}
	}
}

// listening is how often somebody listens before he goes to sleep: about a tenth of a millisecond. Now and then
// others are let before.
const (
	listening = 1 << 15
	lettingGo = 1 << 8
)

// await waits until the bell was rung so many times, all in all.
func (b *bell) await(times uint64) {
	for i := range listening {
		if b.rung.Load() >= times {
			return
		}
		if i%lettingGo == lettingGo-1 {
			runtime.Gosched()
		}
	}
	for b.rung.Load() < times {
		b.asleep.Store(true)
		if b.rung.Load() >= times && b.asleep.Swap(false) {
			return
		}
		<-b.wake
	}
}

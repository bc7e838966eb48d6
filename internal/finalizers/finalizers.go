// Package finalizers keeps finalizers from running.
package finalizers

import (
	"runtime"
	"sync"
	"time"
)

// End ends the goroutine of the Go runtime that runs finalizers: none runs from here on in this process, and what has
// one is not freed. Cleanups, which files have since Go 1.25, go on.
//
// That goroutine is in no bubble of testing/synctest. A finalizer that uses a channel of one, as caches that stop their
// own goroutines do, would end the process, and no code can keep it from that. Nor can it be told which finalizers do.
func End() { once.Do(end) }

// There is one such goroutine in a process.
var once sync.Once

func end() {
	ended := make(chan struct{})
	runtime.SetFinalizer(new(last), func(*last) {
		defer close(ended)
		runtime.Goexit()
	})
	for range attempts {
		runtime.GC()
		select {
		case <-ended:
			return
		case <-time.After(patience):
		}
	}
}

// last is what nobody refers to. What is smaller and has no pointer may be allocated together with other things, and
// never be freed.
type last struct{ _ *last }

// One collection finds what nobody refers to, unless one is going on, and the finalizers before this one take a while.
const attempts, patience = 100, 10 * time.Millisecond

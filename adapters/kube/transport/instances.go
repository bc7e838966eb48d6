package transport

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Instances are the instances of a system, each in a bubble of virtual time of its own. Programs keep clients in
// variables that all instances share, such as those of a package: what such a client is asked belongs to the instance
// whose code asks, and not to the one whose set-up has made the client last. The zero value knows none.
type Instances struct {
	mu sync.Mutex
	by map[uint64]weak.Pointer[Current]
	// made counts the instances, and latest is the number of the one whose code went on last, in a run that has not
	// ended: the code of one runs at a time, unless checks run side by side. It is 0 where that is open.
	made, latest atomic.Uint64
	// shared tells that code of one was seen to use the client of another.
	shared atomic.Bool
}

// goesOn notes that the code of an instance runs from here on.
func (i *Instances) goesOn(c *Current) {
	if i != nil {
		i.latest.Store(c.number.Load())
	}
}

// add notes that what is asked in the bubble of the calling goroutine belongs to an instance, for as long as there is
// that instance.
func (i *Instances) add(c *Current) {
	if i == nil {
		return
	}
	if c.number.Load() == 0 {
		c.number.Store(i.made.Add(1))
	}
	i.goesOn(c)
	bubble := goroutine.Bubble()
	if bubble == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.by[bubble].Value() == c {
		return
	}
	if i.by == nil {
		i.by = map[uint64]weak.Pointer[Current]{}
	}
	i.by[bubble] = weak.Make(c)
	runtime.AddCleanup(c, i.forget, bubble)
}

// forget forgets a bubble whose instance is gone.
func (i *Instances) forget(bubble uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.by[bubble].Value() == nil {
		delete(i.by, bubble)
	}
}

// ends notes that the run of an instance has ended. What it left behind goes on when time passes, and nobody says so.
func (i *Instances) ends(c *Current) {
	if i != nil {
		i.latest.CompareAndSwap(c.number.Load(), 0)
	}
}

// asking returns the instance whose code calls: the given one, unless the calling goroutine is in the bubble of another
// one. To find that out takes longer than most calls, so until a client is seen to be shared it is not done for the
// client of the instance whose code runs.
func (i *Instances) asking(c *Current) *Current {
	if i == nil {
		return c
	}
	if latest := i.latest.Load(); latest != 0 && latest == c.number.Load() && !i.shared.Load() {
		return c
	}
	bubble := goroutine.Bubble()
	i.mu.Lock()
	defer i.mu.Unlock()
	other := i.by[bubble].Value()
	if other == nil || other == c {
		return c
	}
	i.shared.Store(true)
	return other
}

package transport

import (
	"runtime"
	"sync"
	"weak"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Instances are the instances of a system, each in a bubble of virtual time of its own. Programs keep clients in variables that all instances share, such as those of a package: what such a
// client is asked belongs to the instance whose code asks, and not to the one whose set-up has made the client last. The zero value knows none.
type Instances struct {
	mu sync.Mutex
	by map[uint64]weak.Pointer[Current]
}

// add notes that what is asked in the bubble of the calling goroutine belongs to an instance, for as long as there is that instance.
func (i *Instances) add(c *Current) {
	if i == nil {
		return
	}
	_, bubble := goroutine.Current()
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

// asking returns the instance whose code calls: the given one, unless the calling goroutine is in the bubble of another one.
func (i *Instances) asking(c *Current) *Current {
	if i == nil {
		return c
	}
	_, bubble := goroutine.Current()
	i.mu.Lock()
	defer i.mu.Unlock()
	if other := i.by[bubble].Value(); other != nil {
		return other
	}
	return c
}

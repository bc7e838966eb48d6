package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/orrery-dev/orrery"
)

// progressInterval is how long a progress line stays at least.
const progressInterval = 100 * time.Millisecond

// progressLine is a line on a terminal that says how far a search has come.
type progressLine struct {
	to    io.Writer
	shown bool
	next  time.Duration
}

// show writes the line anew, but not too often.
func (l *progressLine) show(p orrery.Progress) {
	if p.Elapsed < l.next {
		return
	}
	l.next = p.Elapsed + progressInterval
	l.shown = true
	fmt.Fprintf(l.to, "\r\x1b[K%d states, %.0f per second, %d to visit, depth %d, %d MiB",
		p.States, p.StatesPerSecond, p.Frontier, p.Depth, p.MemoryBytes>>20)
	if estimate := p.Estimate.String(); estimate != "" {
		fmt.Fprintf(l.to, ", %s", estimate)
	}
}

// clear takes the line away.
func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.to, "\r\x1b[K")
	}
}

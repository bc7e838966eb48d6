package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/orrery-dev/orrery"
)

const (
	// progressInterval is how long a progress line stays at least on a terminal.
	progressInterval = 100 * time.Millisecond
	// logInterval is how long it takes to the next line where lines stay, as in the log of a build.
	logInterval = 10 * time.Second
)

// progressLine is a line that says how far a search has come: one that changes on a terminal, and elsewhere one after the other.
type progressLine struct {
	to    io.Writer
	stays bool
	shown bool
	next  time.Duration
}

// newProgressLine returns a line that changes, or one whose versions stay: the first of these comes after a while.
func newProgressLine(to io.Writer, changes bool) *progressLine {
	if changes {
		return &progressLine{to: to}
	}
	return &progressLine{to: to, stays: true, next: logInterval}
}

// show writes the line anew, but not too often.
func (l *progressLine) show(p orrery.Progress) {
	if p.Elapsed < l.next {
		return
	}
	line := fmt.Sprintf("%d states, %.0f per second, %d to visit, depth %d, %d MiB", p.States, p.StatesPerSecond, p.Frontier, p.Depth, p.MemoryBytes>>20)
	if estimate := p.Estimate.String(); estimate != "" {
		line += ", " + estimate
	}
	if l.stays {
		l.next = p.Elapsed + logInterval
		fmt.Fprintf(l.to, "orrery: after %s: %s\n", p.Elapsed.Round(time.Second), line)
		return
	}
	l.next = p.Elapsed + progressInterval
	l.shown = true
	fmt.Fprint(l.to, "\r\x1b[K"+line)
}

// clear takes the line away, if it does not stay.
func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.to, "\r\x1b[K")
	}
}

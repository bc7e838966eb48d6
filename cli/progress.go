package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/text"
)

const (
	// progressInterval is how long a progress line stays at least on a terminal.
	progressInterval = 100 * time.Millisecond
	// logInterval is how long it takes to the next line where lines stay, as in the log of a build.
	logInterval = 10 * time.Second
)

// progressLine is a line that says how far a search has come: one that changes on a terminal, and elsewhere one after
// the other.
type progressLine struct {
	to    io.Writer
	stays bool
	// width returns how many columns there are, 0 if nobody knows. A line that is longer than that would be there more
	// than once.
	width func() int
	shown bool
	next  time.Duration
}

// newProgressLine returns a line that changes, or one whose versions stay: the first of these comes after a while.
func newProgressLine(to io.Writer, changes bool, width func() int) *progressLine {
	if changes {
		return &progressLine{to: to, width: width}
	}
	return &progressLine{to: to, stays: true, next: logInterval}
}

// show writes the line anew, but not too often.
func (l *progressLine) show(p orrery.Progress) {
	if p.Elapsed < l.next {
		return
	}
	line := fmt.Sprintf("%s states, %s per second, %s to visit, depth %s, %s runs of code, %s MiB",
		text.Count(p.States), text.Count(int(p.StatesPerSecond)), text.Count(p.Frontier), text.Count(p.Depth), text.Count(p.Runs), text.Count(int(p.MemoryBytes>>20)))
	if estimate := p.Estimate.String(); estimate != "" {
		line += ", " + estimate + left(p)
	}
	if l.stays {
		l.next = p.Elapsed + logInterval
		fmt.Fprintf(l.to, "orrery: after %s: %s\n", p.Elapsed.Round(time.Second), line)
		return
	}
	l.next = p.Elapsed + progressInterval
	l.shown = true
	fmt.Fprint(l.to, "\r\x1b[K"+l.fitted(line))
}

// fitted returns as much of a line as there is room for. All of it is ASCII but for a sign of growth, which takes one
// column, too.
func (l *progressLine) fitted(line string) string {
	if l.width == nil {
		return line
	}
	runes, columns := []rune(line), l.width()
	if columns <= 1 || len(runes) < columns {
		return line
	}
	return string(runes[:columns-2]) + "…"
}

// left says how long it takes if as many states are expected as it is said and they come as fast as those before,
// nothing if that is not known.
func left(p orrery.Progress) string {
	if !p.Estimate.Ends || p.StatesPerSecond < 1 {
		return ""
	}
	const longest = 1000 * time.Hour
	seconds := p.Estimate.More / p.StatesPerSecond
	if seconds >= longest.Seconds() {
		return " (more than " + strings.TrimSuffix(longest.String(), "0m0s") + ")"
	}
	return " (about " + max(time.Second, time.Duration(seconds*float64(time.Second)).Round(time.Second)).String() + ")"
}

// clear takes the line away, if it does not stay.
func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.to, "\r\x1b[K")
	}
}

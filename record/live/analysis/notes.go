package analysis

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live"
)

// Notes says what recordings do not hold.
type Notes struct {
	Said []string `json:"said,omitempty"`
	// Gaps are entries that are missing, by reason.
	Gaps []GapNote `json:"gaps,omitempty"`
}

// GapNote says how much is missing for a reason.
type GapNote struct {
	Reason string `json:"reason"`
	Times  int    `json:"times"`
	// Entries is how many entries are missing, as far as they were counted.
	Entries int           `json:"entries"`
	For     time.Duration `json:"for_ns"`
}

// Text writes the notes, each on a line.
func (n Notes) Text(w io.Writer) {
	for _, line := range n.Lines() {
		fmt.Fprintf(w, "Note: %s.\n", line)
	}
}

// Lines returns the notes in words.
func (n Notes) Lines() []string {
	var lines []string
	for _, said := range n.Said {
		lines = append(lines, clean(said))
	}
	for _, g := range n.Gaps {
		what := "nobody counted what happened"
		if g.Entries > 0 {
			what = fmt.Sprintf("%d entries are missing", g.Entries)
		}
		lines = append(lines, fmt.Sprintf("%s in %d gaps (%s) of %s in all", what, g.Times, clean(g.Reason), Duration(g.For)))
	}
	return lines
}

// noter collects notes.
type noter struct{ Notes }

func (n *noter) say(format string, args ...any) {
	if said := fmt.Sprintf(format, args...); !slices.Contains(n.Said, said) && len(n.Said) < 100 {
		n.Said = append(n.Said, said)
	}
}

func (n *noter) gap(g live.Gap) {
	i := slices.IndexFunc(n.Gaps, func(have GapNote) bool { return have.Reason == g.Reason })
	if i < 0 {
		i = len(n.Gaps)
		n.Gaps = append(n.Gaps, GapNote{Reason: g.Reason})
	}
	n.Gaps[i].Times++
	n.Gaps[i].Entries += g.Entries
	n.Gaps[i].For += g.Until - g.At
}

func (n *noter) unseen(u live.Unseen) {
	about := ""
	if u.Controller != "" {
		about = "controller " + u.Controller + ": "
	}
	n.say("%s%s", about, u.Reason)
}

// clean returns a text from a recording as it can be shown on a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !strconv.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Duration returns a time as people read it, as all answers write it.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

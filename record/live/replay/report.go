package replay

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live/analysis"
)

// Report says what became of the reconciles of recordings.
type Report struct {
	System string `json:"system"`
	// Reconciles is how many are recorded with their ends, and Same how many of them are the same today.
	Reconciles int `json:"reconciles"`
	Same       int `json:"same"`
	// Parted is how many part, and Partings are the first of them.
	Parted   int       `json:"parted"`
	Partings []Parting `json:"partings,omitempty"`
	// Missed are those that were not replayed, by reason.
	Missed []Missed `json:"missed,omitempty"`
	// Open is how many were under way when a recording ended. They are not among Reconciles.
	Open int `json:"open,omitempty"`
	// Notes say what the recordings do not hold.
	Notes analysis.Notes `json:"-"`
}

// Missed is how many reconciles were not replayed for a reason.
type Missed struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// First is the first of them.
	First string `json:"first"`
}

// Parting is a reconcile that goes another way than recorded.
type Parting struct {
	Process    string `json:"process"`
	Controller string `json:"controller"`
	Request    string `json:"request"`
	// At is when it began, since the recording of the process did, and Number that of its entry.
	At     time.Duration `json:"at_ns"`
	Number uint64        `json:"number"`
	// Step is the number of the call that differs, from 1; one more than the calls if the end does.
	Step int `json:"step"`
	// Recorded and Now say what was done and what is done today.
	Recorded string       `json:"recorded"`
	Now      string       `json:"now"`
	Fields   []Difference `json:"fields,omitempty"`
	// Hint says what else may be the reason, empty for nothing.
	Hint string `json:"hint,omitempty"`
}

// toldPartings is how many partings are told.
const toldPartings = 20

// MissedReconciles is how many reconciles were not replayed.
func (r *Report) MissedReconciles() int {
	n := 0
	for _, m := range r.Missed {
		n += m.Count
	}
	return n
}

// miss counts a reconcile that was not replayed.
func (r *Report) miss(of string, reason string) {
	i := slices.IndexFunc(r.Missed, func(m Missed) bool { return m.Reason == reason })
	if i < 0 {
		const enough = 50
		if len(r.Missed) == enough {
			reason = "other reasons"
			i = slices.IndexFunc(r.Missed, func(m Missed) bool { return m.Reason == reason })
		}
		if i < 0 {
			r.Missed = append(r.Missed, Missed{Reason: reason, First: of})
			i = len(r.Missed) - 1
		}
	}
	r.Missed[i].Count++
}

// part counts a reconcile that parts.
func (r *Report) part(p Parting) {
	if r.Parted++; len(r.Partings) < toldPartings {
		r.Partings = append(r.Partings, p)
	}
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) {
	for _, p := range r.Partings {
		p.Text(w)
		fmt.Fprintln(w)
	}
	if more := r.Parted - len(r.Partings); more > 0 {
		fmt.Fprintf(w, "%s more.\n\n", count(more, "reconcile parts", "reconciles part"))
	}
	fmt.Fprintf(w, "%d of %s the same calls and the same result today.\n", r.Same, count(r.Reconciles, "recorded reconcile has", "recorded reconciles have"))
	if r.Parted > 0 {
		fmt.Fprintf(w, "%s another way.\n", count(r.Parted, "reconcile goes", "reconciles go"))
	}
	if missed := r.MissedReconciles(); missed > 0 {
		fmt.Fprintf(w, "%s not replayed:\n", count(missed, "reconcile was", "reconciles were"))
		for _, m := range r.Missed {
			fmt.Fprintf(w, "    %d: %s (the first: %s)\n", m.Count, clean(m.Reason), clean(m.First))
		}
	}
	if r.Open > 0 {
		fmt.Fprintf(w, "%s under way when a recording ended.\n", count(r.Open, "reconcile was", "reconciles were"))
	}
	r.Notes.Text(w)
}

// Text writes the parting for people.
func (p Parting) Text(w io.Writer) {
	fmt.Fprintf(w, "%s reconciles %s, %.3fs after the recording of %s began: step %d is another one.\n",
		clean(p.Controller), clean(p.Request), p.At.Seconds(), clean(p.Process), p.Step)
	fmt.Fprintf(w, "    recorded: %s\n    today:    %s\n", clean(p.Recorded), clean(p.Now))
	for _, d := range p.Fields {
		fmt.Fprintf(w, "        %s: %s recorded, %s today\n", clean(d.Field), orNothing(d.Recorded), orNothing(d.Now))
	}
	if p.Hint != "" {
		fmt.Fprintf(w, "    %s\n", clean(p.Hint))
	}
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return clean(text)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// clean returns a text from a recording as it can be shown on a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !strconv.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

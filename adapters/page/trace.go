package page

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// ErrFull is the error where a page has as many answers as a browser shows with ease.
var ErrFull = errors.New("the page is full")

const (
	// mostAnswers is how many answers a page has, and mostRunes how long all their texts may be.
	mostAnswers = 250
	mostRunes   = 2 << 20
	// mostLines is how many calls or changes of an answer are shown, fewLines how many of them at once, and mostText
	// how long each may be.
	mostLines = 100
	fewLines  = 12
	mostText  = 500
)

// Trace is a page with the answers to a question about recordings. It is bounded: see [Trace.Add].
type Trace struct {
	view  traceView
	names []string // of the controllers, in the order in which they come
	runes int
}

// traceView is what the page shows.
type traceView struct {
	frame
	Question, About string
	// LeftOut says what is not in the page, empty if all is, and None what to say if there is no answer.
	LeftOut, None string
	Lanes         []lane
	Cards         []card
	Controllers   []idleView
	Episodes      []episodeView
	Causes        []causeView
	Notes         []string
	Keys          bool
}

// card is an answer about a reconcile, or a field.
type card struct {
	Lane                int
	who                 string
	Who, About, At      string
	Why                 []string
	Lines, More         []cardLine
	Omitted             int
	Wrong, Result, Mild string
}

// cardLine is a call, or a change of a field.
type cardLine struct {
	At, Text, By string
	Wrote        bool
}

// idleView is a controller with its idle reconciles.
type idleView struct {
	analysis.IdleController
	Took string
	// Share is the share of the idle ones in percent.
	Share int
}

// episodeView is an object that took some time, with the parts of that for a bar.
type episodeView struct {
	analysis.Episode
	From, Length, Work, Calls, Wait string
	Calling, Working, All           float64
}

// causeView is a version or a reconcile in a chain of causes, below what it caused.
type causeView struct {
	Lane  int
	who   string
	Deep  int
	Title string
	// Version tells that it is a version of an object.
	Version bool
	Lines   []string
}

// NewTrace begins a page for the answers to a question, which is about something, or all if that is empty.
func NewTrace(question, about string) *Trace {
	return &Trace{view: traceView{Question: question, About: story.Clean(about)}}
}

// Add adds an answer: an [analysis.Shown], [analysis.StaleRead], [analysis.Fight], [analysis.IdleController],
// [analysis.Episode] or [analysis.Answer]. The error is [ErrFull] if the page has no room for it.
func (t *Trace) Add(answer any) error {
	if len(t.view.Cards)+len(t.view.Controllers)+len(t.view.Episodes) >= mostAnswers || t.runes >= mostRunes {
		return ErrFull
	}
	switch a := answer.(type) {
	case analysis.Shown:
		t.view.Cards = append(t.view.Cards, t.shown(a))
	case analysis.StaleRead:
		t.view.Cards = append(t.view.Cards, t.stale(a))
	case analysis.Fight:
		t.view.Cards = append(t.view.Cards, t.fight(a))
	case analysis.IdleController:
		a.Controller = t.text(a.Controller)
		for i, cause := range a.Woken {
			a.Woken[i].Cause = t.text(cause.Cause)
		}
		t.view.Controllers = append(t.view.Controllers, idleView{a, analysis.Duration(a.For), 100 * a.Idle / max(1, a.Reconciles)})
	case analysis.Episode:
		a.Process, a.Controller, a.Request = t.text(a.Process), t.text(a.Controller), t.text(a.Request)
		t.view.Episodes = append(t.view.Episodes, episodeView{
			Episode: a, From: analysis.Moment(a.At), Length: analysis.Duration(a.Took), Work: analysis.Duration(a.Working), Calls: analysis.Duration(a.Calling), Wait: analysis.Duration(a.Waiting),
			Calling: a.Calling.Seconds(), Working: a.Working.Seconds(), All: a.Took.Seconds(),
		})
	case analysis.Answer:
		t.view.About = t.text(a.Words())
		t.link(a.Last, 0)
	default:
		return fmt.Errorf("no page has answers such as %T", answer)
	}
	return nil
}

// LeaveOut says in a sentence what is not in the page, and how to have it.
func (t *Trace) LeaveOut(what string) { t.view.LeftOut = story.Clean(what) }

// Write writes the page. If there is no answer, it says none.
func (t *Trace) Write(w io.Writer, none string, notes analysis.Notes) error {
	frame, err := newFrame()
	if err != nil {
		return err
	}
	page, err := template.New("trace.html").ParseFS(assets, "assets/head.html", "assets/trace.html")
	if err != nil {
		return err
	}
	v := t.view
	v.frame, v.None = frame, none
	for _, note := range notes.Lines() {
		v.Notes = append(v.Notes, story.Clean(note))
	}
	v.Lanes = lanesOf(t.names)
	for i := range v.Cards {
		v.Cards[i].Lane = laneIn(v.Lanes, v.Cards[i].who)
	}
	for i, cause := range v.Causes {
		if cause.who != "" {
			v.Causes[i].Lane = laneIn(v.Lanes, cause.who)
		}
	}
	v.Keys = len(v.Cards)+len(v.Causes) > 1
	return page.Execute(w, v)
}

// text returns a text of a recording as it can be shown, and counts it.
func (t *Trace) text(s string) string {
	runes := []rune(story.Clean(s))
	if len(runes) > mostText {
		runes = append(runes[:mostText-1], '…')
	}
	t.runes += len(runes) + 40 // with what is around it
	return string(runes)
}

// meets notes a controller, which gets a column.
func (t *Trace) meets(name string) string {
	if name != "" && len(t.names) <= mostLanes && !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	return name
}

// fill adds lines to a card, as many as are shown.
func (c *card) fill(lines []cardLine, omitted int) {
	c.Lines, c.Omitted = lines, omitted
	if len(lines) > fewLines {
		c.Lines, c.More = lines[:fewLines], lines[fewLines:]
	}
}

// in adds where a process is, if there are several.
func in(process string) string {
	if process == "" {
		return ""
	}
	return " in " + process
}

func (t *Trace) shown(s analysis.Shown) card {
	c := card{At: analysis.Moment(s.At)}
	if caller := s.Caller(); caller != "" {
		c.who = t.meets(cmp.Or(s.Client, "no reconcile"))
		c.Mild = t.text(caller + in(s.Process))
	} else {
		c.who = t.meets(s.Controller)
		c.Who, c.About = t.text(s.Controller), t.text(" "+s.Request+in(s.Process))
		for _, woken := range s.Woken {
			c.Why = append(c.Why, t.text(woken.String()))
		}
		switch {
		case s.MoreWoken > 0:
			c.Why = append(c.Why, fmt.Sprintf("%d more", s.MoreWoken))
		case len(s.Woken) == 0:
			c.Why = []string{"not recorded"}
		}
		c.Mild = s.Queued()
		if ending := t.text(s.Ending()); s.Error != "" || s.Panicked {
			c.Wrong = ending
		} else {
			c.Result = ending
		}
	}
	c.fill(t.calls(s.Calls, ""))
	return c
}

// calls returns the first calls as lines, and how many more there are.
func (t *Trace) calls(calls []analysis.ShownCall, before string) (lines []cardLine, omitted int) {
	shown := calls[:min(len(calls), mostLines)]
	for _, call := range shown {
		lines = append(lines, cardLine{At: analysis.Moment(call.At), Text: t.text(before + call.String()), Wrote: call.Changed})
	}
	return lines, len(calls) - len(shown)
}

func (t *Trace) stale(s analysis.StaleRead) card {
	c := card{who: t.meets(s.Controller), Who: t.text(s.Controller), About: t.text(" " + s.Request + in(s.Process)), At: analysis.Moment(s.At), Why: []string{t.text(s.Words())}}
	c.fill(t.calls(s.Writes, ""))
	if len(s.Writes) == 0 {
		c.Result = analysis.WroteNothing
	}
	return c
}

func (t *Trace) fight(f analysis.Fight) card {
	c := card{Who: t.text(f.Object.String()), About: t.text(": " + f.Field), Mild: f.Words()}
	var lines []cardLine
	for _, change := range f.Changes {
		value := change.Value
		if value == "" {
			value = "nothing"
		}
		t.meets(change.Writer)
		lines = append(lines, cardLine{At: t.text("@" + change.ResourceVersion), Text: t.text(value), By: t.text(change.Writer)})
	}
	c.fill(lines, 0)
	return c
}

// link adds a version and what led to it. What has one cause is as deep as that, so that a long chain stays narrow.
func (t *Trace) link(l *analysis.Link, deep int) {
	if l == nil {
		return
	}
	v := causeView{Deep: min(deep, deepest), Title: t.text(l.Words()), Version: true}
	if l.Writer == nil {
		v.Lines = []string{t.text(l.Origin())}
	}
	t.view.Causes = append(t.view.Causes, v)
	if l.Writer != nil {
		t.writer(l.Writer, deep)
	}
}

// deepest is how far causes are moved to the right at most.
const deepest = 6

func (t *Trace) writer(w *analysis.Writer, deep int) {
	v := causeView{who: t.meets(w.Controller), Deep: min(deep, deepest), Title: t.text(w.Words())}
	if w.Controller == "" {
		v.who = t.meets(w.Client)
	}
	if w.Told {
		v.Lines = append(v.Lines, analysis.CausesTold)
	}
	for _, cause := range w.Causes {
		v.Lines = append(v.Lines, t.text(cause.Words()))
	}
	if w.Cut {
		v.Lines = append(v.Lines, analysis.CausesCut)
	}
	t.view.Causes = append(t.view.Causes, v)
	if len(w.Causes) > 1 {
		deep++
	}
	for _, cause := range w.Causes {
		t.link(cause.Link, deep)
		if cause.Before != nil {
			t.writer(cause.Before, deep)
		}
	}
}

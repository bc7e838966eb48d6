package analysis

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// Filter says what is shown. An empty one shows all.
type Filter struct {
	// Controller is a controller, or a client of which no reconciles are known.
	Controller string
	// Object is an object as users name it, see [Names].
	Object string
}

// Names reports whether a text names an object: as "kind/namespace/name", "kind/name" without a namespace, or
// "namespace/name" of any kind. The kind may be without its group, and in lower case.
func Names(text string, key core.Key) bool {
	return slices.ContainsFunc(namesOf(key), func(name string) bool { return strings.EqualFold(name, text) })
}

// namesOf returns all names of an object.
func namesOf(key core.Key) []string {
	short, _, _ := strings.Cut(string(key.Kind), ".")
	within := key.Name
	if key.Namespace != "" {
		within = key.Namespace + "/" + key.Name
	}
	return []string{string(key.Kind) + "/" + within, short + "/" + within, within}
}

// Show tells each reconcile when it ends: why it began, what it asked and wrote, and how it ended.
func Show(sources []Source, filter Filter, tell func(Shown) error) (Notes, error) {
	var events recent
	var files *outlines
	if filter != (Filter{}) { // otherwise all has to be unpacked anyway
		files = &outlines{}
		defer files.close()
	}
	return read(sources, visitor{
		outlines: files,
		entry: func(p *process, entry live.Entry) error {
			switch e := entry.(type) {
			case live.Event:
				events.add(e.N, Woken{By: live.ByEvent, Event: e.Type, Object: pointer(p.version(e.Object))})
			case live.Call:
				if p.running[e.Reconcile] == nil {
					return filter.tellCall(p, e, tell)
				}
			}
			return nil
		},
		reconcile: func(p *process, r *Reconcile) error {
			if !filter.fits(r) {
				return nil
			}
			return tell(showReconcile(p, p.complete(r), events.known))
		},
		ends: func(*process) error {
			events = recent{}
			return nil
		},
	})
}

// tellCall tells a call of which it is not known in which reconcile it was made, or which came when that had ended.
func (f Filter) tellCall(p *process, e live.Call, tell func(Shown) error) error {
	alone := &Reconcile{Process: p.label, Begin: live.Begin{N: e.N, At: e.At, Controller: e.Client}, Calls: []Call{{e, p.versions(e.Answer), p.unchanged}}}
	if !f.fits(alone) {
		return nil
	}
	if len(p.outlines) > 0 {
		alone.Calls[0] = p.whole(alone.Calls[0])
	}
	shown := showReconcile(p, alone, nil)
	shown.Controller, shown.Client, shown.Outside, shown.Took, shown.Unfinished = "", e.Client, e.Client == "", e.Took, false
	shown.Ended = e.Reconcile != 0
	return tell(shown)
}

func pointer(v Version) *Version { return &v }

// recent are the last events of a process, so many that few requests wait in a queue for longer.
type recent struct {
	known map[uint64]Woken
	order []uint64
	next  int
}

// recentLimit is how many events are kept.
const recentLimit = 1 << 17

func (r *recent) add(n uint64, w Woken) {
	if r.known == nil {
		r.known = map[uint64]Woken{}
	}
	r.known[n] = w
	if len(r.order) < recentLimit {
		r.order = append(r.order, n)
		return
	}
	delete(r.known, r.order[r.next])
	r.order[r.next] = n
	r.next = (r.next + 1) % recentLimit
}

// fits reports whether a reconcile is to be shown.
func (f Filter) fits(r *Reconcile) bool {
	if f.Controller != "" && f.Controller != r.Begin.Controller {
		return false
	}
	if f.Object == "" || strings.EqualFold(f.Object, r.Begin.Request) {
		return true
	}
	return slices.ContainsFunc(r.Calls, func(c Call) bool {
		return Names(f.Object, c.Object) || slices.ContainsFunc(c.Versions, func(v Version) bool { return Names(f.Object, v.Key) })
	})
}

// Shown is a reconcile as it is shown.
type Shown struct {
	// Header is that of the recording, with the time since which all others are told.
	Header     live.Header   `json:"-"`
	Process    string        `json:"process,omitempty"`
	At         time.Duration `json:"at_ns"`
	Took       time.Duration `json:"took_ns"`
	Waited     time.Duration `json:"waited_ns"`
	Controller string        `json:"controller"`
	Request    string        `json:"request"`
	// Client is who made the call, as the API server knows it, where it is not known in which reconcile.
	Client string `json:"client,omitempty"`
	// Outside tells that it is a call outside of a reconcile, and Ended that it is one of a reconcile that had ended,
	// or whose beginning is not recorded.
	Outside   bool        `json:"outside,omitempty"`
	Ended     bool        `json:"ended,omitempty"`
	ID        string      `json:"id,omitempty"`
	Woken     []Woken     `json:"woken"`
	MoreWoken int         `json:"more_woken,omitempty"`
	Calls     []ShownCall `json:"calls"`
	// Unfinished tells that the end is not in the recording.
	Unfinished bool          `json:"unfinished,omitempty"`
	Error      string        `json:"error,omitempty"`
	Terminal   bool          `json:"terminal,omitempty"`
	Panicked   bool          `json:"panicked,omitempty"`
	Requeue    bool          `json:"requeue,omitempty"`
	After      time.Duration `json:"after_ns,omitempty"`
}

// Woken is a reason why a reconcile began.
type Woken struct {
	By string `json:"by"`
	// Event is what happened to the object, if it was an event that is known.
	Event  string   `json:"event,omitempty"`
	Object *Version `json:"object,omitempty"`
}

// String says it in words.
func (w Woken) String() string {
	switch {
	case w.Object != nil:
		return w.Event + " " + w.Object.String()
	case w.By == live.ByEvent:
		return "an event that is not known any more"
	case w.By == live.ByResult:
		return "the last reconcile asked for it"
	case w.By == live.ByFailure:
		return "the last reconcile failed"
	}
	return "other code queued it"
}

// Queued says how long the request was in the queue, empty if that is not known.
func (s Shown) Queued() string {
	if s.Waited <= 0 {
		return ""
	}
	return "after " + Duration(s.Waited) + " in the queue"
}

// ShownCall is a call as it is shown.
type ShownCall struct {
	At          time.Duration `json:"at_ns"`
	Took        time.Duration `json:"took_ns"`
	Verb        string        `json:"verb"`
	Object      core.Key      `json:"object"`
	Subresource string        `json:"subresource,omitempty"`
	Cached      bool          `json:"cached,omitempty"`
	Selected    string        `json:"selected,omitempty"`
	Base        string        `json:"base,omitempty"`
	Answer      []Version     `json:"answer,omitempty"`
	Changed     bool          `json:"changed,omitempty"`
	Failed      *live.Failure `json:"failed,omitempty"`
}

func showReconcile(p *process, r *Reconcile, events map[uint64]Woken) Shown {
	s := Shown{
		Header: p.header, Process: p.label, At: r.Begin.At, Took: r.took(), Waited: r.Begin.Waited, Controller: r.Begin.Controller, Request: r.Begin.Request, ID: r.Begin.ID,
		MoreWoken: r.Begin.MoreCauses, Unfinished: r.Done == nil, Woken: []Woken{}, Calls: []ShownCall{},
	}
	for _, cause := range r.Begin.Causes {
		woken := Woken{By: cause.By}
		if known, ok := events[cause.N]; ok && cause.By == live.ByEvent {
			woken = known
		}
		s.Woken = append(s.Woken, woken)
	}
	for _, c := range r.Calls {
		shown := ShownCall{
			At: c.At, Took: c.Took, Verb: c.Verb, Object: c.Object, Subresource: c.Subresource, Cached: c.Cached, Base: c.Base, Answer: c.Versions,
			Changed: c.changed(), Failed: c.Failed,
		}
		if sel := c.Selection; sel != nil {
			shown.Selected = strings.Trim(sel.Labels+","+sel.Fields, ",")
		}
		s.Calls = append(s.Calls, shown)
	}
	if d := r.Done; d != nil {
		s.Error, s.Terminal, s.Panicked, s.Requeue, s.After = d.Error, d.Terminal, d.Panicked, d.Requeue, d.After
	}
	return s
}

// Text writes a reconcile over several lines.
func (s Shown) Text(w io.Writer) {
	if who := s.Caller(); who != "" {
		if s.Process != "" {
			who += " in " + s.Process
		}
		for _, c := range s.Calls {
			fmt.Fprintf(w, "%s  %s, %s\n", at(c.At), clean(c.String()), clean(who))
		}
		return
	}
	fmt.Fprintf(w, "%s  %s %s", at(s.At), clean(s.Controller), clean(s.Request))
	if s.Process != "" {
		fmt.Fprintf(w, " in %s", clean(s.Process))
	}
	if queued := s.Queued(); queued != "" {
		fmt.Fprintf(w, ", %s", queued)
	}
	fmt.Fprintln(w)
	for _, woken := range s.Woken {
		fmt.Fprintf(w, "            because: %s\n", clean(woken.String()))
	}
	if s.MoreWoken > 0 {
		fmt.Fprintf(w, "            because: %d more\n", s.MoreWoken)
	}
	if len(s.Woken) == 0 {
		fmt.Fprintln(w, "            because: not recorded")
	}
	for _, c := range s.Calls {
		fmt.Fprintf(w, "%s    %s\n", at(c.At), clean(c.String()))
	}
	fmt.Fprintf(w, "            %s\n", clean(s.Ending()))
}

// Caller says whose call it is if it is none of a reconcile that is known, and nothing otherwise.
func (s Shown) Caller() string {
	switch {
	case s.Client != "":
		return "by " + s.Client
	case s.Ended:
		return "of a reconcile that had ended, or whose beginning is not recorded"
	case s.Outside:
		return "outside of a reconcile"
	}
	return ""
}

// Ending says how a reconcile ended.
func (s Shown) Ending() string {
	switch took := "after " + Duration(s.Took); {
	case s.Unfinished:
		return "its end is not recorded"
	case s.Panicked:
		return "panicked " + took
	case s.Terminal:
		return "failed for good " + took + ": " + s.Error
	case s.Error != "":
		return "failed " + took + ": " + s.Error
	case s.After > 0:
		return "done " + took + ", to be run again after " + Duration(s.After)
	case s.Requeue:
		return "done " + took + ", to be run again"
	default:
		return "done " + took
	}
}

// String says in a line what was asked, and what the answer was.
func (c ShownCall) String() string {
	var b strings.Builder
	b.WriteString(c.Verb + " " + strings.TrimSuffix(c.Object.String(), " "))
	if c.Subresource != "" {
		b.WriteString("/" + c.Subresource)
	}
	if c.Selected != "" {
		b.WriteString(" where " + c.Selected)
	}
	switch {
	case c.Failed != nil && c.Failed.Reason != "":
		b.WriteString(": " + c.Failed.Reason)
	case c.Failed != nil:
		b.WriteString(": " + c.Failed.Message)
	case c.Verb == live.List:
		fmt.Fprintf(&b, ": %d objects", len(c.Answer))
	case len(c.Answer) == 1 && c.Answer[0].ResourceVersion != "":
		b.WriteString(": @" + c.Answer[0].ResourceVersion)
	default:
		b.WriteString(": done")
	}
	switch {
	case c.Cached:
		b.WriteString(" (cache)")
	case c.Verb == live.Get || c.Verb == live.List:
	case c.Failed == nil && !c.Changed:
		b.WriteString(" (nothing changed)")
	}
	return b.String()
}

// at returns a time since the start of a recording in a column.
func at(d time.Duration) string { return fmt.Sprintf("%10s", Moment(d)) }

// Moment returns a time since the start of a recording, as all answers write it.
func Moment(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

package page

import (
	"slices"

	"github.com/orrery-dev/orrery/adapters/internal/story"
	"github.com/orrery-dev/orrery/core"
)

// finding is one of the findings.
type finding struct {
	core.Finding
	Of int
	// Common is the beginning that two runs share, and Runs are what follows, or the only run.
	Common *run
	Runs   []run
	// Lanes are the controllers that take steps, in the order of their first ones.
	Lanes []lane
}

// lane is the column of a controller.
type lane struct {
	Name   string
	Number int
}

// mostLanes is how many controllers have a column of their own. The others share the last one.
const mostLanes = 6

// run is a part of a run.
type run struct {
	Title string
	// Begins tells that the run begins here, not where another part ends.
	Begins bool
	Lanes  []lane
	Legs   []leg
	// Initial are the objects before the first step, those that the story is about, and Hidden counts the others.
	Initial []object
	Hidden  int
	// From is the state before the first step, for the script.
	From []object
}

// leg is a step, or several that change nothing.
type leg struct {
	Title string `json:"-"`
	Last  int    `json:"-"`
	Lane  int    `json:"-"`
	Steps []step `json:"steps"`
	// Idle tells that the steps change nothing.
	Idle bool `json:"-"`
	// Repeats says which steps repeat for ever if these are the first of them.
	Repeats string `json:"-"`
}

// step is a step. The script needs its number and its effects only.
type step struct {
	Number             int    `json:"number"`
	Before, Who, After string `json:"-"`
	Stale, Fault       string `json:"-"`
	Order, Result      string `json:"-"`
	Probe              bool   `json:"-"`
	// State is the number of the state after the step, and Linked tells that there is a page of it.
	State            core.StateID `json:"-"`
	Linked           bool         `json:"-"`
	Calls, MoreCalls []call       `json:"-"`
	// Logs are the lines that controllers log, and MissingLogs says which are left out.
	Logs           []logLine `json:"-"`
	MissingLogs    string    `json:"-"`
	Changes        []change  `json:"-"`
	Memory, Queued []string  `json:"-"`
	// Effects are the changes of all fields.
	Effects []effect `json:"effects"`
}

// call is a call with its answer.
type call struct {
	Text, Response, Behind, Handler string
	// At is where in the code it was made, empty if that is not told.
	At    string
	Wrote bool
}

// logLine is a line that a controller logs, with who logged it if that is not the reconcile.
type logLine struct {
	Text, By string
	Error    bool
}

// change is the difference that a step makes to an object.
type change struct {
	Object, Verb string
	Fields, More []field
	// Kept counts the fields that tell nothing.
	Kept int
}

// field is a field with its value, or its values before and after.
type field struct {
	Path     string `json:"path"`
	From, To string `json:"-"`
	Value    string `json:"value"`
}

// object is an object with its fields.
type object struct {
	Name   string  `json:"name"`
	Fields []field `json:"fields"`
	Kept   int     `json:"-"`
	// More are fields that are folded.
	More []field `json:"-"`
}

// effect is what a step does to an object: fields at or below some paths go, and others come.
type effect struct {
	Object  string   `json:"object"`
	Deleted bool     `json:"deleted"`
	Gone    []string `json:"gone"`
	Fields  []field  `json:"fields"`
}

// fewFields is how many fields of a change are shown at once.
const fewFields = 12

// findings are shown with links to states if pages of these are served.
func findings(all []core.Finding, served bool) []finding {
	var shown []finding
	for _, f := range all {
		shown = append(shown, findingOf(f, len(all)))
	}
	for _, f := range shown {
		for _, r := range f.Runs {
			r.link(served)
		}
		if f.Common != nil {
			f.Common.link(served)
		}
	}
	return shown
}

// link makes links to the states after the steps, if that is wanted.
func (r run) link(wanted bool) {
	for _, l := range r.Legs {
		for i := range l.Steps {
			l.Steps[i].Linked = wanted
		}
	}
}

func findingOf(f core.Finding, of int) finding {
	v := finding{Finding: f, Of: max(of, f.ID)}
	v.Lanes = lanes(f)
	if f.Other == nil {
		v.Runs = []run{v.run("", f.Trace, 0, len(f.Trace.Steps), true)}
		return v
	}
	common := story.Common(f.Trace, *f.Other)
	same := story.SameStart(f.Trace, *f.Other)
	if same {
		start := v.run("Both runs", f.Trace, 0, common, true)
		v.Common = &start
	}
	v.Runs = []run{
		v.run("First run", f.Trace, common, len(f.Trace.Steps), !same),
		v.run("Second run", *f.Other, common, len(f.Other.Steps), !same),
	}
	return v
}

// lanes returns the columns of a finding.
func lanes(f core.Finding) []lane {
	return lanesOf(story.Controllers(f))
}

// lanesOf returns columns for controllers.
func lanesOf(names []string) []lane {
	var all []lane
	for i, name := range names {
		if i == mostLanes-1 && len(names) > mostLanes {
			return append(all, lane{"others", i + 1})
		}
		all = append(all, lane{story.Clean(name), i + 1})
	}
	return all
}

// laneOf returns the column of a controller.
func (f finding) laneOf(controller string) int {
	return laneIn(f.Lanes, controller)
}

// laneIn returns the column of a controller among some: the last one if it has none of its own.
func laneIn(lanes []lane, controller string) int {
	i := slices.IndexFunc(lanes, func(l lane) bool { return l.Name == story.Clean(controller) })
	if i < 0 {
		return len(lanes)
	}
	return i + 1
}

// run returns the part of a run between two positions.
func (f finding) run(title string, trace core.Trace, from, to int, begins bool) run {
	r := run{Title: title, Begins: begins, Lanes: f.Lanes}
	changed := story.Changed(f.Finding)
	about := story.About(f.Finding, trace)
	r.Hidden = len(trace.Initial) - len(about)
	for _, o := range about {
		r.Initial = append(r.Initial, folded(o, changed[o.Key()]))
	}
	r.From = stateBefore(about, trace.Steps[:from])
	for _, l := range story.Legs(trace, from, to) {
		shown := leg{Title: l.String(), Last: l.Last + 1, Idle: story.Idle(trace.Steps[l.First]), Lane: f.laneOf(trace.Steps[l.First].Controller)}
		if l.First == trace.CycleStart {
			shown.Repeats = trace.Repetition()
		}
		for i := l.First; i <= l.Last; i++ {
			shown.Steps = append(shown.Steps, stepOf(i+1, trace.Steps[i]))
		}
		r.Legs = append(r.Legs, shown)
	}
	return r
}

// folded returns an object, of which only what the runs change is unfolded if there is much else.
func folded(o core.TraceObject, changed []string) object {
	telling, kept := story.Telling(core.Leaves("", o.Fields), changed)
	shown := object{Name: story.Clean(o.Key().String()), Kept: kept}
	if sorted, first := story.ChangedFirst(telling, changed); first > 0 && len(telling) > story.ManyFields {
		shown.Fields, shown.More = values(sorted[:first]), values(sorted[first:])
	} else {
		shown.Fields = values(telling)
	}
	return shown
}

// values returns fields with their values.
func values(leaves []core.Leaf) []field {
	var fields []field
	for _, l := range leaves {
		fields = append(fields, field{Path: story.Clean(l.Path), Value: valueOf(l.Value)})
	}
	return fields
}

func valueOf(value any) string { return story.Clean(core.FieldText(value)) }

// mostCalls is how many calls of a step are shown at once.
const mostCalls = 8

func stepOf(number int, s core.TraceStep) step {
	before, who, after := story.Deed(s)
	v := step{
		Number: number, Before: story.Clean(before), Who: story.Clean(who), After: story.Clean(after), Stale: story.Clean(story.Staleness(s)),
		Fault: story.Clean(s.Detail), Order: story.Clean(s.Order), Result: story.Clean(s.Result), Probe: s.Kind == "probe", State: s.To,
	}
	deciding := story.Deciding(s, mostCalls)
	for i, c := range s.Calls {
		shown := call{story.Clean(c.Call), story.Clean(c.Response), story.Behind(c), story.Clean(c.Handler), story.Clean(story.At(s, i)), c.Wrote}
		if slices.Contains(deciding, i) {
			v.Calls = append(v.Calls, shown)
		} else {
			v.MoreCalls = append(v.MoreCalls, shown)
		}
	}
	for _, l := range s.Logs {
		v.Logs = append(v.Logs, logLine{story.Clean(l.String()), story.Clean(l.By()), l.Level == "error"})
	}
	v.MissingLogs = story.Clean(s.MissingLogs)
	for _, c := range s.Changes {
		v.Changes = append(v.Changes, changeOf(c))
		v.Effects = append(v.Effects, effectOf(c))
	}
	for _, m := range story.Entries(s.Memory) {
		v.Memory = append(v.Memory, story.Clean(m.Controller+": "+m.String()))
	}
	for _, item := range s.Enqueued {
		v.Queued = append(v.Queued, story.Clean(item))
	}
	return v
}

func changeOf(c core.TraceChange) change {
	v := change{Object: story.Clean(c.Key().String()), Verb: c.Verb}
	var all []core.FieldChange
	for _, f := range c.Fields {
		if f.From != nil {
			all = append(all, f)
			continue
		}
		for _, l := range core.Leaves(f.Path, f.To) {
			all = append(all, core.FieldChange{Path: l.Path, To: l.Value})
		}
	}
	telling, kept := story.TellingChanges(all)
	v.Kept = kept
	for _, f := range telling {
		shown := field{Path: story.Clean(f.Path), From: valueOf(f.From), To: valueOf(f.To)}
		if len(v.Fields) < fewFields && (c.Verb != "created" || len(telling) <= fewFields) {
			v.Fields = append(v.Fields, shown)
		} else {
			v.More = append(v.More, shown)
		}
	}
	return v
}

// effectOf says what a change does to the leaves of an object.
func effectOf(c core.TraceChange) effect {
	e := effect{Object: story.Clean(c.Key().String()), Deleted: c.Verb == "deleted", Gone: []string{}, Fields: []field{}}
	if c.Verb == "created" {
		e.Gone = append(e.Gone, "")
	}
	for _, f := range c.Fields {
		e.Gone = append(e.Gone, story.Clean(f.Path))
		if f.To != nil {
			e.Fields = append(e.Fields, values(core.Leaves(f.Path, f.To))...)
		}
	}
	return e
}

package core

import "time"

// ReportSchema names the form of a [Report] as JSON. A later form that readers of this
// one would misread gets another name.
const ReportSchema = "orrery.report/v1"

// Unchecked are fields of a kind that are set in some object, and that nobody checked.
type Unchecked struct {
	Kind   Kind     `json:"kind"`
	Fields []string `json:"fields"`
	// Remedy is what the user can do to have them checked.
	Remedy string `json:"remedy"`
}

// Report is the result of a check as plain data. Its JSON form is a contract.
type Report struct {
	Schema string            `json:"schema"`
	System string            `json:"system"`
	Params map[string]string `json:"params"`

	Verdict Verdict `json:"verdict"`
	// Reasons say why the verdict is not [Holds] though nothing may have been found: what was cut, and what to do
	// about it.
	Reasons []string `json:"reasons"`

	// Reduction is "none", "por" or "symmetry".
	Reduction string `json:"reduction"`
	// Granularity is "reconcile" or "call".
	Granularity string `json:"granularity"`
	// Stale are the rules for views that may lag behind, Crashes and Failures how many faults there may be
	// in a run, and Doubles the controllers with two instances.
	Stale    []string `json:"stale,omitempty"`
	Crashes  int      `json:"crashes,omitempty"`
	Failures int      `json:"failures,omitempty"`
	// FaultsIn are the controllers to which faults are confined; empty means that they are not.
	FaultsIn []string `json:"faults_in,omitempty"`
	Doubles  []string `json:"doubles,omitempty"`
	// Orders is in how many orders the concurrent calls of a reconcile were answered at most, 0 if nothing was said
	// about it.
	Orders int `json:"orders,omitempty"`
	// Deadlines is how often, in a run, a time passed that is longer than whatever controllers wait for, and Awaiting
	// are the controllers that were found to wait for times; if there are none, none passed.
	Deadlines int      `json:"deadlines,omitempty"`
	Awaiting  []string `json:"awaiting,omitempty"`
	// Spans are the times in nanoseconds that passed besides that one, as controllers were found to wait for several.
	Spans []time.Duration `json:"spans,omitempty"`
	// Ordered tells that a controller was found to compare the names of versions, so that they are in the order of
	// their age.
	Ordered bool `json:"ordered,omitempty"`
	// Counted are the kinds of which what the world counts, such as the generation of an object, stays as it was
	// counted, as controllers were found to keep it where it is not looked for.
	Counted []Kind `json:"counted,omitempty"`
	// Adopted are the kinds that were found to matter to the world, and to somebody in it, such as those of which the
	// garbage collector has to look after objects.
	Adopted []Kind `json:"adopted,omitempty"`
	// Ages are groups of kinds of which controllers were found to compare when their objects were created, so that
	// these are of different ages.
	Ages [][]Kind `json:"ages,omitempty"`
	// AgesTurned tells that of the objects of such kinds that are there at the start, the last ones are the oldest.
	AgesTurned bool `json:"ages_turned,omitempty"`
	// Apart are kinds of which controllers were found to compare times that are written into objects, so that each of
	// these is seconds after those before.
	Apart []Kind `json:"times_apart,omitempty"`
	// Views are the views that may lag behind by the rules: of kinds that controllers watch, or read through their
	// caches.
	Views []ViewReport `json:"views,omitempty"`
	// Memory is what controllers were found to keep in memory from one run to the next, which is part of each state.
	// IgnoredMemory is what does not count of it.
	Memory        []MemoryReport `json:"memory,omitempty"`
	IgnoredMemory []string       `json:"ignored_memory,omitempty"`
	// Rungs are all conditions under which the system was checked, of which this is the report of one; there are none
	// if that was the only one.
	Rungs   []RungReport `json:"rungs,omitempty"`
	Workers int          `json:"workers"`
	// Compact tells that states were told apart by a hash of 64 bits, and MissedStateOdds how likely it is, about, that
	// one was missed for it.
	Compact         bool    `json:"compact,omitempty"`
	MissedStateOdds float64 `json:"missed_state_odds,omitempty"`
	Seed            int64   `json:"seed"`

	// States counts distinct stored states.
	States int `json:"states"`
	// Transitions counts every step taken from a stored state, those that lead to a known
	// state included.
	Transitions int `json:"transitions"`
	// StateParts are the parts of the state that there are most states because of, the first one first, of a search
	// that came to many states or to a limit.
	StateParts []StatePart `json:"state_parts,omitempty"`
	// StatesIdleFirst counts the states in which one controller was followed and no other, as its reconcile found
	// nothing to do, and whatever changes what it read queues it again.
	StatesIdleFirst int `json:"states_idle_first,omitempty"`
	// TerminalStates counts the states in which nothing can happen.
	TerminalStates int `json:"terminal_states"`
	// Outcomes counts the different ends that the system can settle in.
	Outcomes int `json:"outcomes"`
	// Depth is the length of the longest of the shortest runs to the states, for breadth-first search; the
	// length of the longest run that was followed, for depth-first search.
	Depth int `json:"depth"`

	// ReconcilesExecuted counts real runs of controller code, StepsFromTree the steps that needed none. What an earlier
	// check with the same memo has audited is not run for that again.
	ReconcilesExecuted int `json:"reconciles_executed"`
	StepsFromTree      int `json:"steps_from_tree"`
	// Behaviours counts the distinct runs (leaves of behaviour trees) that were learned.
	Behaviours int `json:"behaviours"`

	Elapsed         time.Duration `json:"-"`
	ElapsedMS       int64         `json:"elapsed_ms"`
	StatesPerSecond float64       `json:"states_per_second"`
	PeakRSSBytes    int64         `json:"peak_rss_bytes"`
	// LeftBehind are goroutines that instances of controllers have left behind, where there are many. They cost time
	// and memory.
	LeftBehind []LeftBehind `json:"left_behind,omitempty"`

	// Assumptions are what the verdict takes for granted.
	Assumptions []string `json:"assumptions"`
	// Unchecked are the fields that were set and that the simulated world does not check: the real one might
	// refuse what is in them.
	Unchecked []Unchecked `json:"unchecked,omitempty"`

	Properties []PropertyReport `json:"properties"`
	// ConductOnly tells that no property of the system was given: nothing was checked but how the code of its
	// controllers behaves.
	ConductOnly bool      `json:"conduct_only,omitempty"`
	Findings    []Finding `json:"findings"`

	// OutcomeList shows the first of the different ends, sixteen at most, each with a shortest run to it.
	OutcomeList []OutcomeReport `json:"-"`
}

// ViewReport is a controller's view of a kind that may lag behind the store.
type ViewReport struct {
	// Controller is whose view it is, or the process of several.
	Controller string `json:"controller"`
	Kind       Kind   `json:"kind"`
	// Rule says how far it may lag behind, such as "lag(1)".
	Rule string `json:"rule"`
}

// LeftBehind are goroutines that outlive the instances of controllers that they belong to.
type LeftBehind struct {
	// Goroutines is how many there were in the end.
	Goroutines int `json:"goroutines"`
	// At is the function that they wait in, with its file and line.
	At string `json:"at"`
}

// RungReport is what came of one of several conditions under which a system was checked, one after the other.
type RungReport struct {
	// Name says what may go wrong.
	Name string `json:"name"`
	// Verdict is empty if nothing was searched: there was no time, something was found before, or it could not be.
	Verdict Verdict `json:"verdict,omitempty"`
	States  int     `json:"states,omitempty"`
	// Reasons say why it is not more.
	Reasons []string `json:"reasons,omitempty"`
}

// MemoryReport is what a controller keeps in memory from one run to the next.
type MemoryReport struct {
	// Controller is who keeps it, or the process of several.
	Controller string `json:"controller"`
	// Contents is how many different memories it was found to have, besides that of a fresh start.
	Contents int `json:"contents"`
	// Fields are the fields in which they differ, such as "Reconciler.seen", in order.
	Fields []string `json:"fields"`
	// ByRequest tells that what is kept for one request has nothing to do with others, as far as was found out:
	// contents are counted for each by itself.
	ByRequest bool `json:"by_request,omitempty"`
	// Background tells that it works between its activations, too. How it rests then is counted among the contents.
	Background bool `json:"background,omitempty"`
	// Ticks tells that something ticks there that shows nothing. Then nothing was searched that it would do for the
	// first time after more than two hours.
	Ticks bool `json:"ticks,omitempty"`
	// Versions tells that what is kept names versions of objects, as a resource version does.
	Versions bool `json:"versions,omitempty"`
}

// StatePart is a part of the states of a system, such as what a controller keeps in memory.
type StatePart struct {
	// Name says in words what it is, such as "what web keeps in memory" or "the objects of kind Pod".
	Name string `json:"name"`
	// Without is how many different states there would be without it. Of more than 100,000 states, it is estimated by
	// the first ones.
	Without int `json:"without"`
}

// PropertyReport is the verdict on one property.
type PropertyReport struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Warning tells that the verdict of the check does not depend on this one.
	Warning bool `json:"warning,omitempty"`
}

// Warnings counts the findings that the verdict does not depend on.
func (r *Report) Warnings() int {
	n := 0
	for _, f := range r.Findings {
		if f.Warning {
			n++
		}
	}
	return n
}

// Finding is something wrong that was found, with the story of how it comes about.
type Finding struct {
	// ID numbers the findings of a report from 1.
	ID       int    `json:"id"`
	Property string `json:"property"`
	// Warning tells that the property is only to be warned of: with no other findings the verdict is not [Violated].
	Warning     bool     `json:"warning,omitempty"`
	Summary     string   `json:"summary"`
	Details     []string `json:"details,omitempty"`
	Steps       int      `json:"steps"`
	Controllers []string `json:"controllers"`
	Fields      []string `json:"fields"`
	// Sites are the lines of code from which these controllers write in the story, as far as they are known. Those that
	// decide it come first.
	Sites []Site `json:"sites,omitempty"`
	// Replay is the command that runs the story again, empty if no run was recorded.
	Replay string `json:"replay,omitempty"`

	// Trace is the story. Other, if not nil, is a second one to compare it with.
	Trace Trace  `json:"-"`
	Other *Trace `json:"-"`
}

// OutcomeReport is one way in which the system can end.
type OutcomeReport struct {
	// State is the first found state with this outcome.
	State StateID `json:"state"`
	// States counts the settled states with this outcome.
	States  int           `json:"states"`
	Objects []TraceObject `json:"objects"`
	Trace   Trace         `json:"trace"`
}

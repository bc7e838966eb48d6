package transition

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/view"
)

// Granularity is how much of a reconcile is one step.
type Granularity int

const (
	// PerReconcile takes a reconcile from its begin to its end as one step.
	PerReconcile Granularity = iota
	// PerCall takes each call of a reconcile as a step of its own, with whatever else happens in between.
	PerCall
)

// Conditions are what the world may do to controllers. With the zero value it does nothing
// to them: caches are fresh, nothing fails, and reconciles are atomic.
type Conditions struct {
	Granularity Granularity
	// Staleness says which views may lag behind. Of several that concern a view, the last counts.
	Staleness []Staleness
	// Caches are kinds that controllers read through their caches besides those that they watch and those that they declare. [Search] finds out more of them by itself.
	Caches []CachedKind
	// Crashes and Failures are how often, in one run, a controller may crash and a call may fail.
	Crashes, Failures int
	// FaultsIn names the controllers that may crash and whose calls may fail, or the processes that they share; empty means all of them. With a controller all that share its process crash.
	FaultsIn []string
	// Orders is in how many orders the concurrent calls of a run are answered at most; 0 means [DefaultOrders], and 1 that they are answered
	// in the order of their identities only.
	Orders int
	// Doubles names controllers, or processes, of which two instances are active at once, as after a lost lease. Those that share a process are so together.
	Doubles []string
	// Adopted are the kinds that were found to matter to the store and to strategies, see [core.Adopting], in order.
	Adopted []core.Kind
	// Made are objects that somebody makes, so that the store does not presume them, see [core.Presuming].
	Made []core.Key
	// Remembering names the controllers that keep memory from one run to the next, which is part of the state then. The name of a process says that all of
	// its controllers share theirs. [Search] finds out by itself which ones do.
	Remembering []string
	// Whole names those of them whose memory is one: what is kept for one request has to do with others. [Search] finds out by itself which ones do.
	Whole []string
	// Active names the controllers or processes that work between activations, besides those that say so. [Search] finds out by itself which ones do.
	Active []string
	// ticking names those of them in which something ticks for ever that shows nothing.
	ticking []string
	// outlived says what instances of controllers were found to share that [Search] began again after it had been changed.
	outlived []string
	// Deadlines is how often, in one run, a time passes that is longer than whatever controllers wait for, once one of them is found to wait for a time.
	Deadlines int
	// Awaiting names the controllers that wait for times. [Search] finds out by itself which ones do.
	Awaiting []string
	// Sooner names those of them that do something sooner than any time passes that is left, so that none does while they have set a timer. [Search] finds out by itself which ones do.
	Sooner []string
	// Long says of controllers for how long timers are set after which something is over that they wait for, up to [state.MostLong] times in their order. [Search] finds them out by itself.
	Long map[string][]time.Duration
	// Spans are times that pass besides the long one, in their order: of a controller that waits for several, one is over when a span has passed, and others are not. [Search] finds them out by itself.
	Spans []time.Duration
	// Drawing names the controllers that draw random values, which follow from a part of the state then. [Search] finds out by itself which ones do.
	Drawing []string
	// Forking names the controllers that do one thing or another by chance: each is searched. [Search] finds out by itself which ones do.
	Forking []string
	// strays are the controllers that were found not to be of that sort, undrawn those that are not in Drawing as they may be, and inOrder those
	// of which it matters in which order they do what they do by chance.
	strays, undrawn, inOrder []string
	// exchanging are those in Drawing that put what they draw to use in another order each time.
	exchanging []string
	// surprises counts the searches that came to know of something else that these do by chance.
	surprises int
	// Heeding names the controllers that heed in which order their caches list objects: they are given them in the opposite one, too. [Search] finds out by itself which ones do.
	Heeding []string
	// Ordered tells that the names of versions are in the order of their age. [Search] finds out by itself whether that makes a difference.
	Ordered bool
	// Apart are kinds of which what is written is written seconds after all that was written before, as far as it says when.
	Apart []core.Kind
	// Counted are the kinds of which numbers that their store counts up for each object, such as generations, stay as they were counted. [Search] finds out by itself of which kinds that makes a difference.
	Counted []core.Kind
	// Noted tells that a controller compares names of versions that stand in objects, which are in no order whatever is known.
	Noted bool
	// given are the conditions before anything was found out, but for that versions are compared.
	given *Conditions
	// behind is how many changes views are behind at the start.
	behind map[CachedKind]int
	// IgnoredMemory are the ways to parts of memories that do not count, such as "Reconciler.metrics": with all that they lead to.
	IgnoredMemory []string
}

// Expect makes conditions of what ended a search because it was not known of controllers, and returns true, if that is why it ended with the error.
func (c *Conditions) Expect(err error) bool {
	var found unexpected
	before := *c
	if !errors.As(err, &found) || !found.expect(c) {
		return false
	}
	if c.given == nil {
		c.given = &before
	}
	return true
}

// afresh takes back what was found out, as that may have come of something that is not as it has to be, and has the conditions be others from the start.
func (c *Conditions) afresh(change func(*Conditions)) {
	if c.given != nil {
		*c = *c.given
	}
	change(c)
	given := *c
	c.given = &given
}

// Infer makes conditions of what a trace shows of controllers: which drew random values that follow from seeds, which processes work between their activations, and what of that
// is not kept for each request by itself.
func (c *Conditions) Infer(system *core.System, trace core.Trace) {
	waits := func(changes []core.MemoryChange) {
		for _, change := range changes {
			if behavior.Waiting(change.Field) {
				added(&c.Active, change.Controller)
				if !behavior.Apart(change.Field) {
					added(&c.Whole, change.Controller)
				}
			}
		}
	}
	for _, step := range trace.Steps {
		if process, background := core.BackgroundOf(step.Controller); background {
			added(&c.Active, process)
			if !behavior.Apart(string(step.Request)) {
				added(&c.Whole, process)
			}
		}
		waits(step.Memory)
	}
	waits(trace.Memory)
	c.Made = trace.Made
	for _, strategy := range system.Strategies {
		name := strategy.Describe().Name
		shows := func(what func(core.TraceStep) bool) bool {
			return slices.ContainsFunc(trace.Steps, func(step core.TraceStep) bool {
				return (step.Controller == name || step.Controller == core.SecondInstance(name)) && what(step)
			})
		}
		if shows(func(step core.TraceStep) bool { return step.Seed != 0 }) {
			added(&c.Drawing, name)
		}
		if shows(func(step core.TraceStep) bool { return strings.HasPrefix(step.Order, listedBackwards) }) {
			added(&c.Heeding, name)
		}
		if shows(func(step core.TraceStep) bool { return strings.Contains(step.Order, core.ByChance) }) {
			added(&c.Forking, name)
		}
	}
}

// unexpected ends a search in which something was found of controllers that was not known, and that has to be: what states consist of and what may happen follows from it. The search is begun again.
type unexpected interface {
	error

	// expect adds it to conditions, and reports whether they did not have it.
	expect(*Conditions) bool
}

// added adds names to others, but for those that are there, and reports whether the first one was not.
func added(names *[]string, more ...string) bool {
	if slices.Contains(*names, more[0]) {
		return false
	}
	for _, name := range more {
		if !slices.Contains(*names, name) {
			*names = append(slices.Clip(*names), name)
		}
	}
	return true
}

// unexpectedMemory is a memory that is put to use.
type unexpectedMemory struct {
	Memory string
	// outlived is what instances were found to have in common.
	outlived []string
}

// Error implements error.
func (u *unexpectedMemory) Error() string {
	return u.Memory + " keeps memory from one run to the next"
}

func (u *unexpectedMemory) expect(c *Conditions) bool {
	if !added(&c.Remembering, u.Memory) {
		return false
	}
	c.outlived = u.outlived
	return true
}

// unexpectedDeadline is a controller that waits for a time: the first of some that may well do so, too.
type unexpectedDeadline struct{ Controllers []string }

// Error implements error.
func (u *unexpectedDeadline) Error() string { return u.Controllers[0] + " waits for a time" }

func (u *unexpectedDeadline) expect(c *Conditions) bool { return added(&c.Awaiting, u.Controllers...) }

// ofCode reports whether an error is the end of a step because something was not known of the code that it ran, which is so in all its runs.
func ofCode(err error) bool {
	var found unexpected
	var views *unexpectedViews
	return errors.As(err, &found) && !errors.As(err, &views)
}

// Staleness says how far views may lag behind.
type Staleness struct {
	// Controller and Kind say whose view of what; empty means all of them. Controllers that share a process share its views: the name of the
	// process, or of one of them, stands for all.
	Controller string
	Kind       core.Kind
	Rule       view.Rule
}

// Validate returns an error that names what there is if the conditions speak of something that the system does not have.
func (c Conditions) Validate(system *core.System) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Orders < 0 {
		fail("a number of orders must not be negative: use 1 for one order only")
	}
	if c.Crashes < 0 || c.Failures < 0 {
		fail("a number of crashes or failures must not be negative: use 0 for none")
	}
	views := c.views(system)
	names := slices.Sorted(maps.Keys(views))
	for _, s := range c.Staleness {
		if _, known := views[s.Controller]; s.Controller != "" && !known {
			fail("there is no controller %q: use one of %s", s.Controller, strings.Join(names, ", "))
		} else if s.Rule != view.Fresh() && !slices.Contains(system.Kinds, s.Kind) {
			errs = append(errs, s.validate(views, len(system.Kinds) == 0))
		}
	}
	errs = append(errs, c.validateFaults(system.Strategies), c.validateBehind(system))
	for _, name := range c.Doubles {
		if _, known := views[name]; !known {
			fail("there is no controller %q to run twice: use one of %s", name, strings.Join(names, ", "))
		}
	}
	return errors.Join(errs...)
}

// views returns the kinds that controllers, and processes that they share, are known to have views of.
func (c Conditions) views(system *core.System) map[string][]core.Kind {
	views := map[string][]core.Kind{}
	for _, strategies := range together(system.Strategies) {
		kinds := c.viewed(strategies)
		for _, strategy := range strategies {
			d := strategy.Describe()
			views[d.Name], views[d.ProcessName()] = kinds, kinds
		}
	}
	return views
}

// viewed returns the kinds that strategies which share a process are known to have views of: those that they watch, and then those that they
// only read through the cache.
func (c Conditions) viewed(strategies []core.Strategy) []core.Kind {
	var kinds, cached []core.Kind
	for _, strategy := range strategies {
		d := strategy.Describe()
		kinds, cached = append(kinds, d.Watches...), append(cached, c.caches(d)...)
	}
	var viewed []core.Kind
	for _, kind := range slices.Concat(kinds, cached) {
		if !slices.Contains(viewed, kind) {
			viewed = append(viewed, kind)
		}
	}
	return viewed
}

// doubled reports whether two instances of the process of some strategies are active at once.
func (c Conditions) doubled(strategies []core.Strategy) bool {
	return slices.ContainsFunc(strategies, func(s core.Strategy) bool { return named(c.Doubles, s.Describe()) })
}

// named reports whether a strategy or its process is among names.
func named(names []string, d core.Description) bool {
	return slices.Contains(names, d.Name) || slices.Contains(names, d.ProcessName())
}

// validate returns an error if the staleness concerns none of the views that there are, with what controllers cache known
// beforehand or not.
func (s Staleness) validate(views map[string][]core.Kind, known bool) error {
	kinds, all := views[s.Controller], slices.Concat(slices.Collect(maps.Values(views))...)
	switch {
	case s.Kind == "" && !known:
		return nil
	case s.Controller == "" && s.Kind != "" && !slices.Contains(all, s.Kind):
		return fmt.Errorf("no controller watches %q: watched kinds are %s", s.Kind, Listed(all))
	case s.Controller == "":
		return nil
	case len(kinds) == 0:
		return fmt.Errorf("controller %q watches nothing, so it has no cache that could be stale", s.Controller)
	case s.Kind != "" && !slices.Contains(kinds, s.Kind):
		return fmt.Errorf("controller %q does not watch %q: it watches %s", s.Controller, s.Kind, Listed(kinds))
	}
	return nil
}

// Named returns the conditions with the names of kinds in full. A kind may be given without its group: if the controller has views
// of several such kinds, or of none and there are several, the error names them.
func (c Conditions) Named(system *core.System) (Conditions, error) {
	views := c.views(system)
	c.Staleness = slices.Clone(c.Staleness)
	var errs []error
	for i := range c.Staleness {
		s := &c.Staleness[i]
		own := views[s.Controller]
		if s.Controller == "" {
			own = slices.Concat(slices.Collect(maps.Values(views))...)
		}
		if s.Kind == "" || slices.Contains(own, s.Kind) {
			continue
		}
		meant := inAnyGroup(s.Kind, own)
		if len(meant) == 0 && slices.Contains(system.Kinds, s.Kind) {
			continue
		}
		if len(meant) == 0 {
			meant = inAnyGroup(s.Kind, system.Kinds)
		}
		switch len(meant) {
		case 0: // It is not known at all.
		case 1:
			s.Kind = meant[0]
		default:
			errs = append(errs, fmt.Errorf("kind %q is in several groups: use one of %s", s.Kind, Listed(meant)))
		}
	}
	return c, errors.Join(errs...)
}

// inAnyGroup returns the kinds that have a name without their groups, each once and in order.
func inAnyGroup(name core.Kind, kinds []core.Kind) []core.Kind {
	var found []core.Kind
	for _, kind := range kinds {
		if short, _, _ := strings.Cut(string(kind), "."); short == string(name) {
			found = append(found, kind)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// validateFaults returns an error if there is nobody whom faults could befall, if they are confined to controllers that there are
// not or that cannot fail, or if there are no faults to confine.
func (c Conditions) validateFaults(strategies []core.Strategy) error {
	if len(c.FaultsIn) == 0 && c.Crashes == 0 && c.Failures == 0 {
		return nil
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Crashes == 0 && c.Failures == 0 {
		fail("--faults-in (Options.FaultsIn) names %s, but no faults are allowed: set --crashes or --failures (Options.Crashes, Options.Failures), or leave it out", strings.Join(c.FaultsIn, ", "))
	}
	known := map[string]bool{}
	var fallible []string
	for _, strategy := range strategies {
		d := strategy.Describe()
		known[d.Name] = true
		if !indivisible(d) {
			fallible = append(fallible, d.Name, d.ProcessName())
		}
	}
	slices.Sort(fallible)
	fallible = slices.Compact(fallible)
	if len(fallible) == 0 && len(c.FaultsIn) == 0 {
		var names []string
		for _, strategy := range strategies {
			names = append(names, strategy.Describe().Name)
		}
		slices.Sort(names)
		fail("no controller can crash or have a failed call, because guarded actions and messages are atomic: %s. "+
			"Add a controller, or leave out --crashes and --failures (Options.Crashes, Options.Failures)", strings.Join(names, ", "))
	}
	for _, name := range c.FaultsIn {
		switch {
		case slices.Contains(fallible, name):
		case known[name]:
			fail("%q has messages or guarded actions, so it cannot crash and its calls cannot fail", name)
		case len(fallible) == 0:
			fail("there is no controller %q that can fail: this system has none", name)
		default:
			fail("there is no controller %q that can fail: use one of %s", name, strings.Join(fallible, ", "))
		}
	}
	return errors.Join(errs...)
}

// faultsIn reports whether a controller may crash and its calls may fail.
func (c Conditions) faultsIn(d core.Description) bool {
	return len(c.FaultsIn) == 0 || named(c.FaultsIn, d)
}

// Listed names kinds, in order.
func Listed(kinds []core.Kind) string {
	var names []string
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// shared returns the conditions with the names of processes in place of those of controllers whose views they name, and with the views that are behind at the start.
func (c Conditions) shared(system *core.System) Conditions {
	c.Staleness = slices.Clone(c.Staleness)
	c.behind = map[CachedKind]int{}
	for _, initial := range system.Initial {
		if initial.Underway == nil {
			continue
		}
		for _, p := range initial.Underway.Processes {
			for _, change := range p.Behind {
				of := CachedKind{Controller: p.Process, Kind: change.Key.Kind}
				c.behind[of] = system.BehindIn(of.Controller, of.Kind)
				c.Caches = append(slices.Clip(c.Caches), of) // a cache that is behind is there
			}
		}
	}
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		for i := range c.Staleness {
			if c.Staleness[i].Controller == d.Name {
				c.Staleness[i].Controller = d.ProcessName()
			}
		}
	}
	return c
}

// rule returns the rule of a process's view of a kind.
func (c Conditions) rule(process string, kind core.Kind) view.Rule {
	rule := view.Fresh()
	for _, s := range c.Staleness {
		if (s.Controller == "" || s.Controller == process) && (s.Kind == "" || s.Kind == kind) {
			rule = s.Rule
		}
	}
	if rule == view.Fresh() {
		return view.CatchUp(c.behind[CachedKind{process, kind}])
	}
	return rule
}

// validateBehind returns an error if views are further behind at the start than their rules allow.
func (c Conditions) validateBehind(system *core.System) error {
	c = c.shared(system)
	var errs []error
	for of, n := range c.behind {
		if rule := c.rule(of.Controller, of.Kind); !rule.Allows(n) {
			errs = append(errs, fmt.Errorf("the cache of %s in %s is %d changes behind at the start, and %s does not allow that: use lag(%d), or leave out --stale (Options.Stale)", of.Kind, of.Controller, n, rule, n))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// CachedKind is a kind that a controller reads through its cache without watching it. A cached read starts an informer for
// the kind, so that the controller has a view of it, which may lag behind like those of the kinds it watches.
//
// Real informers start with the first read, and their first list may be an old one. So the view of such a kind is there from the
// start of a run, whenever the kind is read first.
type CachedKind struct {
	// Controller is the name of the controller, or of the process that it shares with others.
	Controller string
	Kind       core.Kind
}

// caches returns the kinds that a strategy reads through its cache without watching them, as far as it is known.
func (c Conditions) caches(d core.Description) []core.Kind {
	kinds := slices.Clone(d.Caches)
	for _, cached := range c.Caches {
		if cached.Controller == d.Name || cached.Controller == d.ProcessName() {
			kinds = append(kinds, cached.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.DeleteFunc(slices.Compact(kinds), func(kind core.Kind) bool { return slices.Contains(d.Watches, kind) })
}

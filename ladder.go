package orrery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// ClimbTime, a minute, is how long a [Climb] takes behind its first rung at most, if nothing else is said.
const ClimbTime = time.Minute

// Climb checks a system under one condition after the other: at first, nothing goes wrong; then caches are stale, by
// one change and by as many as one reconcile makes of a kind, a controller crashes, a call fails, others act in the
// midst of a reconcile, users do what [core.System].Implied says, and two instances of a controller are at work, call
// by call. Conditions that could befall nobody are left out. It ends with the first rung that finds something.
//
// The first rung is searched within the bounds of the options, as [Run] does. All others share the time that is left of
// MaxTime, or [ClimbTime]: what is not searched by then is told. Options that say what may go wrong must not be set.
// The error is for what cannot be checked at all.
func Climb(ctx context.Context, system *core.System, options Options) (*Ladder, error) {
	began := time.Now()
	return climb(ctx, system, options, func() time.Duration {
		if options.MaxTime > 0 {
			return options.MaxTime - time.Since(began)
		}
		return ClimbTime
	})
}

// climb climbs, with so much time for all rungs behind the first.
func climb(ctx context.Context, system *core.System, options Options, left func() time.Duration) (*Ladder, error) {
	if system == nil {
		return nil, fmt.Errorf("there is no system to check: it is nil")
	}
	if options.disturbs() || options.Granularity == PerCall || len(options.FaultsIn) > 0 || len(options.Doubles) > 0 {
		return nil, fmt.Errorf("a climb says by itself what may go wrong: leave out Stale, Crashes, Failures, FaultsIn, Doubles and Granularity (--stale, --crashes, --failures, --faults-in, --double, --granularity)")
	}
	if options.Checkpoint != nil {
		return nil, fmt.Errorf("a climb makes several checks, each within its share of the time, and keeps no checkpoints: leave out --checkpoint and --resume (Options.Checkpoint), or --thorough")
	}
	if options.Memo == nil {
		options.Memo = NewMemo()
	}
	ladder := &Ladder{Rungs: rungs(system, options)}
	first := &ladder.Rungs[0]
	var err error
	if first.Result, err = Run(ctx, system, options); err != nil {
		return nil, err
	}
	if more := batched(system, options, first.Result); more != nil {
		ladder.Rungs = slices.Insert(ladder.Rungs, 2, *more)
	}
	end := time.Now().Add(left())
	for i := 1; i < len(ladder.Rungs) && ladder.Failed() == nil && ctx.Err() == nil; i++ {
		rung := &ladder.Rungs[i]
		if rung.Options.MaxTime = time.Until(end) / time.Duration(len(ladder.Rungs)-i); rung.Options.MaxTime <= 0 {
			break
		}
		if rung.Result, err = Run(ctx, rung.on(system), rung.Options); err != nil {
			rung.Problem = err.Error()
		} else if space, searched := rung.Result.Graph.(*explore.Space); searched && space.Unfailing() { // nobody could know before
			ladder.Rungs = slices.Delete(ladder.Rungs, i, i+1)
			i--
		}
	}
	return ladder, nil
}

// Ladder is what a [Climb] found.
type Ladder struct {
	// Rungs are the conditions, in their order. The first has a result.
	Rungs []Rung
}

// Rung is one of the conditions under which a [Climb] checks a system.
type Rung struct {
	// Name says what may go wrong.
	Name string
	// Options are what it is checked with.
	Options Options
	// Result is what was found, nil if there was no time, or if something was found on an earlier rung.
	Result *Result
	// Problem says why the rung could not be checked, empty if it could.
	Problem string
	// scenario is what users do, nil if that is what the system says.
	scenario *core.Scenario
}

// Failed returns the first rung on which something was found, nil if there is none.
func (l *Ladder) Failed() *Rung {
	i := slices.IndexFunc(l.Rungs, func(r Rung) bool { return r.Result != nil && r.Result.Report.Verdict == core.Violated })
	if i < 0 {
		return nil
	}
	return &l.Rungs[i]
}

// namesOptions reports whether a reason on any rung says which of the [Options] to change.
func (l *Ladder) namesOptions() bool {
	return slices.ContainsFunc(l.Rungs, func(r Rung) bool {
		return r.Result != nil && slices.ContainsFunc(r.Result.Report.Reasons, func(reason string) bool { return strings.Contains(reason, "Options.") })
	})
}

// Result returns the result of the rung on which something was found, or else of the first. Its report tells of all
// rungs.
func (l *Ladder) Result() *Result {
	result := l.Rungs[0].Result
	if failed := l.Failed(); failed != nil {
		result = failed.Result
	}
	told := *result
	told.Report.Rungs = nil
	for _, r := range l.Rungs {
		told.Report.Rungs = append(told.Report.Rungs, r.report())
	}
	return &told
}

// report returns the rung as plain data.
func (r *Rung) report() core.RungReport {
	told := core.RungReport{Name: r.Name}
	if r.Problem != "" {
		told.Reasons = []string{r.Problem}
	}
	if r.Result != nil {
		told.Verdict, told.States, told.Reasons = r.Result.Report.Verdict, r.Result.Report.States, r.Result.Report.Reasons
	}
	return told
}

// String tells for each rung what was searched, and why that is not more.
func (l *Ladder) String() string {
	var b strings.Builder
	for line, reasons := range text.Rungs(l.Result().Report.Rungs) {
		fmt.Fprintf(&b, "    %s\n", line)
		for _, reason := range reasons {
			fmt.Fprintf(&b, "        - %s\n", reason)
		}
	}
	return b.String()
}

// again says how to check the rung alone, in Go.
func (r *Rung) again() string {
	if r.scenario != nil {
		return "to check nothing else: give the system this scenario, and use orrery.CheckWith"
	}
	return fmt.Sprintf("to check nothing else: orrery.CheckWith(t, %s, system, ...)", r.code())
}

// code returns the options under which a rung is checked alone, as an expression in Go.
func (r *Rung) code() string {
	var parts []string
	for _, s := range r.Options.Stale {
		kind := ""
		if s.Kind != "" {
			kind = fmt.Sprintf(", Kind: %q", s.Kind)
		}
		parts = append(parts, fmt.Sprintf("{Controller: %q%s, Rule: %q}", s.Controller, kind, s.Rule))
	}
	if len(parts) > 0 {
		parts = []string{"Stale: []orrery.Staleness{" + strings.Join(parts, ", ") + "}"}
	}
	if r.Options.Crashes > 0 {
		parts = append(parts, fmt.Sprintf("Crashes: %d", r.Options.Crashes))
	}
	if r.Options.Failures > 0 {
		parts = append(parts, fmt.Sprintf("Failures: %d", r.Options.Failures))
	}
	if len(r.Options.FaultsIn) > 0 {
		parts = append(parts, fmt.Sprintf("FaultsIn: %#v", r.Options.FaultsIn))
	}
	if len(r.Options.Doubles) > 0 {
		parts = append(parts, fmt.Sprintf("Doubles: %#v", r.Options.Doubles))
	}
	if r.Options.Granularity == PerCall {
		parts = append(parts, "Granularity: orrery.PerCall")
	}
	return "orrery.Options{" + strings.Join(parts, ", ") + "}"
}

// rungs returns the conditions that make sense for a system, those that are searched soon before others.
func rungs(system *core.System, options Options) []Rung {
	all := []Rung{{Name: "nothing goes wrong", Options: options}}
	add := func(name string, change func(*Options)) {
		if r := options.rung(system, name, change); r != nil {
			all = append(all, *r)
		}
	}
	c := checkedIn(system)
	if len(c.cached) > 0 {
		add("caches miss the latest change", c.latest)
	}
	add("a controller crashes once", func(o *Options) { o.Crashes, o.FaultsIn = 1, c.faulty })
	add("a call fails once", func(o *Options) { o.Failures, o.FaultsIn = 1, c.faulty })
	if len(c.processes) > 0 {
		add("others act between the calls of a reconcile", func(o *Options) { o.Granularity = PerCall })
	}
	for i := range system.Implied {
		scenario := &system.Implied[i]
		all = append(all, Rung{Name: actions(*scenario), Options: options, scenario: scenario})
	}
	for _, process := range c.processes {
		add("two instances of "+process+" are at work", func(o *Options) { o.Doubles, o.Granularity = []string{process}, PerCall })
	}
	return all
}

// rung returns the rung on which something may go wrong, nil if there is nobody whom it could befall.
func (o Options) rung(system *core.System, name string, change func(*Options)) *Rung {
	r := Rung{Name: name, Options: o}
	r.Options.Granularity = PerReconcile
	change(&r.Options)
	if _, err := r.Options.conditions(system); err != nil {
		return nil
	}
	return &r
}

// batched returns the rung on which caches may miss as many changes of a kind as one reconcile was found to make on the
// first, nil if none makes several. Where one makes two, a cache that misses one of them hides what comes of missing
// both.
func batched(system *core.System, options Options, first *Result) *Rung {
	c := checkedIn(system)
	space, searched := first.Graph.(*explore.Space)
	if len(c.cached) == 0 || !searched {
		return nil
	}
	batches, caches := space.Batches(), space.Caches()
	maps.DeleteFunc(batches, func(_ core.Kind, changes int) bool { return changes < 2 })
	var stale []Staleness
	var most []string
	for _, kind := range slices.Sorted(maps.Keys(batches)) {
		before := len(stale)
		for _, process := range c.cached {
			if slices.Contains(caches[process], kind) {
				stale = append(stale, Staleness{Controller: process, Kind: kind, Rule: Lag(batches[kind])})
			}
		}
		if len(stale) > before {
			most = append(most, strings.TrimSuffix(fmt.Sprintf("%d of %s", batches[kind], kind), " of "))
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return options.rung(system, "caches miss all that one reconcile changes: "+strings.Join(most, ", "), func(o *Options) {
		c.latest(o)
		o.Stale = append(o.Stale, stale...)
	})
}

// on returns the system as it is checked on the rung.
func (r *Rung) on(system *core.System) *core.System {
	if r.scenario == nil {
		return system
	}
	other := *system
	other.Scenario = *r.scenario
	return &other
}

// played returns the system with the scenario that users play in a trace: that which is implied, if it has none of its
// own.
func played(system *core.System, trace core.Trace) *core.System {
	if len(system.Scenario.Actions) > 0 {
		return system
	}
	for i := range system.Implied {
		foreign := func(step core.TraceStep) bool {
			return step.Controller == core.User && !slices.ContainsFunc(system.Implied[i].Actions, func(a core.Action) bool { return a.Name == string(step.Request) })
		}
		if !slices.ContainsFunc(trace.Steps, foreign) {
			return (&Rung{scenario: &system.Implied[i]}).on(system)
		}
	}
	return system
}

// actions names what users do in a scenario.
func actions(s core.Scenario) string {
	var names []string
	for _, action := range s.Actions {
		names = append(names, action.Name)
	}
	return "a user takes the actions: " + strings.Join(names, ", then ")
}

// checked are the processes of a system whose controllers are checked, without those around them and without models.
type checked struct {
	processes []string
	// cached are those that have caches.
	cached []string
	// faulty is what to confine faults to, nil if all are checked.
	faulty []string
}

// latest lets their caches miss the latest change of each kind.
func (c checked) latest(o *Options) {
	for _, process := range c.cached {
		o.Stale = append(o.Stale, Staleness{Controller: process, Rule: Lag(1)})
	}
}

func checkedIn(system *core.System) checked {
	var c checked
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		if slices.Contains(system.Surroundings, d.Name) || d.Messages || len(d.Standing) > 0 {
			continue
		}
		if process := d.ProcessName(); !slices.Contains(c.processes, process) {
			c.processes = append(c.processes, process)
		}
		if len(d.Watches)+len(d.Caches) > 0 && !slices.Contains(c.cached, d.ProcessName()) {
			c.cached = append(c.cached, d.ProcessName())
		}
	}
	if len(system.Surroundings) > 0 {
		c.faulty = c.processes
	}
	return c
}

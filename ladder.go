package orrery

import (
	"cmp"
	"context"
	"fmt"
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
// midst of a reconcile, users do what [core.System].Implied says, also while a controller crashes or a call fails, two
// instances of a controller are at work, call by call, and somebody deletes what controllers have made
// ([core.System].Deletion), or changes an initial object ([core.System].Changes). Conditions that could befall nobody
// are left out. It ends with the first rung that finds something.
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
	if space, searched := first.Result.Graph.(*explore.Space); searched && space.Growth() != nil {
		return ladder, nil // what there is more and more of is there on all rungs
	}
	if more := batched(system, options, first.Result); more != nil {
		ladder.Rungs = slices.Insert(ladder.Rungs, 2, *more)
	}
	if more := bereft(ctx, system, options, first.Result); more != nil {
		ladder.Rungs = append(ladder.Rungs, *more)
	}
	if more := changed(system, options); more != nil {
		ladder.Rungs = append(ladder.Rungs, *more)
	}
	end := time.Now().Add(left())
	for i := 1; i < len(ladder.Rungs) && ladder.Failed() == nil && ctx.Err() == nil; i++ {
		rung := &ladder.Rungs[i]
		if rung.Options.MaxTime = time.Until(end) / time.Duration(len(ladder.Rungs)-i); rung.Options.MaxTime <= 0 {
			break
		}
		if rung.Result, err = Run(ctx, cmp.Or(rung.system, system), rung.Options); err != nil {
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
	// system is what is checked, with what users do, nil if that is what was given.
	system *core.System
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
	if r.system != nil {
		return fmt.Sprintf("to check nothing else: give the system this scenario, and use orrery.CheckWith(t, %s, system, ...)", r.code())
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

// played returns the system with the scenario that users play in a trace: that which is implied, or what befalls
// objects, if it is not its own.
func played(system *core.System, trace core.Trace) *core.System {
	scenarios := append([]core.Scenario{system.Scenario, {Actions: system.Changes, Alternatives: true}}, system.Implied...)
	if system.Deletion != nil {
		scenarios = append(scenarios, deletions(system, trace))
	}
	for _, scenario := range scenarios {
		foreign := func(step core.TraceStep) bool {
			return step.Controller == core.User && !slices.ContainsFunc(scenario.Actions, func(a core.Action) bool { return a.Name == string(step.Request) })
		}
		if !slices.ContainsFunc(trace.Steps, foreign) {
			return playing(system, scenario)
		}
	}
	return system
}

// deletions returns the scenario of who deletes an object that a trace changes.
func deletions(system *core.System, trace core.Trace) core.Scenario {
	var keys []core.Key
	for _, step := range trace.Steps {
		for _, change := range step.Changes {
			key := core.Key{Kind: change.Kind, Namespace: change.Namespace, Name: change.Name}
			if step.Controller == core.User && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return befalling(system, keys)
}

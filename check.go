package orrery

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/grace"
	"github.com/orrery-dev/orrery/internal/resident"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/reduction"
)

// Result is what a check found.
type Result struct {
	// Report is the result as plain data.
	Report core.Report
	// Graph is what was stored of the system's states.
	Graph core.Graph
}

// Run checks a system: it explores its states within the options' bounds and judges
// its properties, and those of [properties.Conduct]. When the context ends, what was
// found until then is returned, as inconclusive. The error is for what cannot be
// checked at all, and says what to change.
func Run(ctx context.Context, system *core.System, options Options) (*Result, error) {
	began, goroutines := time.Now(), runtime.NumGoroutine()
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if system == nil {
		return nil, fmt.Errorf("there is no system to check: it is nil")
	}
	checked := *system
	checked.Properties = with(system.Properties, properties.Conduct())
	if options.disturbs() || late(system) {
		checked.Properties = with(checked.Properties, properties.Undisturbed(comparisonsOfOutcomes(checked.Properties)...))
	}
	if err := checked.Validate(); err != nil {
		return nil, err
	}
	exploring := options.explore(began)
	if exploring.Conditions, err = options.conditions(system); err != nil {
		return nil, err
	}
	if options.Reduction == BySymmetry && len(system.Interchangeable) == 0 {
		return nil, fmt.Errorf("%q declares no interchangeable names: set System.Interchangeable, or use the reduction %q", system.Name, ByPartialOrder)
	}
	whole := options.reduce(&exploring, checked.Properties)
	options.Logger.Debug("the check begins", "system", system.Name, "search", options.Search, "granularity", options.Granularity,
		"stale", options.staleness(), "crashes", options.Crashes, "failures", options.Failures, "properties", len(checked.Properties))
	defer resident.Keep(options.MaxMemory)()
	defer resident.Tolerate()()
	c := check{system: &checked, options: options, exploring: exploring, began: began}
	v, err := c.await(ctx)
	if err != nil {
		return nil, err
	}
	report := v.report(&checked, options, began)
	report.ConductOnly = len(system.Properties) == 0
	report.Ages, report.AgesTurned, report.Apart = c.options.ages, c.options.turned, c.exploring.Conditions.Apart
	switch {
	case v.merged:
		report.Reduction = string(BySymmetry)
		report.Assumptions = append(report.Assumptions, "States that are equal up to renaming of interchangeable names were merged: "+groups(system.Interchangeable)+".")
	case c.exploring.Reducer != nil && (v.space.Reduced() || len(v.space.Forking()) == 0):
		report.Reduction = string(ByPartialOrder)
	default:
		report.Reduction = string(NoReduction)
	}
	if v.apart != "" {
		report.Assumptions = append(report.Assumptions, fmt.Sprintf("Symmetry reduction was off: %s.", v.apart))
	}
	if !v.merged {
		report.Assumptions = append(report.Assumptions, whole...)
	}
	report.LeftBehind = leftBehind(goroutines)
	return &Result{Report: report, Graph: v.space}, nil
}

// overdue is how long a check may take longer than it may, besides three deadlines of runs.
const overdue = 15 * time.Second

// check is what is searched and judged.
type check struct {
	system    *core.System
	options   Options
	exploring explore.Options
	began     time.Time
	// dated are the kinds of which controllers were found to compare times that are written into objects, and dating
	// are these controllers.
	dated  []core.Kind
	dating []string
}

// await searches and judges. Properties, and what parts of the world do, are code of users that runs within the search
// and cannot be interrupted: if that does not return, the error says so, and the search is left behind.
func (c *check) await(ctx context.Context) (*verdict, error) {
	ends := ctx
	if c.options.MaxTime > 0 {
		var stop context.CancelFunc
		ends, stop = context.WithTimeout(ctx, c.options.MaxTime)
		defer stop()
	}
	const runs = 3
	var v *verdict
	var err error
	stack := grace.Await(ends, overdue+runs*c.options.StepDeadline, func() { v, err = c.underAllTimes(ctx) })
	if stack == "" {
		return v, err
	}
	where := grace.Innermost(stack, func(function, file string) bool {
		own := strings.HasPrefix(function, "github.com/orrery-dev/orrery") && !strings.HasSuffix(file, "_test.go")
		return !own && !grace.Standard(file)
	})
	return nil, fmt.Errorf("the check of %q did not come to its end in time: %s has not returned. Properties, and what parts of the world do, run within the search, and have to return", c.system.Name, cmp.Or(where, "some code"))
}

// settle searches and judges what is found, once or, if something was found in merged states, once more.
func (c *check) settle(ctx context.Context) (*verdict, error) {
	v, err := c.search(ctx)
	if err != nil {
		return nil, err
	}
	if v.merged, v.apart = v.space.Merged(); !v.merged || !v.doubtful() {
		return v, nil
	}
	c.options.Logger.Debug("a violation was found in merged states: the search begins again without merging, to show it in full")
	found := v
	c.exploring.Merge = false
	if v, err = c.search(ctx); err != nil {
		return nil, err
	}
	v.apart = "there are findings, and their traces need states that are not merged"
	if len(v.findings) == 0 && len(found.findings) > 0 {
		v.because(fmt.Sprintf("the search with merged states found a violation of %q, but the search without merging did not reach it: raise the limits of the search to get a trace", found.findings[0].Property))
	}
	return v, nil
}

// search searches and judges what is found.
func (c *check) search(ctx context.Context) (*verdict, error) {
	if limit := c.options.MaxTime; limit > 0 {
		c.exploring.Bounds.Time = max(limit-time.Since(c.began), time.Nanosecond) // all searches together
	}
	space, err := explore.Search(ctx, c.system, c.exploring)
	if err != nil {
		return nil, err
	}
	kinds, controllers := space.Dating()
	c.dated, c.dating = union(c.dated, kinds), union(c.dating, controllers)
	v := &verdict{logger: c.options.Logger, space: space, properties: c.system.Properties, store: c.system.Store, comparisons: c.options.Comparisons, reasons: slices.Clone(space.Reasons()), unmodelled: c.system.Unmodelled}
	judging, stop := c.options.judging(ctx, c.began)
	defer stop()
	telling, stopTelling := grace.After(judging, tellingGrace)
	defer stopTelling()
	v.telling = telling
	v.whole = wholeOf(judging, space)
	v.judge(judging)
	v.judgeGrowth()
	return v, nil
}

// wholeOf returns what searches a space again without leaving out anything, once.
func wholeOf(ctx context.Context, space *explore.Space) func() *explore.Space {
	return sync.OnceValue(func() *explore.Space { return space.Whole(ctx, storyStates) })
}

// groups lists groups of names.
func groups(groups [][]string) string {
	texts := make([]string, len(groups))
	for i, names := range groups {
		texts[i] = strings.Join(names, ", ")
	}
	return strings.Join(texts, "; ")
}

// reduce has orders left out if that was asked for and all properties allow it. It returns why not.
func (o Options) reduce(exploring *explore.Options, properties []core.Property) []string {
	if o.Reduction == NoReduction || o.Search.walks() {
		return nil
	}
	exploring.Merge = o.Reduction == BySymmetry
	var reasons []string
	for _, p := range properties {
		if !p.Reducible() {
			why := cmp.Or(p.Unreducible, "it judges every state and step")
			reasons = append(reasons, fmt.Sprintf("Partial-order reduction was off because of %q: %s.", p.Name, why))
		}
	}
	if len(reasons) == 0 {
		exploring.Reducer = reduction.Stubborn{}
	}
	return reasons
}

// with adds properties that are always checked, unless they are there. One of
// the user's that only has the name of such a property does not stand in for it: then there are two of a
// name, and the system is not valid.
func with(given, more []core.Property) []core.Property {
	all := slices.Clone(given)
	for _, p := range more {
		if !slices.ContainsFunc(all, func(q core.Property) bool { return q.Name == p.Name && q.Doc == p.Doc }) {
			all = append(all, p)
		}
	}
	return all
}

// complete fills in defaults and refuses what makes no sense.
func (o Options) complete() (Options, error) {
	o.Search = cmp.Or(o.Search, BreadthFirst)
	o.Reduction = cmp.Or(o.Reduction, ByPartialOrder)
	o.Granularity = cmp.Or(o.Granularity, PerReconcile)
	o.Deadlines = cmp.Or(o.Deadlines, DefaultDeadlines)
	o.Workers = cmp.Or(o.Workers, 1)
	o.StepDeadline = cmp.Or(o.StepDeadline, 10*time.Second)
	o.MaxCalls = cmp.Or(o.MaxCalls, 10_000)
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	switch {
	case o.Search != BreadthFirst && o.Search != DepthFirst && !o.Search.walks():
		return o, fmt.Errorf("there is no search %q: use %q, %q, %q, %q or %q", o.Search, BreadthFirst, DepthFirst, RandomWalks, PriorityWalks, SwarmWalks)
	case o.Compact && o.Search != BreadthFirst:
		return o, fmt.Errorf("a compact search must be breadth-first: use the search %q, or leave out --compact (Options.Compact)", BreadthFirst)
	case o.Walks > 0 && !o.Search.walks():
		return o, fmt.Errorf("the search %q takes no walks: leave out --walks (Options.Walks), or use the search %q, %q or %q", o.Search, RandomWalks, PriorityWalks, SwarmWalks)
	case o.Walks < 0 || o.ChangePoints < 0:
		return o, fmt.Errorf("walks and change points must not be negative: use 0 for the default")
	case o.Reduction != ByPartialOrder && o.Reduction != BySymmetry && o.Reduction != NoReduction:
		return o, fmt.Errorf("there is no reduction %q: use %q, %q or %q", o.Reduction, ByPartialOrder, BySymmetry, NoReduction)
	case o.Reduction == BySymmetry && o.Search.walks():
		return o, fmt.Errorf("walks do not merge states: use the search %q or %q with the reduction %q", BreadthFirst, DepthFirst, BySymmetry)
	case o.Checkpoint != nil && o.Search.walks():
		return o, fmt.Errorf("walks keep no checkpoints, as they are repeated by their seed: leave out --checkpoint and --resume (Options.Checkpoint), or use the search %q or %q", BreadthFirst, DepthFirst)
	case o.Workers < 1:
		return o, fmt.Errorf("%d workers cannot search: use at least 1", o.Workers)
	case o.MaxStates < 0 || o.MaxDepth < 0 || o.MaxTime < 0 || o.MaxMemory < 0:
		return o, fmt.Errorf("a limit must not be negative: use 0 for no limit")
	case o.StepDeadline < 0 || o.MaxCalls < 0:
		return o, fmt.Errorf("the limits of a single run must not be negative: use 0 for the default")
	}
	return o, properties.ValidateComparisons(o.Comparisons)
}

func (o Options) explore(began time.Time) explore.Options {
	options := explore.Options{
		Workers: o.Workers,
		Order:   o.Search.order(),
		Compact: o.Compact,
		Bounds:  explore.Bounds{States: o.MaxStates, Depth: o.MaxDepth, Walks: o.Walks, Time: o.MaxTime, Memory: o.MaxMemory},
		Run:     o.limits(),

		Seed:         o.Seed,
		ChangePoints: o.ChangePoints,
		Logger:       o.Logger,
		Logs:         o.Logs,
	}
	if o.Memo != nil {
		options.Memo = o.Memo.found
	}
	if o.Checkpoint != nil {
		options.Checkpoint = explore.NewCheckpoint(o.Checkpoint)
	}
	if o.Progress != nil {
		options.Progress = func(p explore.Progress) {
			elapsed := time.Since(began)
			o.Progress(Progress{
				States:          p.States,
				Transitions:     p.Transitions,
				Frontier:        p.Frontier,
				Depth:           p.Depth,
				Runs:            p.Runs,
				Elapsed:         elapsed,
				StatesPerSecond: perSecond(p.States, elapsed),
				MemoryBytes:     p.Memory,
				Estimate:        Estimate(p.Estimate),
			})
		}
	}
	return options
}

func (o Options) limits() behavior.Limits {
	return behavior.Limits{Deadline: o.StepDeadline, Calls: o.MaxCalls, Guard: o.Guard}
}

// tellingGrace is how long runs are still told after judging has ended, so that what was found is not lost. What does
// not look whether it has ended is ended then, too.
const tellingGrace = 300 * time.Millisecond

// judging returns the context in which properties are judged. A search leaves some of the time for that.
func (o Options) judging(ctx context.Context, began time.Time) (context.Context, context.CancelFunc) {
	if o.MaxTime == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, began.Add(o.MaxTime))
}

func perSecond(n int, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(n) / elapsed.Seconds()
}

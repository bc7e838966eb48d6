package orrery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/goroutine"
	"github.com/orrery-dev/orrery/properties"
)

// verdict is a judgement in the making.
type verdict struct {
	logger hclog.Logger
	space  *explore.Space
	// whole is the space of a search that leaves out nothing, for short stories: nil if there is none or nobody has
	// asked.
	whole      func() *explore.Space
	properties []core.Property
	// store is that of the system.
	store core.Store
	// comparisons are the rules that all properties that compare objects follow besides their own.
	comparisons []core.Comparison
	reasons     []string
	// telling is the context in which runs are told, and in which the space is read: it ends a little after that in
	// which properties are judged.
	telling context.Context
	// unmodelled are the reasons that the system itself gives.
	unmodelled []string

	// merged tells that interchangeable states were merged, and apart why not, if that was asked for.
	merged bool
	apart  string
	// assumed is what was assumed of the ages of objects.
	assumed []string

	reports  []core.PropertyReport
	findings []core.Finding
	ends     int // how many different ones there are
	outcomes []core.OutcomeReport
}

// idle is why a check says nothing in which nothing happens: all properties hold in it, whatever controllers do.
const idle = "nothing happened, as no controller had anything to do: add initial objects that a controller watches, or a scenario of users"

// restless is why a check says nothing that compares outcomes of which there are none: in each state in which nothing
// happens, somebody would do more if he were asked.
const restless = "nothing was compared, as no end is settled: wherever nothing happens any more, a controller would change something if it was run again. Check properties.Fixpoint(), which says what"

// comparesOutcomes reports whether a property is judged by outcomes.
func comparesOutcomes(p core.PropertyReport) bool {
	return slices.ContainsFunc([]core.Property{properties.SameOutcome(), properties.CrashSafety(), properties.StalenessSafety()}, func(known core.Property) bool { return p.Name == known.Name })
}

// judge judges every property, and tells the story of every violation and every outcome.
func (v *verdict) judge(ctx context.Context) {
	v.matchKinds()
	v.matchComparisons(ctx)
	v.ends, v.outcomes = v.tellOutcomes(ctx)
	// Judging runs code in states where the search did not. What goes wrong there counts like everything
	// else, whichever property is judged first, and so does what is found to wait for times.
	for incidents, reasons := -1, -1; incidents < len(v.space.Incidents()) || reasons < len(v.space.Reasons()); {
		incidents, reasons = len(v.space.Incidents()), len(v.space.Reasons())
		v.reports, v.findings = nil, nil
		for _, p := range v.properties {
			v.judgeProperty(ctx, p)
		}
	}
	for _, reason := range v.space.Reasons() {
		v.because(reason)
	}
	for _, incident := range v.space.Incidents() {
		switch incident.Kind {
		case core.Nondeterministic:
			v.because(undetermined(incident))
		case core.Stuck, core.Runaway:
			v.because(fmt.Sprintf("the code of %s did not return, so the states after that were not searched", incident.Strategy))
		}
	}
	if v.space.Stats.Transitions == 0 && len(v.findings) == 0 && len(v.reasons) == 0 {
		v.because(idle)
	}
	if v.space.Stats.Terminal > 0 && v.ends == 0 && len(v.findings) == 0 && slices.ContainsFunc(v.reports, comparesOutcomes) {
		v.because(restless)
	}
	if len(v.reasons) == 0 && len(v.unmodelled) == 0 {
		return
	}
	for i := range v.reports {
		if v.reports[i].Verdict == core.Holds {
			v.reports[i].Verdict = core.Inconclusive
		}
	}
}

func (v *verdict) judgeProperty(ctx context.Context, p core.Property) {
	report := core.PropertyReport{Name: p.Name, Verdict: core.Holds, Warning: p.Warning}
	began := time.Now()
	violations, err := v.violations(ctx, v.space, p)
	if err != nil {
		report.Verdict = core.Inconclusive
		v.because(undecided(p, err))
	}
	space, violations := v.shorten(ctx, p, violations)
	v.tellViolations(space, p, violations, &report)
	v.reports = append(v.reports, report)
	v.logger.Debug("a property was judged", "property", p.Name, "verdict", report.Verdict, "elapsed", time.Since(began))
}

// storyStates is how many states are searched without leaving out anything at most, to tell shorter stories.
const storyStates = 50_000

// shorten returns violations of a property with the stories of a search of all orders, if they are not longer. Where
// controllers that change nothing are followed alone, what they do is part of every story; a search of all orders, in
// which nothing has to be learned any more, has stories without it.
func (v *verdict) shorten(ctx context.Context, p core.Property, violations []core.Violation) (*explore.Space, []core.Violation) {
	if len(violations) == 0 || v.whole() == nil {
		return v.space, violations
	}
	others, err := v.violations(ctx, v.whole(), p)
	if err != nil || len(others) == 0 || steps(others) > steps(violations) {
		return v.space, violations
	}
	return v.whole(), others
}

// steps counts the steps of the stories of violations.
func steps(violations []core.Violation) int {
	n := 0
	for _, violation := range violations {
		n += len(violation.Stem) + len(violation.Cycle)
		if violation.Other != nil {
			n += len(*violation.Other)
		}
	}
	return n
}

// tellViolations tells the stories of the violations of a property in a space, and says so in the report of the
// property.
func (v *verdict) tellViolations(space *explore.Space, p core.Property, violations []core.Violation, report *core.PropertyReport) {
	for _, violation := range violations {
		finding, err := v.finding(space, p, violation)
		if err != nil {
			why := fmt.Sprintf("its trace could not be reproduced: %v", err)
			if ended(err) {
				why = "the check ended before its trace could be run again"
			}
			v.because(fmt.Sprintf("a violation of %q was found, but %s", p.Name, why))
			if report.Verdict == core.Holds {
				report.Verdict = core.Inconclusive
			}
			continue
		}
		if why := v.byChance(space, p, finding); why != "" {
			v.because(fmt.Sprintf("a violation of %q was found (%s), but it depends on %s", p.Name, finding.Summary, why))
			if report.Verdict == core.Holds {
				report.Verdict = core.Inconclusive
			}
			continue
		}
		report.Verdict = core.Violated
		report.Warning = finding.Warning
		finding.ID = len(v.findings) + 1
		v.findings = append(v.findings, finding)
	}
}

// doubtful reports whether something was found, or could not be judged.
func (v *verdict) doubtful() bool {
	return len(v.findings) > 0 || len(v.reasons) > len(v.space.Reasons())
}

func (v *verdict) because(reason string) {
	if !slices.Contains(v.reasons, reason) {
		v.reasons = append(v.reasons, reason)
	}
}

// ended reports whether an error is that of a context.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// longer says what helps if an error is that the time was over.
func longer(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return ": raise --max-time (Options.MaxTime)"
	}
	return ""
}

func undecided(p core.Property, err error) string {
	switch {
	case !ended(err):
	case p.Judge == nil:
		return fmt.Sprintf("%q is violated, but the check ended before a run could be found that shows it", p.Name) + longer(err)
	default:
		return fmt.Sprintf("the search ended before %q could be judged", p.Name) + longer(err)
	}
	return fmt.Sprintf("%q could not be judged: %v", p.Name, err)
}

// violations returns what is wrong with a property in a space. A panic of a property is an error.
func (v *verdict) violations(ctx context.Context, space *explore.Space, p core.Property) (violations []core.Violation, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panicked: %v (at %s)", value, goroutine.Culprit())
		}
	}()
	id, broken := space.Broken(p.Name)
	if p.Judge == nil && broken == nil {
		return nil, nil
	}
	err = space.Within(v.telling, func() (err error) {
		if p.Judge == nil {
			violations = v.broken(space, p, id, broken)
			return nil
		}
		g, err := v.graphFor(space, p)
		if err == nil {
			violations, err = p.Judge(ctx, g)
		}
		return err
	})
	return violations, err
}

// broken returns how an invariant is violated that is broken in a state.
func (v *verdict) broken(space *explore.Space, p core.Property, id core.StateID, broken error) []core.Violation {
	violates := func(other core.StateID) bool { return other == id }
	if !space.Minimal() {
		violates = func(other core.StateID) bool { return p.Invariant(space.State(other)) != nil }
	}
	stem, _ := space.Shortest(violates)
	violation := core.Violation{Summary: fmt.Sprintf("%s: %v", p.Name, broken), Stem: stem, State: stem.End(id)}
	if len(stem) > 0 {
		last := stem[len(stem)-1]
		violation.Controllers = []string{last.Step.Item.Strategy}
		violation.Fields = properties.ChangedFields(space.Effect(last))
	}
	return []core.Violation{violation}
}

// finding tells the story of a violation. The error means that it did not happen
// again when it was run again.
func (v *verdict) finding(space *explore.Space, p core.Property, violation core.Violation) (core.Finding, error) {
	trace, err := v.tell(space, violation.Stem, violation.Cycle, violation.State, violation.Probe)
	if err != nil {
		return core.Finding{}, err
	}
	finding := core.Finding{
		Property:    p.Name,
		Warning:     p.Warning || demandsDeterminism(p),
		Summary:     violation.Summary,
		Details:     violation.Details,
		Steps:       len(trace.Steps),
		Controllers: append([]string{}, violation.Controllers...),
		Fields:      append([]string{}, violation.Fields...),
		Trace:       trace,
	}
	if violation.Other != nil {
		other, err := v.tell(space, *violation.Other, nil, violation.OtherState, nil)
		if err != nil {
			return core.Finding{}, err
		}
		finding.Other = &other
	}
	if text := properties.Disturbance(slices.Concat(violation.Stem, violation.Cycle)); text != "" {
		finding.Details = append(slices.Clip(finding.Details), text)
		finding.Details = append(finding.Details, unseen(trace)...)
	}
	finding.Sites = sitesOf(finding)
	return finding, nil
}

// unseen says what the stale caches did not show that controllers acted on, once for each of them.
func unseen(trace core.Trace) []string {
	var lines, told []string
	for i, step := range trace.Steps {
		if len(step.Unseen) > 0 && !slices.Contains(told, step.Controller) {
			told = append(told, step.Controller)
			lines = append(lines, fmt.Sprintf("In step %d, the cache of %s does not yet show that %s.", i+1, step.Controller, strings.Join(step.Unseen, ", and that ")))
		}
	}
	return lines
}

func (v *verdict) tell(space *explore.Space, stem, cycle core.Run, end core.StateID, probe *core.Step) (trace core.Trace, err error) {
	start := end
	if len(stem) > 0 {
		start = stem[0].From
	}
	err = space.Within(v.telling, func() (err error) {
		if trace, err = space.Trace(v.telling, start, slices.Concat(stem, cycle), probe); err != nil {
			return err
		}
		return space.Follow(start, stem, cycle)
	})
	if err != nil {
		return core.Trace{CycleStart: -1}, err
	}
	if len(cycle) > 0 {
		trace.CycleStart = len(stem)
	}
	return trace, nil
}

// report puts everything together.
func (v *verdict) report(system *core.System, options Options, began time.Time) core.Report {
	stats, unchecked := v.space.Stats, v.space.Unchecked()
	spans, _ := v.space.Passing()
	r := core.Report{
		Schema:             core.ReportSchema,
		System:             system.Name,
		Params:             map[string]string{},
		Granularity:        string(options.Granularity),
		Stale:              options.staleness(),
		Crashes:            options.Crashes,
		Failures:           options.Failures,
		FaultsIn:           options.FaultsIn,
		Views:              v.space.Views(),
		Memory:             v.space.Memory(),
		IgnoredMemory:      options.ignoredMemory(system),
		Doubles:            options.Doubles,
		Orders:             options.Orders,
		Deadlines:          max(0, options.Deadlines),
		Awaiting:           v.space.Awaiting(),
		Spans:              spans,
		Ordered:            v.space.Ordered(),
		Counted:            v.space.Counted(),
		Adopted:            v.space.Adopted(),
		Workers:            options.Workers,
		Compact:            options.Compact,
		MissedStateOdds:    v.space.Odds(),
		Seed:               options.Seed,
		States:             v.space.States(),
		Transitions:        stats.Transitions,
		StateParts:         v.space.Parts(),
		StatesIdleFirst:    v.space.IdleFirst(),
		TerminalStates:     stats.Terminal,
		Depth:              stats.Depth,
		ReconcilesExecuted: stats.Executed,
		StepsFromTree:      stats.FromTree,
		Behaviours:         stats.Behaviours,
		Assumptions:        v.assumptions(system, options, unchecked),
		Unchecked:          unchecked,
		Properties:         v.reports,
		Findings:           append([]core.Finding{}, v.findings...),
		Outcomes:           v.ends,
		OutcomeList:        v.outcomes,
	}
	maps.Copy(r.Params, options.Params)
	r.Reasons = append(append([]string{}, v.reasons...), v.unmodelled...)
	switch {
	case v.violated():
		r.Verdict = core.Violated
	case len(r.Reasons) > 0:
		r.Verdict = core.Inconclusive
	default:
		r.Verdict = core.Holds
	}
	r.Elapsed = time.Since(began)
	r.ElapsedMS = r.Elapsed.Milliseconds()
	r.StatesPerSecond = perSecond(r.States, r.Elapsed)
	return r
}

// toldOutcomes is how many of the ends are told, with a run to each: more than anybody
// reads.
const toldOutcomes = 16

// tellOutcomes counts the different ends, and tells the first of them, each with a
// shortest run to it.
func (v *verdict) tellOutcomes(ctx context.Context) (int, []core.OutcomeReport) {
	var outcomes []properties.Outcome
	var reports []core.OutcomeReport
	err := v.space.Within(v.telling, func() (err error) {
		outcomes, err = v.differentOutcomes(ctx)
		for _, o := range outcomes[:min(len(outcomes), toldOutcomes)] {
			if stem, found := o.Shortest(v.space); found {
				at := stem.End(o.States[0])
				trace, err := v.tell(v.space, stem, nil, at, nil)
				if err != nil && !ended(err) {
					v.because(fmt.Sprintf("the trace to an outcome could not be reproduced: %v", err))
				}
				reports = append(reports, core.OutcomeReport{State: at, States: len(o.States), Objects: v.space.Objects(at), Trace: trace})
			}
		}
		return err
	})
	if err != nil {
		v.because("the search ended before all outcomes could be compared" + longer(err))
	}
	return len(outcomes), reports
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

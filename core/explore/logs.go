package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

const (
	// listens is how often a run is listened to, so that what chance puts into its lines is seen: as often as a run is
	// audited for a fair coin. Code that logs more than talkative lines is listened to twice.
	listens   = 11
	talkative = 1_000
	// mostLogs is how many lines of a step are shown.
	mostLogs = 100
	// varies stands for a value that is another one each time the code does the same.
	varies = "(varies)"
)

// listen adds to a step what controllers log in it. It runs the code once more, apart from where it is made sure that
// the step happens: to listen must not make a difference to that, and where it makes one to the code, the lines are not
// known.
func (t *traceBuilder) listen(ctx context.Context, traced *core.TraceStep) error {
	var missing []string
	for _, r := range slices.SortedStableFunc(slices.Values(t.runs), handlersLast) {
		by := ""
		if r.Activation.Event != nil {
			by = r.actor.Name
		}
		lines, left, err := t.heard(ctx, r)
		if err != nil {
			return err
		}
		before := 0
		if by == "" {
			before = len(r.Path) - ownCalls(t.calls)
		}
		for _, line := range lines {
			if before == 0 || line.Calls > before {
				traced.Logs = append(traced.Logs, core.TraceLog{LogLine: line.LogLine, Handler: by, Calls: line.Calls - before, Aside: line.Aside})
			}
		}
		for _, what := range left {
			if !slices.Contains(missing, what) {
				missing = append(missing, what)
			}
		}
	}
	if more := len(traced.Logs) - mostLogs; more > 0 {
		traced.Logs = traced.Logs[:mostLogs]
		missing = slices.Insert(missing, 0, fmt.Sprintf("%d lines after the first %d", more, mostLogs))
	}
	traced.MissingLogs = strings.Join(missing, "; ")
	return nil
}

// handlersLast puts reconciles before event handlers.
func handlersLast(a, b ranAs) int {
	switch handles := a.Activation.Event != nil; {
	case handles == (b.Activation.Event != nil):
		return 0
	case handles:
		return 1
	}
	return -1
}

// ownCalls counts the calls of a step that are those of its reconcile.
func ownCalls(calls []core.TraceCall) int {
	n := 0
	for _, call := range calls {
		if call.Handler == "" {
			n++
		}
	}
	return n
}

// heard returns what a run logs, and what of it is left out, nil if nothing is.
func (t *traceBuilder) heard(ctx context.Context, r ranAs) (lines []behavior.Logged, left []string, err error) {
	l := t.walker.Learn
	switch {
	case r.Leaf != nil && r.Leaf.Failure.Stuck():
		return nil, []string{fmt.Sprintf("all lines of %s, which does not return", r.actor.Name)}, nil
	case l.Fickle(r.actor):
		return nil, []string{fmt.Sprintf("all lines of %s, which is nondeterministic", r.actor.Name)}, nil
	}
	var all [][]behavior.Logged
	full := false
	for range listens {
		var logs *behavior.Logs
		divergence, err := l.Repeat(ctx, r.actor, r.Run, func(session *behavior.Session) {
			logs = new(behavior.Logs) // what was logged on other ways is left out
			session.Listen(logs)
		})
		if err != nil {
			return nil, nil, err
		}
		if divergence != nil {
			return nil, []string{fmt.Sprintf("all lines of %s, which does something else when its loggers are enabled", r.actor.Name)}, nil
		}
		heard := logs.Lines()
		all, full = append(all, heard), full || logs.Full()
		if len(heard) > talkative && len(all) > 1 || len(heard) == 0 && len(all) > 1 {
			break
		}
	}
	if full {
		if slices.ContainsFunc(slices.Concat(all...), func(line behavior.Logged) bool { return line.Aside }) {
			return nil, []string{fmt.Sprintf("all lines of %s, which logs more than %d, in several goroutines", r.actor.Name, behavior.MostHeard)}, nil
		}
		left = append(left, fmt.Sprintf("all lines after the first %d", behavior.MostHeard))
	}
	lines, left = agreed(all, left)
	return lines, left, nil
}

// agreed returns what all of several runs of the same code log, and adds what is left out since it is not the same each
// time.
func agreed(runs [][]behavior.Logged, left []string) (lines []behavior.Logged, _ []string) {
	last := 0
	for _, run := range runs {
		if len(run) > 0 {
			last = max(last, run[len(run)-1].Calls)
		}
	}
	unsorted, missing := false, false
	for calls := range last + 1 {
		var parts [][]behavior.Logged
		for _, run := range runs {
			parts = append(parts, slices.DeleteFunc(slices.Clone(run), func(line behavior.Logged) bool { return line.Calls != calls }))
		}
		part, ok := parts[0], same(parts, behavior.CompareLogged)
		if !ok {
			part, ok = masked(parts)
		}
		if !ok {
			for _, lines := range parts {
				slices.SortFunc(lines, behavior.CompareLogged)
			}
			part, ok = parts[0], same(parts, behavior.CompareLogged)
			unsorted = unsorted || ok
		}
		if ok {
			lines = append(lines, part...)
		} else {
			missing = true
		}
	}
	if unsorted {
		left = append(left, "the order of some lines, which is another one each time")
	}
	if missing {
		left = append(left, "lines that are others each time")
	}
	return lines, left
}

// same reports whether all runs have the same lines, by what tells them apart.
func same(runs [][]behavior.Logged, compare func(a, b behavior.Logged) int) bool {
	return !slices.ContainsFunc(runs, func(run []behavior.Logged) bool {
		return slices.CompareFunc(run, runs[0], compare) != 0
	})
}

// masked returns the lines of several runs that differ in nothing but values, without those values; false if they
// differ in more.
func masked(runs [][]behavior.Logged) ([]behavior.Logged, bool) {
	if !same(runs, func(a, b behavior.Logged) int { return behavior.CompareLogged(valueless(a), valueless(b)) }) {
		return nil, false
	}
	lines := slices.Clone(runs[0])
	for i := range lines {
		lines[i].Values = slices.Clone(lines[i].Values)
		for j := range lines[i].Values {
			if slices.ContainsFunc(runs, func(run []behavior.Logged) bool { return run[i].Values[j] != lines[i].Values[j] }) {
				lines[i].Values[j].Value = varies
			}
		}
	}
	return lines, true
}

// valueless returns a line with the keys of its values alone.
func valueless(line behavior.Logged) behavior.Logged {
	line.Values = slices.Clone(line.Values)
	for i := range line.Values {
		line.Values[i].Value = ""
	}
	return line
}

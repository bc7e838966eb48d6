package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Measure runs random sequences of a length on all sides until so many requests were
// made, and counts what came of it. Equal seeds give equal sequences.
func (l *Laboratory) Measure(ctx context.Context, seed uint64, requests, length int) (*Fidelity, error) {
	f := &Fidelity{
		Seed:           seed,
		Seeds:          1,
		Requests:       requests,
		Tally:          Tally{},
		Unsupported:    map[string]int{},
		Findings:       map[string]*Finding{},
		Accepted:       map[string]*Finding{},
		Normalisations: l.Normalisations,
	}
	generator := newGenerator(seed, l.Subjects)
	for done := 0; done < requests; done += length {
		sequence := generator.sequence(length)
		trial, err := l.Run(ctx, sequence, true)
		if err != nil {
			return nil, fmt.Errorf("%w, in\n%s", err, sequence)
		}
		f.count(sequence, trial)
	}
	return f, nil
}

// count adds a trial.
func (f *Fidelity) count(sequence Sequence, trial *Trial) {
	f.Tally.Count(trial)
	for _, step := range trial.Steps {
		if step.Simulated.Unsupported != "" {
			f.Unsupported[fmt.Sprintf("%s of %s, %s", step.Action.Verb, step.Action.Subject, step.Action.Feature)]++
		}
	}
	for _, d := range trial.Differences() {
		if name := acceptance(d); name != "" {
			find(f.Accepted, name, d, sequence)
		} else {
			find(f.Findings, d.Signature(), d, sequence)
		}
	}
}

// Agreements returns sequences on which the simulated server and the real one agree, as
// golden cases: few of them, that have each verb on each kind and each feature on built-in
// kinds and on custom resources, as far as they were met.
func (l *Laboratory) Agreements(ctx context.Context, seed uint64, requests, length int) ([]*Golden, error) {
	generator := newGenerator(seed, l.Subjects)
	// worthwhile is how many new aspects a case must have.
	const worthwhile = 3
	covered := map[string]bool{}
	var cases []*Golden
	for done := 0; done < requests; done += length {
		sequence := generator.sequence(length)
		for i := range sequence {
			sequence[i].Typed, sequence[i].MetadataOnly = false, false
		}
		if l.uncovered(sequence, covered) < worthwhile {
			continue
		}
		trial, err := l.Run(ctx, sequence, false)
		if err != nil {
			return nil, err
		}
		// What never reached the simulated server, or is not modelled, has changed nothing.
		trial.Steps = slices.DeleteFunc(trial.Steps, func(s Step) bool { return len(s.Requests) != 1 || s.Simulated.Unsupported != "" })
		golden, whole := trial.Golden("a random sequence on which both servers agree")
		if !whole || len(trial.Differences()) > 0 || l.uncovered(trial.actions(), covered) < worthwhile {
			continue
		}
		for _, step := range trial.Steps {
			for _, aspect := range l.aspects(step.Action) {
				covered[aspect] = true
			}
		}
		cases = append(cases, golden)
	}
	return cases, nil
}

// uncovered counts the aspects of actions that are not covered.
func (l *Laboratory) uncovered(actions Sequence, covered map[string]bool) int {
	fresh := map[string]bool{}
	for _, a := range actions {
		for _, aspect := range l.aspects(a) {
			if !covered[aspect] {
				fresh[aspect] = true
			}
		}
	}
	return len(fresh)
}

// aspects name what an action shows.
func (l *Laboratory) aspects(a Action) []string {
	i := slices.IndexFunc(l.Subjects, func(s Subject) bool { return s.Name == a.Subject })
	return []string{
		fmt.Sprintf("%s %s", a.Verb, a.Subject),
		fmt.Sprintf("%s %s, custom: %t", a.Verb, a.Feature, l.Subjects[i].Custom()),
	}
}

// Transcript tells a trial: the actions with the outcome on both sides.
func (t *Trial) Transcript() string {
	var b strings.Builder
	for i, step := range t.Steps {
		fmt.Fprintf(&b, "%d. %s\n   real:      %s\n", i+1, step.Action, step.Real.Answer.outcome())
		if step.Simulated.Unsupported != "" {
			fmt.Fprintf(&b, "   simulated: %s\n", step.Simulated.Unsupported)
			continue
		}
		fmt.Fprintf(&b, "   simulated: %s\n", step.Simulated.Answer.outcome())
	}
	for _, d := range t.Differences() {
		fmt.Fprintf(&b, "   %s: %s\n", d.Place, d.Change)
	}
	return b.String()
}

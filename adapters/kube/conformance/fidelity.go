package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

// Fidelity is what was measured, ready to be written as a page.
type Fidelity struct {
	// Seed, Seeds and Requests say how to measure it again: so many requests with each of
	// so many seeds.
	Seed     uint64
	Seeds    int
	Requests int
	Tally    Tally
	// Unsupported counts what the simulated server has said not to model.
	Unsupported map[string]int
	// Findings are the differences from the real server that are not accepted, by signature.
	Findings map[string]*Finding
	// Accepted are those that are, by the name of the acceptance.
	Accepted       map[string]*Finding
	Normalisations []Normalisation
}

// Add adds what was measured with the next seed.
func (f *Fidelity) Add(next *Fidelity) {
	f.Seeds += next.Seeds
	f.Tally.Add(next.Tally)
	for missing, count := range next.Unsupported {
		f.Unsupported[missing] += count
	}
	addFindings(f.Findings, next.Findings)
	addFindings(f.Accepted, next.Accepted)
}

func addFindings(all, more map[string]*Finding) {
	for name, finding := range more {
		if known := all[name]; known != nil {
			known.Count += finding.Count
		} else {
			all[name] = finding
		}
	}
}

// find counts a difference, and keeps the first one as the example.
func find(findings map[string]*Finding, name string, d Difference, sequence Sequence) {
	if findings[name] == nil {
		findings[name] = &Finding{Example: d, Sequence: sequence}
	}
	findings[name].Count++
}

// Finding is a kind of difference between the simulated server and the real one.
type Finding struct {
	Count   int
	Example Difference
	// Sequence shows it.
	Sequence Sequence
}

// Markdown writes the page.
func (f *Fidelity) Markdown() string {
	var b strings.Builder
	total := f.Tally.Total()
	fmt.Fprintf(&b, `# Fidelity: the simulated API server, measured

This page is generated. To measure it again:

    cd adapters/kube/conformance
    go test -run TestAgainstRealAPIServer -seeds %d -requests %d -seed %d -timeout 2h -fidelity ../../../docs/fidelity.md

Random sequences of requests go through controller-runtime's client to the simulated API
server and to a real kube-apiserver %s with etcd. No controllers run on either. The same
sequences go to controller-runtime's fake client. After each request the answer to the client
and all stored objects are compared with the real ones.

- *same outcome*: done on both sides, or refused on both with the same code and reason.
- *same in full*: besides, the same message, causes and returned object, and nothing stored
  that differs in a way it did not differ before the request.
- *unsupported*: the simulated server said that it does not model the request. A check
  that meets such a request never ends in "holds". These requests are left out on all sides.

A side is followed through a sequence until an object is there that is not there on the real
side, or the other way round, or a request is done on one of them only: the rest of the
sequence is not counted for that side.

| | requests compared | same outcome | same in full | unsupported |
| --- | ---: | ---: | ---: | ---: |
`, f.Seeds, f.Requests, f.Seed, controlplane.Version)
	fmt.Fprintf(&b, "| Orrery | %s |\n", total.Simulated.cells())
	fmt.Fprintf(&b, "| fake client | %s |\n", total.Fake.cells())
	b.WriteString("\nThe fake client has no HTTP: requests that no client library makes (raw) are unsupported by it.\n")

	b.WriteString("\n## By verb and feature\n\n")
	b.WriteString("| verb | feature | Orrery: compared | same outcome | same in full | unsupported | fake client: compared | same outcome | same in full | unsupported |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, feature := range f.Tally.Features() {
		scores := f.Tally[feature]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", feature.Verb, feature.Name, scores.Simulated.cells(), scores.Fake.cells())
	}

	b.WriteString("\n## What Orrery says not to model\n\n")
	if len(f.Unsupported) == 0 {
		b.WriteString("Nothing that was asked.\n")
	}
	for _, missing := range slices.Sorted(maps.Keys(f.Unsupported)) {
		fmt.Fprintf(&b, "- %s (%s)\n", missing, times(f.Unsupported[missing]))
	}

	b.WriteString("\n## Where Orrery differs\n\n")
	if len(f.Findings) == 0 {
		b.WriteString("Nowhere in these requests.\n")
	}
	for _, signature := range slices.Sorted(maps.Keys(f.Findings)) {
		finding := f.Findings[signature]
		fmt.Fprintf(&b, "- `%s` (%s): %s, real → simulated\n", signature, times(finding.Count), quoted(finding.Example.Change.String()))
	}

	f.writeAccepted(&b)
	b.WriteString("\n## What is not compared\n\n")
	b.WriteString("Uids are compared as \"that of this object\", resource versions by equality and by the order in which they appear,\n" +
		"the times of the run by presence, generated names by their order, the managers in `metadata.managedFields` in any\n" +
		"order, which on a real server depends on the time. Besides:\n\n")
	for _, n := range f.Normalisations {
		kind := n.Kind
		if kind == "" {
			kind = "every kind"
		}
		fmt.Fprintf(&b, "- `%s` of %s (%s). %s\n", n.Path, kind, n.Treatment, n.Reason)
	}
	return b.String()
}

// writeAccepted writes the list of accepted differences with how often each was met.
func (f *Fidelity) writeAccepted(b *strings.Builder) {
	b.WriteString("\n## Where Orrery differs, and no controller runs into it\n\n" +
		"These requests are counted as different above. Any other difference fails the test.\n\n")
	for _, a := range Accepted() {
		met := "never"
		if finding := f.Accepted[a.Name]; finding != nil {
			met = times(finding.Count)
		}
		fmt.Fprintf(b, "- %s (%s). %s\n", a.Name, met, a.Reason)
	}
}

// cells are the columns of a score: "-" where nothing was compared.
func (s Score) cells() string {
	part := func(n int) string {
		if s.Asked == 0 {
			return "-"
		}
		const whole = 100
		return fmt.Sprintf("%d (%d%%)", n, n*whole/s.Asked)
	}
	return fmt.Sprintf("%d | %s | %s | %d", s.Asked, part(s.SameOutcome), part(s.Same), s.Unsupported)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// quoted is a text as code in a list, cut where it gets long.
func quoted(text string) string {
	const longest = 200
	text = strings.ReplaceAll(strings.ReplaceAll(text, "`", "'"), "\n", " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return "`" + text + "`"
}

// String tells what was measured: the totals, what is not modelled, which acceptances were
// met, and what differs besides.
func (f *Fidelity) String() string {
	var b strings.Builder
	total := f.Tally.Total()
	fmt.Fprintf(&b, "%d seeds from %d on, %d requests with each\n", f.Seeds, f.Seed, f.Requests)
	for _, side := range []struct {
		name  string
		score Score
	}{{"the simulated server", total.Simulated}, {"the fake client", total.Fake}} {
		fmt.Fprintf(&b, "%s: %d compared, %d with the same outcome, %d the same in full; %d unsupported\n",
			side.name, side.score.Asked, side.score.SameOutcome, side.score.Same, side.score.Unsupported)
	}
	for _, missing := range slices.Sorted(maps.Keys(f.Unsupported)) {
		fmt.Fprintf(&b, "not modelled: %s (%s)\n", missing, times(f.Unsupported[missing]))
	}
	for _, a := range Accepted() {
		if finding := f.Accepted[a.Name]; finding != nil {
			fmt.Fprintf(&b, "accepted: %s (%s), for example\n    %s\n", a.Name, times(finding.Count), finding.Example)
		} else {
			fmt.Fprintf(&b, "accepted, and never met: %s\n", a.Name)
		}
	}
	for _, signature := range slices.Sorted(maps.Keys(f.Findings)) {
		fmt.Fprintf(&b, "different: %s (%s), for example\n    %s\n", signature, times(f.Findings[signature].Count), f.Findings[signature].Example)
	}
	return b.String()
}

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

package properties

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// SameOutcome holds if every run that settles ends the same: with the same objects, up to names, times and versions
// that cannot matter. Only runs in which users did the same in the same order are compared, and only those without
// faults and with fresh caches: what these change is for [CrashSafety] and [StalenessSafety].
//
// Comparisons are rules for comparing objects, such as [Without].
func SameOutcome(comparisons ...core.Comparison) core.Property {
	return comparing(comparisons, core.Property{
		Name:   "same outcome",
		Doc:    "Every run that settles reaches the same outcome, whatever the order of the steps.",
		Judge:  judgeOutcome,
		Ends:   true,
		Merges: core.InEnds,
	})
}

// Outcome is one way in which a system can end.
type Outcome struct {
	// History is what users have done on the way.
	History []core.Request
	// Awaited are the items that wait at the end for a time that was not searched.
	Awaited []core.Item
	// Objects are the fields that matter of each object.
	Objects map[core.Key]any
	// States are the settled states that end so, in the order of their numbers.
	States []core.StateID
}

// Outcomes returns the different ways in which a system can end, the one that is found
// first first. It stops early with the error of the context when that ends.
func Outcomes(ctx context.Context, g core.Graph) ([]Outcome, error) {
	var outcomes []Outcome
	byText, settled := map[string]int{}, map[string]bool{}
	r := newRest(g)
	ends, err := Ends(ctx, g)
	if err != nil {
		return nil, err
	}
	for _, id := range ends {
		if err := ctx.Err(); err != nil {
			return outcomes, err
		}
		objects := g.CanonicalOutcome(id, g.Outcome(id))
		text, err := outcomeText(objects)
		if err != nil {
			return outcomes, err
		}
		whole := text
		if c, ok := g.(*compared); ok {
			if whole, err = outcomeText(c.Graph.Outcome(id)); err != nil {
				return outcomes, err
			}
		}
		history, awaited := g.History(id), g.Awaited(id)
		text += fmt.Sprintf("%q %q", history, awaited)
		whole += fmt.Sprintf("%q %q", history, awaited)
		// Equal ends settle alike, but for work that hangs on what was queued before. What is left out of a comparison
		// may have more to follow.
		if !settled[whole] {
			if !r.stays(id) {
				continue
			}
			settled[whole] = true
		}
		i, known := byText[text]
		if !known {
			i = len(outcomes)
			byText[text] = i
			outcomes = append(outcomes, Outcome{History: history, Awaited: awaited, Objects: objects})
		}
		outcomes[i].States = append(outcomes[i].States, id)
	}
	return outcomes, nil
}

func outcomeText(objects map[core.Key]any) (string, error) {
	var b strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(objects), core.Key.Compare) {
		text, err := json.Marshal(objects[key])
		if err != nil {
			return "", fmt.Errorf("the outcome of %s: %w", key, err)
		}
		fmt.Fprintf(&b, "%q %q %q %s\n", key.Kind, key.Namespace, key.Name, text)
	}
	return b.String(), nil
}

func judgeOutcome(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	outcomes, err := Outcomes(ctx, g)
	if err != nil || len(outcomes) < 2 {
		return nil, err
	}
	calm, patterns := undisturbed(g), patternNames{names: requestNames(g)}
	var found causes
	for _, group := range alike(outcomes) {
		expected := slices.DeleteFunc(group, func(o Outcome) bool { return !calm.reaches(o) })
		for _, d := range divergences(expected, patterns) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			why, about := causeOf(patterns.all(d.differences)...), objectOf(fieldsOf(d.differences))
			if !found.known(why, about) {
				found.tell(why, about, tellDivergence(quiet{g}, d, len(expected)))
			}
		}
	}
	return found.violations(), nil
}

// divergence is two ways in which a system can end, and how they differ.
type divergence struct {
	one, other  Outcome
	differences []difference
}

// divergences compares each of some outcomes with the nearest of those before it, and returns those that are not made
// up of others: where something differs that no smaller difference has, and where the same differs in other objects.
// The patterns of what differs are the cause: what is decided together differs together. What no smaller difference has
// comes first.
func divergences(outcomes []Outcome, patterns patternNames) []divergence {
	var all []divergence
	for i := 1; i < len(outcomes); i++ {
		one, differences := nearest(outcomes[:min(i, maxCompared)], outcomes[i])
		all = append(all, divergence{one, outcomes[i], turned(differences)})
	}
	slices.SortStableFunc(all, func(a, b divergence) int { return len(a.differences) - len(b.differences) })
	explained, objects, told := map[string]bool{}, map[field]bool{}, map[string]bool{}
	kept := all[:0]
	for _, d := range all {
		var own, others []difference
		for _, one := range bySeverity(d.differences) {
			if explained[patterns.of(one)] {
				others = append(others, one)
			} else {
				own = append(own, one)
			}
		}
		name := strings.Join(patterns.all(d.differences), "\n")
		elsewhere := told[name] && slices.ContainsFunc(d.differences, func(one difference) bool { return !objects[one.field] })
		told[name] = told[name] || len(own) > 0
		for _, one := range d.differences {
			explained[patterns.of(one)], objects[one.field] = true, true
		}
		if len(own) > 0 || elsewhere {
			d.differences = append(own, others...)
			kept = append(kept, d)
		}
	}
	return kept
}

// maxCompared is how many outcomes others are compared with.
const maxCompared = 64

// turned returns differences as seen from the second outcome.
func turned(differences []difference) []difference {
	all := slices.Clone(differences)
	for i, d := range all {
		all[i].from, all[i].to = d.to, d.from
		switch d.which {
		case onlyFirst:
			all[i].which = onlySecond
		case onlySecond:
			all[i].which = onlyFirst
		}
	}
	return all
}

// alike groups outcomes that can be expected to be the same, in the order of the first of each group: users have done
// the same, and the same items wait for times that were not searched. An end at which somebody still waits may come to
// one at which nobody does. Where a process waits in the background, its time has passed by itself and together with
// all other time, so that nobody knows which end has come further: it may have renewed a certificate once more.
func alike(outcomes []Outcome) [][]Outcome {
	inBackground := func(item core.Item) bool {
		_, is := core.BackgroundOf(item.Strategy)
		return is
	}
	var groups [][]Outcome
	for _, o := range outcomes {
		i := slices.IndexFunc(groups, func(group []Outcome) bool {
			return slices.Equal(group[0].History, o.History) && slices.Equal(group[0].Awaited, o.Awaited) && !slices.ContainsFunc(o.Awaited, inBackground)
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}

// tellDivergence tells that a system can end in different ways, of which there are a number.
func tellDivergence(g core.Graph, d divergence, ways int) core.Violation {
	stem, second, decided := parting(g, d.one, d.other)
	if !decided {
		stem, _ = d.one.Shortest(g)
		second, _ = d.other.Shortest(g)
	}
	parted := commonSteps(stem, second)
	var controllers []string
	for _, run := range []core.Run{stem, second} {
		if parted < len(run) && !slices.Contains(controllers, run[parted].Step.Item.Strategy) {
			controllers = append(controllers, run[parted].Step.Item.Strategy)
		}
	}
	by := "the order of steps"
	if parted < min(len(stem), len(second)) && stem[parted].Step.Chance() && stem[parted].Step.Item == second[parted].Step.Item {
		by = "chance"
	}
	names := namesOf(fieldsOf(d.differences))
	return core.Violation{
		Summary:     fmt.Sprintf("the system can reach %d different outcomes, depending on %s: they differ in %s", ways, by, changesText(names)),
		Details:     append(linesOf(d.differences), sayParting(stem, second, parted)),
		Controllers: controllers,
		Fields:      names,
		Stem:        stem,
		State:       stem.End(d.one.States[0]),
		Other:       &second,
		OtherState:  second.End(d.other.States[0]),
	}
}

// commonSteps returns how many steps two runs have in common at their beginning.
func commonSteps(one, other core.Run) int {
	n := 0
	for n < min(len(one), len(other)) && one[n].Step == other[n].Step && one[n].To == other[n].To {
		n++
	}
	return n
}

// Shortest returns a shortest run that ends so, and false if there is none.
func (o Outcome) Shortest(g core.Graph) (core.Run, bool) {
	return g.Shortest(func(id core.StateID) bool {
		_, found := slices.BinarySearch(o.States, id)
		return found
	})
}

func sayParting(one, other core.Run, parted int) string {
	at := func(run core.Run) string {
		if parted < len(run) {
			return run[parted].Step.String()
		}
		return "no further step"
	}
	if parted == 0 {
		return fmt.Sprintf("The traces diverge at the first step: in the first, %s; in the second, %s.", at(one), at(other))
	}
	steps := "steps"
	if parted == 1 {
		steps = "step"
	}
	return fmt.Sprintf("The traces diverge after %d common %s: in the first, %s; in the second, %s.", parted, steps, at(one), at(other))
}

// parting returns two runs that end in different ways and part where that is decided: up to there
// they are one run from which both ends can be reached, and behind it neither can
// reach the end of the other. Of all such pairs it is a shortest. It returns false if
// nothing is ever decided in one step.
func parting(g core.Graph, one, other Outcome) (first, second core.Run, ok bool) {
	from := distancesFrom(g)
	back := reversed(g)
	toOne, toOther := back.distancesTo(one.States), back.distancesTo(other.States)

	best := -1
	var at core.StateID
	var left, right core.Edge
	for id := range core.StateID(g.States()) {
		if from.steps[id] < 0 || toOne[id] < 0 || toOther[id] < 0 {
			continue
		}
		a, foundOne := towards(g, id, toOne, toOther)
		b, foundOther := towards(g, id, toOther, toOne)
		if !foundOne || !foundOther {
			continue
		}
		length := int(from.steps[id] + toOne[a.To] + toOther[b.To])
		if best < 0 || length < best {
			best, at, left, right = length, id, a, b
		}
	}
	if best < 0 {
		return nil, nil, false
	}
	stem := from.run(g, at)
	return descend(g, append(slices.Clone(stem), left), toOne), descend(g, append(stem, right), toOther), true
}

// towards returns the step from a state that leads nearest to one end and to where the
// other end can no longer be reached.
func towards(g core.Graph, id core.StateID, end, away []int32) (step core.Edge, found bool) {
	for _, e := range g.Edges(id) {
		if end[e.To] >= 0 && away[e.To] < 0 && (!found || end[e.To] < end[step.To]) {
			step, found = e, true
		}
	}
	return step, found
}

// descend continues a run by shortest steps to an end.
func descend(g core.Graph, run core.Run, end []int32) core.Run {
	for at := run.End(0); end[at] > 0; at = run.End(at) {
		edges := g.Edges(at)
		next := slices.IndexFunc(edges, func(e core.Edge) bool { return end[e.To] == end[at]-1 })
		run = append(run, edges[next])
	}
	return run
}

// forward is how far states are from the start: -1 if they cannot be reached.
type forward struct {
	steps  []int32
	parent []core.StateID
}

func distancesFrom(g core.Graph) forward {
	f := forward{steps: unreached(g.States()), parent: make([]core.StateID, g.States())}
	var queue []core.StateID
	for _, id := range g.Initial() {
		f.steps[id] = 0
		queue = append(queue, id)
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, e := range g.Edges(id) {
			if f.steps[e.To] < 0 {
				f.steps[e.To], f.parent[e.To] = f.steps[id]+1, id
				queue = append(queue, e.To)
			}
		}
	}
	return f
}

// run returns a shortest run to a state.
func (f forward) run(g core.Graph, to core.StateID) core.Run {
	var run core.Run
	for f.steps[to] > 0 {
		edges := g.Edges(f.parent[to])
		run = append(run, edges[slices.IndexFunc(edges, func(e core.Edge) bool { return e.To == to })])
		to = f.parent[to]
	}
	slices.Reverse(run)
	return run
}

// reversal is a graph with its steps turned round: those that lead to a state are the
// sources from its first on, up to the first of the next state.
type reversal struct {
	first   []uint32
	sources []core.StateID
}

func reversed(g core.Graph) reversal {
	n := g.States()
	r := reversal{first: make([]uint32, n+1)}
	for id := range core.StateID(n) {
		for _, e := range g.Edges(id) {
			r.first[e.To+1]++
		}
	}
	for i := range n {
		r.first[i+1] += r.first[i]
	}
	r.sources = make([]core.StateID, r.first[n])
	next := slices.Clone(r.first)
	for id := range core.StateID(n) {
		for _, e := range g.Edges(id) {
			r.sources[next[e.To]] = id
			next[e.To]++
		}
	}
	return r
}

// distancesTo returns how many steps each state is from the nearest of some, -1 if it
// cannot reach any.
func (r reversal) distancesTo(ends []core.StateID) []int32 {
	steps := unreached(len(r.first) - 1)
	queue := slices.Clone(ends)
	for _, id := range queue {
		steps[id] = 0
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, source := range r.sources[r.first[id]:r.first[id+1]] {
			if steps[source] < 0 {
				steps[source] = steps[id] + 1
				queue = append(queue, source)
			}
		}
	}
	return steps
}

func unreached(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

package properties

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/effort"
)

// CrashSafety holds if faults do not show in the end: whatever controllers crash and calls fail, as often as the check
// allows, every outcome is reachable without faults, too. It finds creations of several objects that are not taken up
// again, and duplicates after a lost answer. Each difference from the outcomes that are expected is a violation of its
// own. It says nothing about systems that never settle, and nothing where the check allows no faults.
//
// Comparisons are rules for comparing objects, such as [Without].
func CrashSafety(comparisons ...core.Comparison) core.Property {
	return comparing(comparisons, core.Property{
		Name: "crash safety",
		Doc:  "Every outcome that is reachable with crashes and failed calls is also reachable without them.",
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeSafety(ctx, g, func(e effort.Effort) bool { return e.Faults > 0 })
		},
	})
}

// StalenessSafety holds if stale caches do not show in the end: however stale the caches of controllers are, as far as
// the check allows, every outcome is reachable with fresh caches, too. It finds decisions on stale data that are never
// taken back. Each difference from the outcomes that are expected is a violation of its own. It says nothing about
// systems that never settle.
//
// Comparisons are rules for comparing objects, such as [Without].
func StalenessSafety(comparisons ...core.Comparison) core.Property {
	return comparing(comparisons, core.Property{
		Name: "staleness safety",
		Doc:  "Every outcome that is reachable with stale caches is also reachable with fresh caches.",
		Ends: true,
		Judge: func(ctx context.Context, g core.Graph) ([]core.Violation, error) {
			return judgeSafety(ctx, g, func(e effort.Effort) bool { return e.Faults == 0 })
		},
	})
}

// Undisturbed returns the properties that compare a system with itself in a world without faults and
// delays. They are checked wherever there are any.
func Undisturbed(comparisons ...core.Comparison) []core.Property {
	return []core.Property{CrashSafety(comparisons...), StalenessSafety(comparisons...)}
}

// judgeSafety returns the violations of the ends that need a disturbance, of those whose least one is wanted: one for
// each cause, the most serious first.
func judgeSafety(ctx context.Context, g core.Graph, wanted func(effort.Effort) bool) ([]core.Violation, error) {
	outcomes, err := Outcomes(ctx, g)
	if err != nil || len(outcomes) < 2 {
		return nil, err
	}
	s := safety{graph: g, calm: undisturbed(g)}
	if err := s.compare(ctx, outcomes); err != nil || len(s.ends) == 0 {
		return nil, err
	}
	if err := s.blame(ctx, wanted); err != nil {
		return nil, err
	}
	return s.violations(ctx)
}

// safety judges the ends that a system only reaches if something goes wrong or is late.
type safety struct {
	graph core.Graph
	calm  calm
	ends  []unexpectedEnd
}

// unexpectedEnd is an end that is not reached without disturbances, beside the one among those that are which differs
// least from it.
type unexpectedEnd struct {
	outcome, expected Outcome
	differences       []difference
	// culprits are whose disturbances lead there with the least effort: for each set that is enough, the controllers.
	culprits [][]string
}

// compare finds the ends, and the nearest expected one of each that can be compared with it.
func (s *safety) compare(ctx context.Context, outcomes []Outcome) error {
	for _, group := range alike(outcomes) {
		var expected, others []Outcome
		for _, o := range group {
			if s.calm.reaches(o) {
				expected = append(expected, o)
			} else {
				others = append(others, o)
			}
		}
		if len(expected) == 0 {
			continue // it never settles by itself: that is for other properties
		}
		for _, o := range others {
			if err := ctx.Err(); err != nil {
				return err
			}
			end := unexpectedEnd{outcome: o}
			end.expected, end.differences = nearest(expected, o)
			s.ends = append(s.ends, end)
		}
	}
	return nil
}

// blame finds whose disturbances lead to each end, and drops the ends whose least disturbance is not wanted.
func (s *safety) blame(ctx context.Context, wanted func(effort.Effort) bool) error {
	all, _ := effort.Search(ctx, s.graph, nil, nil)
	alone, err := culpritsOf(ctx, s.graph, all)
	if err != nil {
		return err
	}
	kept := s.ends[:0]
	for _, end := range s.ends {
		least := slices.MinFunc(end.outcome.States, func(a, b core.StateID) int { return all.Least(a).Compare(all.Least(b)) })
		if !wanted(all.Least(least)) {
			continue
		}
		var set uint64
		for _, id := range end.outcome.States {
			if all.Least(id).CompareDisturbance(all.Least(least)) == 0 {
				set |= alone.alone[id]
			}
		}
		for _, name := range alone.names(set) {
			end.culprits = append(end.culprits, []string{name})
		}
		if len(end.culprits) == 0 {
			end.culprits = [][]string{controllersIn(all.Run(least))}
		}
		kept = append(kept, end)
	}
	s.ends = kept
	return nil
}

// symptom is what differs, always together, in the ends that the disturbances of some controllers lead to.
type symptom struct {
	controllers []string
	// patterns are those of the differences, ends the numbers of the ends that show them.
	patterns []string
	ends     []int
}

// symptoms divides the differences: for each set of controllers, those that show in the same ends belong together.
func (s *safety) symptoms() []symptom {
	var all []symptom
	for _, controllers := range s.culprits() {
		patterns := s.patterns(controllers)
		shows := map[string][]int{}
		for i, end := range s.ends {
			if !end.blames(controllers) {
				continue
			}
			for _, pattern := range patterns.all(end.differences) {
				shows[pattern] = append(shows[pattern], i)
			}
		}
		first := len(all)
		for _, pattern := range slices.Sorted(maps.Keys(shows)) {
			i := slices.IndexFunc(all[first:], func(o symptom) bool { return slices.Equal(o.ends, shows[pattern]) })
			if i < 0 {
				all = append(all, symptom{controllers: controllers, patterns: []string{pattern}, ends: shows[pattern]})
			} else {
				all[first+i].patterns = append(all[first+i].patterns, pattern)
			}
		}
	}
	return all
}

// patterns are those of the differences that the disturbances of some controllers lead to.
func (s *safety) patterns(controllers []string) patternNames {
	return patternNames{names: requestNames(s.graph, controllers...), directed: true}
}

// culprits returns the sets of controllers whose disturbances lead to an end, in order.
func (s *safety) culprits() [][]string {
	var sets [][]string
	for _, end := range s.ends {
		sets = append(sets, end.culprits...)
	}
	slices.SortFunc(sets, slices.Compare)
	return slices.CompactFunc(sets, slices.Equal)
}

func (e unexpectedEnd) blames(controllers []string) bool {
	return slices.ContainsFunc(e.culprits, func(set []string) bool { return slices.Equal(set, controllers) })
}

// violations tells one violation for each symptom, by the run that takes least, the most serious first.
func (s *safety) violations(ctx context.Context) ([]core.Violation, error) {
	type told struct {
		symptom
		violation core.Violation
		severity  int
		what      string
		others    []string
	}
	var all []told
	for _, y := range s.symptoms() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, shown := s.tell(ctx, y)
		all = append(all, told{y, v, shown[0].severity(), shown[0].key.String(), s.others(y, shown)})
	}
	slices.SortStableFunc(all, func(a, b told) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(len(a.violation.Stem), len(b.violation.Stem)))
	})
	var found causes
	for _, t := range all {
		why := causeOf(append(slices.Clone(t.controllers), t.patterns...)...)
		found.tell(why, t.what, t.violation)
		for _, object := range t.others {
			found.known(why, object)
		}
	}
	return found.violations(), nil
}

// others returns the objects that have a symptom in other ends only.
func (s *safety) others(y symptom, shown []difference) []string {
	var others []string
	patterns := s.patterns(y.controllers)
	for _, i := range y.ends {
		for _, d := range s.ends[i].differences {
			there := slices.ContainsFunc(shown, func(o difference) bool { return o.key == d.key })
			if !there && slices.Contains(y.patterns, patterns.of(d)) {
				others = append(others, d.key.String())
			}
		}
	}
	return others
}

// tell shows a run with disturbances to an end with a symptom beside one without, which has the same beginning. It
// returns what differs there because of the symptom, the most serious first.
func (s *safety) tell(ctx context.Context, y symptom) (core.Violation, []difference) {
	endOf := func(id core.StateID) int {
		return slices.IndexFunc(y.ends, func(i int) bool { return s.ends[i].outcome.has(id) })
	}
	allow := func(e core.Edge) bool { return !e.Disturbed() || slices.Contains(y.controllers, controllerOf(e)) }
	reach, reached := effort.Search(context.WithoutCancel(ctx), s.graph, allow, func(id core.StateID) bool { return endOf(id) >= 0 })
	// Of ends that are as near, the one is told in which the least else differs.
	at := slices.MinFunc(reached, func(a, b core.StateID) int {
		return cmp.Compare(len(s.ends[y.ends[endOf(a)]].differences), len(s.ends[y.ends[endOf(b)]].differences))
	})
	stem, end := reach.Run(at), s.ends[y.ends[endOf(at)]]
	second, _ := counterpart(s.graph, s.calm, []Outcome{end.expected}, stem)

	patterns := s.patterns(y.controllers)
	shown := bySeverity(end.differences)
	apart := func(d difference) bool { return !slices.Contains(y.patterns, patterns.of(d)) }
	others := slices.DeleteFunc(slices.Clone(shown), func(d difference) bool { return !apart(d) })
	shown = slices.DeleteFunc(shown, apart)

	d := disturbanceOf(stem)
	v := core.Violation{
		Summary:     fmt.Sprintf("with %s, the system reaches an outcome that is unreachable %s: %s", d.brief(), d.without(), shown[0].unexpected()),
		Details:     linesOf(shown),
		Controllers: d.controllers,
		Fields:      namesOf(fieldsOf(shown)),
		Stem:        stem,
		State:       stem.End(at),
		Other:       &second,
		OtherState:  second.End(end.expected.States[0]),
	}
	if n := len(shown) - 1; n > 0 {
		v.Summary += ", and " + counted(n, "more difference", "more differences")
	}
	if len(others) > 0 {
		v.Details = append(v.Details, fmt.Sprintf("The outcomes also differ in %s, which other findings cover.", changesText(namesOf(fieldsOf(others)))))
	}
	v.Details = append(v.Details, sayParting(stem, second, commonSteps(stem, second)))
	if n := len(y.ends); n > 1 {
		v.Details = append(v.Details, fmt.Sprintf("%d outcomes differ in this way. This one requires the fewest faults and stale caches.", n))
	}
	return v, shown
}

// counterpart returns a run without disturbances to an expected end that goes along with a disturbed one as far
// as it can.
func counterpart(g core.Graph, calm calm, expected []Outcome, disturbed core.Run) (core.Run, Outcome) {
	endOf := func(id core.StateID) int {
		return slices.IndexFunc(expected, func(o Outcome) bool { return o.has(id) })
	}
	ends := func(id core.StateID) bool { return endOf(id) >= 0 }
	common := slices.IndexFunc(disturbed, core.Edge.Disturbed)
	for ; common > 0; common-- {
		from := disturbed[common].From
		if rest, found := calm.toward(from, ends); found {
			return slices.Concat(disturbed[:common:common], rest), expected[endOf(rest.End(from))]
		}
	}
	for _, start := range slices.Concat([]core.StateID{disturbed[0].From}, g.Initial()) {
		if run, found := calm.toward(start, ends); found {
			return run, expected[endOf(run.End(start))]
		}
	}
	return nil, expected[0]
}

// has reports whether the outcome is that of a state.
func (o Outcome) has(id core.StateID) bool {
	_, found := slices.BinarySearch(o.States, id)
	return found
}

// maxCulprits is how many controllers are told apart, one bit for each. What more of them do is told by the run that
// takes the least.
const maxCulprits = 64

// culprits says of each state which controllers are enough: with what goes wrong or is late for one of these alone, a
// run reaches the state, and takes no more than any other.
type culprits struct {
	controllers []string
	alone       []uint64
}

// culpritsOf finds the controllers, given what it takes to come to each state. A run that takes the least is made of
// runs that take the least, so it is enough to follow the steps of these.
func culpritsOf(ctx context.Context, g core.Graph, all *effort.Reach) (culprits, error) {
	c := culprits{alone: make([]uint64, g.States())}
	var queue []core.StateID
	for _, id := range g.Initial() {
		c.alone[id] = ^uint64(0)
		queue = append(queue, id)
	}
	for visited := 0; len(queue) > 0; visited++ {
		if visited%1024 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		id := queue[0]
		queue = queue[1:]
		for _, e := range g.Edges(id) {
			if all.Least(id).With(e).CompareDisturbance(all.Least(e.To)) != 0 {
				continue
			}
			all := c.alone[e.To] | c.alone[id]&c.bits(e)
			if all != c.alone[e.To] {
				c.alone[e.To] = all
				queue = append(queue, e.To)
			}
		}
	}
	return c, nil
}

// bits returns the controllers that are enough for a step: all if nothing goes wrong in it.
func (c *culprits) bits(e core.Edge) uint64 {
	if !e.Disturbed() {
		return ^uint64(0)
	}
	name := controllerOf(e)
	i := slices.Index(c.controllers, name)
	if i < 0 && len(c.controllers) < maxCulprits {
		i = len(c.controllers)
		c.controllers = append(c.controllers, name)
	}
	if i < 0 {
		return 0
	}
	return 1 << i
}

// controllerOf returns whose code takes a step: two instances of a controller are one.
func controllerOf(e core.Edge) string {
	return strings.TrimSuffix(e.Step.Item.Strategy, core.SecondInstance(""))
}

// controllersIn returns whose code takes the steps of a run in which something goes wrong or a cache is stale, in
// order.
func controllersIn(run core.Run) []string {
	var all []string
	for _, e := range run {
		if e.Disturbed() {
			all = append(all, controllerOf(e))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// names returns the controllers of a set.
func (c *culprits) names(set uint64) []string {
	var names []string
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); i < len(c.controllers) {
			names = append(names, c.controllers[i])
		}
	}
	return names
}

package bench

import (
	"fmt"
	"slices"
)

// The sizes of the targets on states.
const (
	mostCounters = 50
	mostTenants  = 10
	mostJobSets  = 8
)

// Parameters of JobSets: how many there are with one group of Jobs each, and that a JobSet is restarted once.
const (
	manyAlike = "jobsets=%d groups=1"
	restarted = "restarts=1"
)

// Standing reports whether a target is met.
type Standing string

// The standings of targets.
const (
	Met    Standing = "met"
	Missed Standing = "missed"
	// Open is that of a target that could not be judged.
	Open Standing = "not judged"
)

// Relation is what a measured number has to be to a bound.
type Relation string

// The relations of targets.
const (
	AtLeast Relation = "at least"
	AtMost  Relation = "at most"
	Exactly Relation = "exactly"
)

// holds reports whether a number is related to a bound as wanted.
func (r Relation) holds(measured, bound float64) bool {
	switch r {
	case AtLeast:
		return measured >= bound
	case AtMost:
		return measured <= bound
	}
	return measured == bound
}

// Target is a number that a measurement is held against.
type Target struct {
	Name     string   `json:"name"`
	Relation Relation `json:"relation"`
	Bound    float64  `json:"bound"`
	// Unit is what measure and bound count: "times", "bytes" and the like.
	Unit string `json:"unit"`
	// Measured is what was measured, the median of the turns if there were several; null if
	// nothing was. Turns are the single ones.
	Measured *float64  `json:"measured"`
	Turns    []float64 `json:"turns,omitempty"`
	Met      Standing  `json:"met"`
	// Why says why it was not judged.
	Why string `json:"why,omitempty"`
}

// targets returns all targets, as far as they can be judged.
func targets(r *Report) []Target {
	return slices.Concat(growthTargets(r.section(growthSection)), controllerTargets(r.section(controllersSection)), timeTargets(r))
}

// growthTargets are about how many states a reduced search stores of ever more of the same. Nothing that the machine
// does bears on them, nor on those of controllers.
func growthTargets(growth []Run) []Target {
	of := func(system, params string) []float64 {
		return each(where(growth, Trial{Tool: Orrery, System: system, Params: params, Reduction: reduced}), stored)
	}
	counters := Target{
		Name:     fmt.Sprintf("%d counters to 2, reduced search", mostCounters),
		Relation: Exactly, Bound: 2*mostCounters + 1, Unit: "states",
	}
	counters.judge(of(Counters, fmt.Sprintf("n=%d k=2", mostCounters)))

	// Tenants that have nothing to do with each other are to add up, not to multiply.
	many := Target{
		Name:     fmt.Sprintf("%d tenants, reduced search: as many as each has alone, and one", mostTenants),
		Relation: AtMost, Unit: "states",
	}
	measured := of(tenants, fmt.Sprintf("n=%d", mostTenants))
	if single := of(tenants, "n=1"); len(single) > 0 {
		many.Bound = mostTenants * (single[0] + 1)
	} else {
		measured = nil
	}
	many.judge(measured)

	alike := Target{
		Name:     fmt.Sprintf("%d JobSets, reduced search: what each adds alone, and the initial state", mostJobSets),
		Relation: Exactly, Unit: "states",
	}
	measured = of(jobset, fmt.Sprintf(manyAlike, mostJobSets))
	if single := of(jobset, fmt.Sprintf(manyAlike, 1)); len(single) > 0 {
		alike.Bound = mostJobSets*(single[0]-1) + 1
	} else {
		measured = nil
	}
	alike.judge(measured)
	return []Target{counters, many, alike}
}

// controllerTargets are about how little of JobSet has to be visited.
func controllerTargets(controllers []Run) []Target {
	restart := Target{Name: "JobSet with a restart, reduced search", Relation: AtMost, Bound: 1_200, Unit: "states"}
	restart.judge(each(where(controllers, Trial{System: jobset, Params: restarted, Reduction: reduced}), stored))

	least := Target{Name: "JobSet under any condition, reduced search: fewer states than a full one", Relation: AtLeast, Bound: 5, Unit: "times"}
	var fewer []float64
	for _, p := range facing(where(controllers, Trial{System: jobset})) {
		if times := p.fewer(); times > 0 {
			fewer = append(fewer, times)
		}
	}
	if len(fewer) > 0 {
		fewer = []float64{slices.Min(fewer)}
	}
	least.judge(fewer)
	return []Target{restart, least}
}

// stored is how many states a search stored.
func stored(run Run) float64 { return float64(run.States) }

// timeTargets are about time and memory. Small searches say nothing about them.
func timeTargets(r *Report) []Target {
	speed, code, crowd := r.section(speedSection), r.section(codeSection), r.section(contendedSection)
	one := where(speed, Trial{Tool: Orrery, Reduction: full, Workers: 1})
	two := where(speed, Trial{Tool: Orrery, Reduction: full, Workers: 2})
	spin := where(speed, Trial{Tool: Spin, Reduction: full})
	rumurOne := where(speed, Trial{Tool: Rumur, Workers: 1})
	rumurTwo := where(speed, Trial{Tool: Rumur, Workers: 2})
	whole := where(crowd, Trial{Tool: Orrery, Reduction: full})
	part := where(crowd, Trial{Tool: Orrery, Reduction: reduced})
	if len(code) > 0 {
		code = where(code, code[len(code)-1].Trial) // the largest system
	}

	compact := r.section(compactSection)

	rate := func(run Run) float64 { return run.StatesPerSecond }
	time := func(run Run) float64 { return run.UndisturbedSeconds }
	memory := func(run Run) float64 { return run.BytesPerState }
	all := []Target{
		{Name: "one worker beside SPIN, full search: states per second", Relation: AtLeast, Bound: 1, Unit: "times", Turns: ratios(one, spin, rate)},
		{Name: "one worker beside Rumur, full search: states per second", Relation: AtLeast, Bound: 1, Unit: "times", Turns: ratios(one, rumurOne, rate)},
		{Name: "two workers beside two threads of Rumur, full search: states per second", Relation: AtLeast, Bound: 1, Unit: "times", Turns: ratios(two, rumurTwo, rate)},
		{Name: "two workers beside one, full search: states per second", Relation: AtLeast, Bound: 1.7, Unit: "times", Turns: ratios(two, calm(one), rate)},
		{Name: "one worker, full search: memory per state", Relation: AtMost, Bound: 31, Unit: "bytes", Turns: each(one, memory)},
		{Name: "one worker, full search, compact: memory per state", Relation: AtMost, Bound: 24, Unit: "bytes", Turns: each(compact, memory)},
		{Name: "controller-runtime reconcilers: steps without a run of code, per second and worker", Relation: AtLeast, Bound: 500_000, Unit: "steps",
			Turns: each(code, func(run Run) float64 { return run.TreePerSecond })},
		{Name: "nothing commutes, reduced search beside a full one: time", Relation: AtMost, Bound: 1.3, Unit: "times", Turns: ratios(part, whole, time)},
	}
	for i := range all {
		t := &all[i]
		t.judge(t.Turns)
		if r.Quick && t.Met != Open {
			t.Met, t.Why = Open, "a quick benchmark is too short for times and memory"
		}
	}
	if workers := &all[3]; workers.Met == Open && len(two) > 0 && len(calm(one)) < len(one) {
		workers.Why = "the machine was too busy to tell what a second worker is worth"
	}
	return all
}

// judge holds the median of some turns against the bound.
func (t *Target) judge(turns []float64) {
	t.Turns = nil
	if len(turns) == 0 {
		t.Met, t.Why = Open, "it was not measured"
		return
	}
	if len(turns) > 1 {
		t.Turns = turns
	}
	measured := median(turns)
	t.Measured, t.Met = &measured, Missed
	if t.Relation.holds(measured, t.Bound) {
		t.Met = Met
	}
}

package bench

import (
	"fmt"
	"slices"
)

// Names of the sections.
const (
	reductionSection   = "reduction"
	growthSection      = "growth"
	controllersSection = "controllers"
	startSection       = "start"
	speedSection       = "speed"
	compactSection     = "compact"
	codeSection        = "code"
	contendedSection   = "contended"
)

// Names of the other systems that are measured.
const (
	contended    = "model/contended"
	tenants      = "tenants"
	leaderGroups = "leadergroups"
	// jobset is in a module of its own, examples/jobset.
	jobset = "jobset"
)

// Plan is what is measured.
type Plan struct {
	// Quick tells that everything is small.
	Quick    bool
	sections []schedule
}

// schedule is a number of trials that are taken in turn.
type schedule struct {
	name   string
	turns  int
	trials []Trial
}

// sizes are how large the systems are.
type sizes struct {
	turns int
	// speed and contended are the counters and the contending processes of the searches that are
	// timed, and code the tenants of those that count runs of code.
	speed, contended int
	code             []int
	// counters, tenants and jobSets are those searched in full and reduced, and manyCounters, manyTenants and
	// manyJobSets those only reduced.
	counters, tenants, jobSets             []int
	manyCounters, manyTenants, manyJobSets []int
	// models and controllers are others to search in full and reduced, and vast are controllers only reduced.
	models, controllers, vast []Trial
}

// conditions are what controllers are searched with besides.
var conditions = []string{"", "crashes=1", "failures=1", "stale=all=lag(1)"}

// FullPlan is for a machine with some number of processors. It takes about six minutes on two that
// have nothing else to do.
func FullPlan(processors int) Plan {
	return plan(processors, false, sizes{
		turns: 3, speed: 14, contended: 10, code: []int{1, 3, 6},
		counters: []int{1, 2, 4, 8, 12}, manyCounters: []int{25, mostCounters},
		tenants: []int{1, 2, 3, 4, 5}, manyTenants: []int{mostTenants},
		jobSets: []int{1, 2}, manyJobSets: []int{4, mostJobSets},
		controllers: slices.Concat(
			under(Trial{System: tenants, Params: "n=3"}, conditions...),
			under(Trial{System: jobset}, conditions...),
			[]Trial{
				{System: jobset, Params: restarted},
				{System: jobset, Params: "groups=3"},
				{System: leaderGroups, Params: "groups=1"},
			},
		),
		vast: []Trial{{System: leaderGroups}},
		models: []Trial{
			{System: "model/increment", Params: "n=5"},
			{System: "model/paxos"},
			{System: "model/philosophers", Params: "n=8"},
			{System: "model/two-phase-commit", Params: "n=6"},
			{System: "racecondition"},
		},
	})
}

// QuickPlan is for tests: it takes seconds, and its times and its memory mean little.
func QuickPlan(processors int) Plan {
	return plan(processors, true, sizes{
		turns: 1, speed: 6, contended: 5, code: []int{1, 2},
		counters: []int{1, 4}, manyCounters: []int{mostCounters},
		tenants: []int{1, 2}, manyTenants: []int{mostTenants},
		jobSets: []int{1}, manyJobSets: []int{mostJobSets},
		controllers: slices.Concat(under(Trial{System: tenants, Params: "n=1"}, conditions...), []Trial{{System: jobset}}),
		models:      []Trial{{System: "model/philosophers", Params: "n=4"}},
	})
}

func plan(processors int, quick bool, size sizes) Plan {
	return Plan{Quick: quick, sections: []schedule{
		{reductionSection, 1, pairs(size.models)},
		{growthSection, 1, growth(size)},
		{controllersSection, 1, slices.Concat(pairs(size.controllers), alone(size.vast))},
		{startSection, 1, []Trial{
			{Tool: Orrery, System: Counters, Params: "n=1 k=2", Reduction: full, Workers: 1},
			{Tool: Spin, System: Counters, Params: "n=1 k=2", Reduction: full, Workers: 1},
			{Tool: Rumur, System: Counters, Params: "n=1 k=2", Reduction: full, Workers: 1},
		}},
		{speedSection, size.turns, speed(processors, fmt.Sprintf("n=%d k=2", size.speed))},
		{compactSection, 1, []Trial{
			{Tool: Orrery, System: Counters, Params: fmt.Sprintf("n=%d k=2", size.speed), Reduction: full, Workers: 1, Compact: true},
		}},
		{codeSection, size.turns, code(size.code)},
		{contendedSection, size.turns, []Trial{
			{Tool: Orrery, System: contended, Params: fmt.Sprintf("n=%d k=2", size.contended), Reduction: full, Workers: 1},
			{Tool: Orrery, System: contended, Params: fmt.Sprintf("n=%d k=2", size.contended), Reduction: reduced, Workers: 1},
		}},
	}}
}

// pairs returns full and reduced searches of systems, with their properties.
func pairs(systems []Trial) []Trial { return judged(systems, full, reduced) }

// alone returns reduced searches of systems, with their properties.
func alone(systems []Trial) []Trial { return judged(systems, reduced) }

func judged(systems []Trial, reductions ...string) []Trial {
	var trials []Trial
	for _, t := range systems {
		for _, reduction := range reductions {
			t.Tool, t.Reduction, t.Workers, t.Judged = Orrery, reduction, 1, true
			trials = append(trials, t)
		}
	}
	return trials
}

// under returns a system under each of some conditions.
func under(t Trial, conditions ...string) []Trial {
	var trials []Trial
	for _, t.Conditions = range conditions {
		trials = append(trials, t)
	}
	return trials
}

// growth returns searches of counters, tenants and JobSets as they get more.
func growth(size sizes) []Trial {
	var trials []Trial
	series := func(system, params string, both, more []int) {
		of := func(sizes []int) []Trial {
			var systems []Trial
			for _, n := range sizes {
				systems = append(systems, Trial{System: system, Params: fmt.Sprintf(params, n)})
			}
			return systems
		}
		trials = slices.Concat(trials, pairs(of(both)), alone(of(more)))
	}
	series(Counters, "n=%d k=2", size.counters, size.manyCounters)
	series(tenants, "n=%d", size.tenants, size.manyTenants)
	series(jobset, manyAlike, size.jobSets, size.manyJobSets)
	return trials
}

// speed returns searches of counters by all tools, with ever more workers where that
// makes sense.
func speed(processors int, params string) []Trial {
	trials := []Trial{
		{Tool: Orrery, System: Counters, Params: params, Reduction: full, Workers: 1},
		{Tool: Spin, System: Counters, Params: params, Reduction: full, Workers: 1},
		{Tool: Rumur, System: Counters, Params: params, Reduction: full, Workers: 1},
	}
	for workers := 2; workers <= processors; workers *= 2 {
		trials = append(trials,
			Trial{Tool: Orrery, System: Counters, Params: params, Reduction: full, Workers: workers},
			Trial{Tool: Rumur, System: Counters, Params: params, Reduction: full, Workers: workers},
		)
	}
	return append(trials,
		Trial{Tool: Orrery, System: Counters, Params: params, Reduction: reduced, Workers: 1},
		Trial{Tool: Spin, System: Counters, Params: params, Reduction: reduced, Workers: 1},
	)
}

// code returns full searches of tenants, whose controllers are those of an operator.
func code(sizes []int) []Trial {
	var trials []Trial
	for _, n := range sizes {
		trials = append(trials, Trial{Tool: Orrery, System: tenants, Params: fmt.Sprintf("n=%d", n), Reduction: full, Workers: 1})
	}
	return trials
}

package reduction_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
	"github.com/orrery-dev/orrery/reduction"
)

var (
	systems   = flag.Int("systems", 150, "how many random systems to compare")
	firstSeed = flag.Uint64("first-seed", 1, "the seed of the first random system")
	largest   = flag.Int("largest", 1500, "how many states a random system may have")
)

// usual reports whether the systems are those that are compared unless something else is asked for. What is left of
// their states and steps is known: if it is more, something is not left out any more that was. With other random
// systems it is another number.
func usual() bool { return *systems == 150 && *firstSeed == 1 && *largest == 1500 }

func options() explore.Options {
	return explore.Options{
		Workers: 1,
		Run:     behavior.Limits{Deadline: 10 * time.Second, Calls: 1000},
	}
}

// ledgers is before the seeds of systems whose controllers keep something for each request.
const ledgers = 1 << 32

// errands is before the seeds of systems whose controllers leave some of that to goroutines.
const errands = 1 << 34

// settledUsers is before the seeds of systems whose users act where controllers have settled.
const settledUsers = 1 << 35

// staged is before the seeds of systems whose controllers wait for several times.
const staged = 1 << 36

// draw returns the system of a seed, and what a full search of it needs to know. Every other system is under
// conditions.
func draw(t *testing.T, seed uint64) (*core.System, explore.Options) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	compose, o := random.Loose, options()
	switch r.IntN(36) {
	case 0, 1, 2:
		compose = random.System
	case 3:
		compose = random.Concurrent
	case 4, 5:
		compose = random.Mindful
	case 6:
		compose = random.Restless
	case 7, 8:
		compose = random.Drawing
	case 9, 10:
		compose = random.Patient
	case 11, 12, 13, 14:
		compose = random.Watchful
	case 24, 25, 26:
		compose = random.Dated
	case 27, 28, 29, 30, 31, 32, 33, 34, 35:
		compose = random.Narrow
	}
	if seed > ledgers && seed < later || seed > later && seed < errands && r.IntN(4) == 0 {
		compose = random.LooseLedgers
	}
	if seed > chancy {
		compose = func(seed uint64) (*core.System, error) {
			system, _, err := random.Chancy(seed)
			return system, err
		}
	} else if seed > staged {
		compose = []func(uint64) (*core.System, error){random.Staged, random.Later(random.Staged)}[r.IntN(2)]
	} else if seed > settledUsers {
		compose = random.Settling([]func(uint64) (*core.System, error){random.Loose, random.Loose, random.Later(random.Loose), random.LooseLedgers}[r.IntN(4)])
	} else if seed > errands {
		compose = random.Errands
	} else if seed > later {
		compose = random.Later([]func(uint64) (*core.System, error){compose, random.Watchful, random.Dated, random.Patient}[r.IntN(8)/2])
	}
	if seed%3 == 0 {
		compose = random.Promising(compose)
	}
	system, err := compose(seed)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if r.IntN(2) == 0 {
		o.Conditions = conditionsOf(r, system)
	}
	o.Conditions.Deadlines = r.IntN(3)
	if seed > chancy { // each order is a way, as where somebody sees in which order things are done
		o.Conditions.Apart = []core.Kind{"none"}
	}
	if r.IntN(4) == 0 {
		o.Order = explore.DepthFirst
	}
	if r.IntN(3) == 0 {
		system.Properties = append(system.Properties, formulas(t, r, system)...)
	}
	o.Bounds.States = *largest
	return system, o
}

// formulas returns properties of runs that look at a few objects: a random formula, and one of a known form
// both as a property of its own and as a claim.
func formulas(t *testing.T, r *rand.Rand, system *core.System) []core.Property {
	p, q := predicate(r, system), predicate(r, system)
	known := []core.Property{
		properties.Eventually("known", p),
		properties.InfinitelyOften("known", p),
		properties.EventuallyAlways("known", p),
		properties.LeadsTo("known", p, q),
	}
	form := r.IntN(len(known))
	list := []core.Property{known[form]}
	for _, claim := range []ltl.Claim{
		{Name: "claim", Formula: []string{"F p", "G F p", "F G p", "p leads to q"}[form]},
		{Name: "random", Formula: formula(r, 3)},
	} {
		claim.Atoms = []ltl.Atom{{Name: "p", State: p}, {Name: "q", State: q}}
		property, err := claim.Property()
		if err != nil || !property.Reducible() {
			t.Fatalf("%s: %s, %v", claim.Formula, property.Unreducible, err)
		}
		list = append(list, property)
	}
	return list
}

// predicate returns a random predicate over states.
func predicate(r *rand.Rand, system *core.System) properties.Predicate {
	objects := system.Initial[0].Objects
	if len(objects) == 0 || r.IntN(3) == 0 {
		kind, many := random.Kinds()[r.IntN(2)], r.IntN(4)
		return func(s core.State) bool { return len(s.List(kind, "")) > many }
	}
	key := objects[r.IntN(len(objects))].Key
	return func(s core.State) bool { return s.Get(key) == nil || strings.HasPrefix(s.Get(key).Canonical(), "1") }
}

// formula returns a random formula over p and q that is nested so deep at most and does not count steps.
func formula(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(6) == 0 {
		return []string{"p", "q", "!p", "!q"}[r.IntN(4)]
	}
	if operator := []string{"F", "G", "G F", "F G", "!"}[r.IntN(5)]; r.IntN(2) == 0 {
		return fmt.Sprintf("%s (%s)", operator, formula(r, depth-1))
	}
	operator := []string{"&&", "||", "->", "U", "W", "R", "M"}[r.IntN(7)]
	return fmt.Sprintf("(%s) %s (%s)", formula(r, depth-1), operator, formula(r, depth-1))
}

// conditionsOf returns random conditions.
func conditionsOf(r *rand.Rand, system *core.System) explore.Conditions {
	c := explore.Conditions{}
	switch r.IntN(6) {
	case 0:
		c.Crashes = 1
	case 1:
		c.Failures = 1
	}
	if r.IntN(2) == 0 {
		c.Granularity = explore.PerCall
	}
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		for _, kind := range slices.Concat(d.Watches, d.Caches) {
			rules := []view.Rule{view.Fresh(), view.Fresh(), view.Lag(1), view.Lag(2), view.OwnWrites(1), view.Restart(1), view.Relist()}
			c.Staleness = append(c.Staleness, explore.Staleness{Controller: d.Name, Kind: kind, Rule: rules[r.IntN(len(rules))]})
		}
	}
	return c
}

// findings are all that a reduced search must find as a full one does.
type findings struct {
	// ends are the quiescent states, and deadlocks those of them in which nothing can happen at all.
	ends, deadlocks []string
	// broken are the properties that do not hold, and outcomes the ways in which the system can settle.
	broken, outcomes []string
	// incidents are what went wrong in the code of controllers.
	incidents []string
}

// find searches a system. It returns false if there is too much to search.
func find(t *testing.T, system *core.System, o explore.Options) (findings, *explore.Space, bool) {
	t.Helper()
	space, err := explore.Search(context.Background(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(space.Reasons()) > 0 {
		return findings{}, space, false
	}
	var f findings
	merged, _ := space.Merged()
	for _, id := range space.Quiescent() {
		end := endText(space, id)
		f.ends = append(f.ends, end)
		if len(space.Edges(id)) == 0 {
			f.deadlocks = append(f.deadlocks, end)
		}
	}
	for _, p := range system.Properties {
		if _, broken := space.Broken(p.Name); broken != nil {
			f.broken = append(f.broken, p.Name)
		}
	}
	for _, p := range slices.Concat(system.Properties, properties.Conduct(), properties.Convergent(), properties.Undisturbed(), []core.Property{properties.NoDeadlock()}) {
		if p.Judge == nil || merged && p.Merges == core.Apart {
			continue
		}
		violations, err := p.Judge(context.Background(), space)
		if err != nil {
			t.Fatal(err)
		}
		if len(violations) > 0 {
			f.broken = append(f.broken, p.Name)
		}
	}
	if slices.Contains(f.broken, "claim") != slices.Contains(f.broken, "known") {
		t.Fatalf("%s: the claim and the property of the same form differ: %q are broken", system.Name, f.broken)
	}
	outcomes, err := properties.Outcomes(context.Background(), space)
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range outcomes {
		f.outcomes = append(f.outcomes, fmt.Sprint(outcome.History, outcome.Objects))
	}
	for _, i := range space.Incidents() {
		f.incidents = append(f.incidents, fmt.Sprint(i.Kind, i.Strategy, i.Message))
	}
	for _, list := range []*[]string{&f.ends, &f.deadlocks, &f.outcomes, &f.incidents} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return f, space, true
}

// endText says all that can be seen of a quiescent state.
func endText(space *explore.Space, id core.StateID) string {
	state := space.State(id)
	var b strings.Builder
	for _, kind := range random.Kinds() {
		for _, o := range state.List(kind, "") {
			fmt.Fprintf(&b, "%s=%s ", o.Key, o.Content.Canonical())
		}
	}
	fmt.Fprintf(&b, "timers %v work %v", state.Timers(), state.Work())
	return fmt.Sprintf("%s history %q outcome %v", b.String(), space.History(id), space.Outcome(id))
}

// differ says where two findings differ, empty if they do not.
func differ(got, want findings) string {
	for _, part := range []struct {
		name      string
		got, want []string
	}{
		{"ends", got.ends, want.ends},
		{"deadlocks", got.deadlocks, want.deadlocks},
		{"broken properties", got.broken, want.broken},
		{"outcomes", got.outcomes, want.outcomes},
		{"incidents", got.incidents, want.incidents},
	} {
		if slices.Equal(part.got, part.want) {
			continue
		}
		less := func(from, list []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(from), func(s string) bool { return slices.Contains(list, s) }), "\n\t")
		}
		return fmt.Sprintf("%s:\nmissing:\n\t%s\nwrong:\n\t%s", part.name, less(part.want, part.got), less(part.got, part.want))
	}
	return ""
}

// comparison is how a reduced search compares with a full one.
type comparison struct {
	full, reduced int
	difference    string
}

// wholes keeps what full searches found, by the seed of the system.
type wholes map[uint64]whole

// whole is what a full search found. It is not ok if the system is too large.
type whole struct {
	found  findings
	states int
	ok     bool
}

// compared compares a reduced search of the system of a seed with a full one. It returns false if the system is too
// large.
func (w wholes) compared(t *testing.T, seed uint64, reducer explore.Reducer) (comparison, bool) {
	t.Helper()
	system, o := draw(t, seed)
	want, known := w[seed]
	if !known {
		found, space, ok := find(t, system, o)
		want = whole{found, space.States(), ok}
		w[seed] = want
	}
	if !want.ok {
		return comparison{}, false
	}
	o.Reducer = reducer
	o.Bounds.States = 0
	got, part, _ := find(t, system, o)
	c := comparison{full: want.states, reduced: part.States(), difference: differ(got, want.found)}
	if c.reduced > c.full && c.difference == "" {
		c.difference = fmt.Sprintf("%d states, more than the %d there are", c.reduced, c.full)
	}
	return c, true
}

// TestReducedFindsWhatFullFinds compares reduced searches of random systems with full ones, and counts their states: no
// more are left than once were.
func TestReducedFindsWhatFullFinds(t *testing.T) {
	full, reduced, different, large := 0, 0, 0, 0
	n, most := *systems, 13989
	if testing.Short() {
		n, most = n/10, 1490
	}
	for seed := *firstSeed; n > 0; seed++ {
		c, ok := wholes{}.compared(t, seed, reduction.Stubborn{})
		if !ok {
			large++
			continue
		}
		n--
		full += c.full
		reduced += c.reduced
		if c.difference != "" {
			different++
			t.Errorf("seed %d: %d states in full, %d reduced: %s", seed, c.full, c.reduced, c.difference)
		}
	}
	if usual() && reduced > most {
		t.Errorf("of %d states %d are left, and it were %d", full, reduced, most)
	}
	t.Logf("%d states in full, %d reduced; %d systems differ, %d were too large", full, reduced, different, large)
}

// TestReducedFindsWhatFullFindsByRequest does so for systems whose controllers keep something for each request.
func TestReducedFindsWhatFullFindsByRequest(t *testing.T) { findsInFull(t, ledgers) }

// TestReducedFindsWhatFullFindsInBackground does so for systems whose controllers leave something to goroutines.
func TestReducedFindsWhatFullFindsInBackground(t *testing.T) { findsInFull(t, errands) }

// TestReducedFindsWhatFullFindsOnceSettled does so for systems whose users act where controllers have settled.
func TestReducedFindsWhatFullFindsOnceSettled(t *testing.T) { findsInFull(t, settledUsers) }

// TestReducedFindsWhatFullFindsAtSeveralTimes does so for systems whose controllers do one thing after some time, and
// another one much later.
func TestReducedFindsWhatFullFindsAtSeveralTimes(t *testing.T) { findsInFull(t, staged) }

func findsInFull(t *testing.T, before uint64) {
	n := *systems / 5
	if testing.Short() {
		n /= 5
	}
	for seed := before + *firstSeed; n > 0; seed++ {
		c, ok := wholes{}.compared(t, seed, reduction.Stubborn{})
		if !ok {
			continue
		}
		n--
		if c.difference != "" {
			t.Errorf("seed %d: %d states in full, %d reduced: %s", seed, c.full, c.reduced, c.difference)
		}
	}
}

// TestCrewsFindTheSame checks that two workers leave out what one leaves out.
func TestCrewsFindTheSame(t *testing.T) {
	n := *systems / 5
	if testing.Short() {
		n /= 5
	}
	for seed := *firstSeed; n > 0; seed++ {
		var spaces []*explore.Space
		for workers := 1; workers <= 2; workers++ {
			system, o := draw(t, seed)
			o.Workers, o.Reducer = workers, reduction.Stubborn{}
			space, err := explore.Search(context.Background(), system, o)
			if err != nil {
				t.Fatal(err)
			}
			spaces = append(spaces, space)
		}
		one, two := spaces[0], spaces[1]
		if len(one.Reasons()) > 0 {
			continue
		}
		n--
		if one.States() != two.States() || one.Stats.Transitions != two.Stats.Transitions || one.Stats.Terminal != two.Stats.Terminal {
			t.Fatalf("seed %d: one worker counts %+v, two count %+v", seed, one.Stats, two.Stats)
		}
		for id := range core.StateID(one.States()) {
			if one.Fingerprint(id) != two.Fingerprint(id) {
				t.Fatalf("seed %d: with two workers another state has the number %d", seed, id)
			}
		}
	}
}

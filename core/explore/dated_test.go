package explore_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/naive"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestTwinWithDeadlines compares searches of systems whose controllers look at the clock with the twin, which is told
// who does. Where nobody is found to, the twin comes to no other states although it lets time pass.
func TestTwinWithDeadlines(t *testing.T) { twinWithDeadlines(t, random.Dated, "") }

// TestTwinWithSeveralDeadlines does so for systems whose controllers do one thing after some time, and another one much
// later. The twin is told which shorter time is found to pass besides the long one.
func TestTwinWithSeveralDeadlines(t *testing.T) { twinWithDeadlines(t, random.Staged, "") }

// TestTwinWithMemoryAndDeadlines does so for systems whose controllers keep memory besides, deadlines among it. Of
// these some note a deadline again after the last time that is searched.
func TestTwinWithMemoryAndDeadlines(t *testing.T) {
	twinWithDeadlines(t, random.Patient, "after the last of the times that passed, more were not searched")
}

// twinWithDeadlines compares searches with the twin. Nothing but what is expected may be left out because of the clock.
func twinWithDeadlines(t *testing.T, generate func(seed uint64) (*core.System, error), expected string) {
	waiting, several, passed, expired, remembering := 0, 0, 0, 0, 0
	large := eachUnder(t, *systems, generate, untilDeadlines, func(seed uint64, system *core.System, c explore.Conditions, all *naive.Graph) {
		c.Deadlines = 1 + int(seed%2)
		_, plain := untilDeadlines(rand.New(rand.NewPCG(seed, 1)), system)
		o := options(1 + int(seed/2%2))
		o.Conditions = c
		space := search(t, system, o)
		if slices.ContainsFunc(space.Reasons(), func(reason string) bool {
			return strings.Contains(reason, "depends on the clock") && (expected == "" || !strings.Contains(reason, expected))
		}) {
			t.Fatalf("%q\nagain with -run %s -systems 1 -first-seed %d", space.Reasons(), t.Name(), seed)
		}
		if len(space.Awaiting()) == 0 {
			known := summaryUnder(space).states
			if len(space.Memory()) > 0 {
				// The timers of those who remember something would all fire at once.
				plain.Unnoticed = true
				var err error
				if all, err = naive.ExploreUnder(system, plain, 3*largest); err != nil {
					t.Fatal(err)
				}
			}
			for _, state := range summaryOfTwinUnder(all).states {
				if _, found := slices.BinarySearch(known, state); !found {
					t.Fatalf("nobody is found to wait, and time leads to %s\nagain with -run %s -systems 1 -first-seed %d", state, t.Name(), seed)
				}
			}
			return
		}
		waiting++
		if len(space.Memory()) > 0 {
			remembering++
		}
		plain.Deadlines, plain.Awaiting = c.Deadlines, space.Awaiting()
		shorter, names := space.Passing()
		for i, length := range shorter {
			plain.Shorter = append(plain.Shorter, naive.Span{Length: length, Name: names[i]})
		}
		if len(shorter) > 0 {
			several++
		}
		want, err := naive.ExploreUnder(system, plain, 20*largest)
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(summaryUnder(space), summaryOfTwinUnder(want)); d != "" {
			t.Fatalf("conditions %+v: %s\nagain with -run %s -systems 1 -first-seed %d", c, d, t.Name(), seed)
		}
		for id := range space.States() {
			for _, e := range space.Edges(core.StateID(id)) {
				switch e.Step.Kind {
				case core.Pass:
					passed++
				case core.Expire:
					expired++
				}
			}
		}
	})
	t.Logf("%d systems were too large; somebody waits in %d, for several times in %d and remembering something in %d of these; %d steps of time, and %d of deadlines", large, waiting, several, remembering, passed, expired)
	if waiting == 0 || passed == 0 || expired+remembering == 0 {
		t.Error("nobody waits for anything")
	}
}

// untilDeadlines are conditions under which a long time passes once, for one request after the other.
func untilDeadlines(r *rand.Rand, system *core.System) (explore.Conditions, naive.Conditions) {
	c, plain := conditionsOf(r, system)
	plain.Deadlines = 1
	for _, strategy := range system.Strategies {
		plain.Awaiting = append(plain.Awaiting, strategy.Describe().Name)
	}
	return c, plain
}

// TestWhatRecurs lets more time pass for systems in which what is done after the last of the times is said to be done
// again and again: it comes to the same objects, and ends with the same.
func TestWhatRecurs(t *testing.T) {
	n := *systems * 3
	if testing.Short() {
		n /= 5
	}
	recurring, endless := 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		system, err := random.Beats(seed)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
		searched := func(deadlines int) *explore.Space {
			o := options(1 + int(seed/2%2))
			o.Conditions, o.Bounds.States = c, 20_000
			o.Conditions.Deadlines = deadlines
			return search(t, system, o)
		}
		few := searched(2)
		if !few.Recurs() {
			if slices.ContainsFunc(few.Reasons(), func(reason string) bool { return strings.Contains(reason, "after the last of the times") }) {
				endless++
			}
			continue
		}
		recurring++
		more := searched(5) // an odd number more, as some things are done every other time
		if !more.Recurs() && more.States() < 20_000 {
			t.Errorf("more time comes to something new: %q\nagain with -run %s -systems 1 -first-seed %d", more.Reasons(), t.Name(), seed)
		}
		for what, of := range map[string]func(*explore.Space) map[string]bool{"states": objectsOf, "ends": endsOf} {
			if one, other := of(few), of(more); !maps.Equal(one, other) {
				t.Errorf("the %s are %v, and if more time passes %v\nagain with -run %s -systems 1 -first-seed %d", what, one, other, t.Name(), seed)
			}
		}
	}
	t.Logf("%d systems do the same again and again, and %d do not", recurring, endless)
	if recurring == 0 || endless == 0 {
		t.Error("nothing recurs, or all does")
	}
}

// objectsOf returns all that objects come to.
func objectsOf(space *explore.Space) map[string]bool {
	all := map[string]bool{}
	for id := range core.StateID(space.States()) {
		all[contentsOf(space, id)] = true
	}
	return all
}

// endsOf returns what objects come to where controllers do nothing but wait for timers, and no time passes any more.
func endsOf(space *explore.Space) map[string]bool {
	all := map[string]bool{}
	for _, id := range space.Quiescent() {
		if !slices.ContainsFunc(space.Edges(id), func(e core.Edge) bool { return e.Step.Kind == core.Pass }) {
			all[contentsOf(space, id)] = true
		}
	}
	return all
}

// contentsOf returns the objects of a state.
func contentsOf(space *explore.Space, id core.StateID) string {
	var text strings.Builder
	for _, kind := range random.Kinds() {
		for _, o := range space.State(id).List(kind, "") {
			text.WriteString(o.Key.String() + "=" + o.Content.Canonical() + " ")
		}
	}
	return text.String()
}

package reduction_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/reduction"
)

// sleepy leaves out what [reduction.Stubborn] does, and has agents sleep as a function says.
type sleepy struct {
	reduction.Stubborn
	commute func(c explore.Chooser, agent, other int) bool
	// forgetful ones do not say who is put off.
	forgetful bool
}

// Learn implements [explore.Reducer].
func (s sleepy) Learn(footprints []explore.Footprint, visible []explore.Place) func() explore.Chooser {
	choosers := s.Stubborn.Learn(footprints, visible)
	return func() explore.Chooser { return drowsy{choosers(), s} }
}

type drowsy struct {
	explore.Chooser
	sleepy sleepy
}

// Choose implements [explore.Chooser].
func (d drowsy) Choose(enabled []explore.Enabled) explore.Choice {
	choice := d.Chooser.Choose(enabled)
	if d.sleepy.forgetful {
		choice.PutOff = nil
	}
	return choice
}

// Commute implements [explore.Chooser].
func (d drowsy) Commute(agent, other int) bool { return d.sleepy.commute(d.Chooser, agent, other) }

// sleepless has nobody sleep.
func sleepless() sleepy {
	return sleepy{commute: func(explore.Chooser, int, int) bool { return false }}
}

// rest is how a search in which agents sleep compares with one in which they do not.
type rest struct {
	with, without *explore.Space
	difference    string
}

// rested compares the two for the system of a seed. It returns false if the system is too large, or if there are
// cycles: which states are expanded in full for them depends on the order in which states are found.
func rested(t *testing.T, seed uint64, reducer explore.Reducer) (rest, bool) {
	t.Helper()
	search := func(reducer explore.Reducer) *explore.Space {
		system, o := draw(t, seed)
		o.Reducer = reducer
		space, err := explore.Search(context.Background(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		return space
	}
	r := rest{without: search(sleepless())}
	if len(r.without.Reasons()) > 0 || cyclic(r.without) {
		return rest{}, false
	}
	r.with = search(reducer)
	r.difference = r.differ()
	return r, true
}

func (r rest) differ() string {
	if with, without := r.with, r.without; with.States() != without.States() || len(with.Quiescent()) != len(without.Quiescent()) || with.Stats.Terminal != without.Stats.Terminal {
		return fmt.Sprintf("%d states, %d ends, %+v, but without sleep %d, %d, %+v",
			with.States(), len(with.Quiescent()), with.Stats, without.States(), len(without.Quiescent()), without.Stats)
	}
	steps := map[state.Fingerprint]int{}
	for id := range core.StateID(r.without.States()) {
		steps[r.without.Fingerprint(id)] = len(r.without.Edges(id))
	}
	for id := range core.StateID(r.with.States()) {
		if n, known := steps[r.with.Fingerprint(id)]; !known || n != len(r.with.Edges(id)) {
			return fmt.Sprintf("state %d is another one or has other steps", id)
		}
	}
	return ""
}

// cyclic reports whether a graph has a cycle, by taking away states without steps to others.
func cyclic(g core.Graph) bool {
	degree := make([]int, g.States())
	from := make([][]core.StateID, g.States())
	var ends []core.StateID
	for id := range core.StateID(g.States()) {
		for _, e := range g.Edges(id) {
			degree[id]++
			from[e.To] = append(from[e.To], id)
		}
		if degree[id] == 0 {
			ends = append(ends, id)
		}
	}
	left := g.States()
	for ; len(ends) > 0; left-- {
		last := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		for _, id := range from[last] {
			if degree[id]--; degree[id] == 0 {
				ends = append(ends, id)
			}
		}
	}
	return left > 0
}

// TestSleepersMissNothing checks that the same states and steps are found whether agents sleep or not, and that no more
// steps are taken than once were.
func TestSleepersMissNothing(t *testing.T) {
	n, most := *systems, 41770
	if testing.Short() {
		n, most = n/10, 2391
	}
	steps, taken := 0, 0
	for seed := *firstSeed; n > 0; seed++ {
		r, ok := rested(t, seed, reduction.Stubborn{})
		if !ok {
			continue
		}
		n--
		if r.difference != "" {
			t.Errorf("seed %d: %s", seed, r.difference)
		}
		steps += r.without.Stats.Transitions
		taken += r.with.Stats.Transitions
	}
	if taken >= steps {
		t.Errorf("of %d steps %d were taken: nobody ever slept", steps, taken)
	}
	if usual() && taken > most {
		t.Errorf("of %d steps %d were taken, and it were %d", steps, taken, most)
	}
	t.Logf("of %d steps %d were taken", steps, taken)
}

// TestAcyclicMeansIt checks that graphs of which searches tell that they have no cycle have none, also where steps were
// slept through.
func TestAcyclicMeansIt(t *testing.T) {
	n := *systems
	if testing.Short() {
		n /= 10
	}
	acyclic := 0
	for seed := *firstSeed; n > 0; seed++ {
		system, o := draw(t, seed)
		o.Reducer = reduction.Stubborn{}
		space, err := explore.Search(context.Background(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(space.Reasons()) > 0 {
			continue
		}
		n--
		if space.Acyclic() {
			acyclic++
			if cyclic(space) {
				t.Errorf("seed %d: there is a cycle", seed)
			}
		}
	}
	if acyclic == 0 {
		t.Error("no graph is acyclic")
	}
}

// TestSleepyMutantsAreCaught checks that the comparison shows whether agents sleep that must not.
func TestSleepyMutantsAreCaught(t *testing.T) {
	for _, test := range []struct {
		name string
		sleepy
	}{
		{"dependence", sleepy{commute: func(explore.Chooser, int, int) bool { return true }}},
		{"who is put off", sleepy{commute: explore.Chooser.Commute, forgetful: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			caught(t, test.name, func(seed uint64) (string, bool) {
				r, ok := rested(t, seed, test.sleepy)
				return r.difference, ok
			})
		})
	}
}

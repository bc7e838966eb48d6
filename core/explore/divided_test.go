package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// drawer is a strategy of a process of two. It counts its reconciles, up to two, and puts the number of another counter
// on a note.
type drawer struct {
	writer
	// counts is the counter that it changes, tells the one that it makes its note of, and shows those that it says it
	// can reach.
	counts, tells int
	shows         []int
	divided       bool
	both          []drawer
}

func (d drawer) Describe() core.Description {
	described := d.writer.Describe()
	described.Process, described.Divided = "both", d.divided
	return described
}

func (d drawer) New() (core.Instance, error) { return drawn{d, new([2]int)}, nil }

// drawn is an instance.
type drawn struct {
	drawer
	counters *[2]int
}

var _ core.Divided = drawn{}

func (d drawn) Reconcile(r core.EffectRecorder, _ core.Request) core.Result {
	with(r)("put %s %d", d.name, d.counters[d.tells])
	d.counters[d.counts] = min(2, d.counters[d.counts]+1)
	return core.Result{Requeue: d.counters[d.counts] < 2}
}

func (d drawn) Of(strategy string) core.Instance {
	for _, other := range d.both {
		if other.name == strategy {
			other.both = d.both
			return drawn{other, d.counters}
		}
	}
	return nil
}

func (d drawn) Memory() map[string]string {
	all := map[string]string{}
	for i, counter := range d.counters {
		all[fmt.Sprintf("counter[%d]", i)] = fmt.Sprint(counter)
	}
	return all
}

func (d drawn) MemoryOf(strategy string) map[string]string {
	all := map[string]string{}
	for _, i := range d.Of(strategy).(drawn).shows {
		all[fmt.Sprintf("counter[%d]", i)] = fmt.Sprint(d.counters[i])
	}
	return all
}

// drawers is a system of two of them.
func drawers(divided bool, both ...drawer) *core.System {
	system := boardWith([]string{"a -", "b -"})
	for i := range both {
		both[i].writer = writer{name: []string{"a", "b"}[i], initial: []core.Request{"go"}}
		both[i].divided = divided
	}
	for i := range both {
		both[i].both = both
		system.Strategies = append(system.Strategies, both[i])
	}
	return system
}

// TestDivided searches processes of two strategies whose memories are told apart: those that have nothing in common,
// those of which one changes what the other shows, and those of which one uses what it does not show. The states are
// those of one memory for both in any case.
func TestDivided(t *testing.T) {
	for name, test := range map[string]struct {
		a, b drawer
		want []string
	}{
		"apart":             {drawer{counts: 0, tells: 0, shows: []int{0}}, drawer{counts: 1, tells: 1, shows: []int{1}}, []string{"a", "b"}},
		"one remembers":     {drawer{counts: 0, tells: 0, shows: []int{0}}, drawer{counts: 0, tells: 1, shows: []int{1}}, []string{"both"}},
		"one is changed":    {drawer{counts: 0, tells: 0, shows: []int{0}}, drawer{counts: 1, tells: 0, shows: []int{0, 1}}, []string{"both"}},
		"one looks":         {drawer{counts: 0, tells: 0, shows: []int{0}}, drawer{counts: 1, tells: 0, shows: []int{1}}, []string{"both"}},
		"each of the other": {drawer{counts: 0, tells: 1, shows: []int{0}}, drawer{counts: 1, tells: 0, shows: []int{1}}, []string{"both"}},
	} {
		t.Run(name, func(t *testing.T) {
			for workers := 1; workers <= 2; workers++ {
				one := search(t, drawers(false, test.a, test.b), options(workers))
				apart := search(t, drawers(true, test.a, test.b), options(workers))
				var kept []string
				for _, m := range apart.Memory() {
					kept = append(kept, m.Controller)
				}
				if !slices.Equal(kept, test.want) || len(apart.Reasons())+len(apart.Incidents()) > 0 {
					t.Errorf("%v keep memory, want %v; reasons %v, incidents %v", kept, test.want, apart.Reasons(), apart.Incidents())
				}
				if apart.States() != one.States() || apart.Stats.Transitions != one.Stats.Transitions {
					t.Errorf("there are %d states and %d steps, want %d and %d", apart.States(), apart.Stats.Transitions, one.States(), one.Stats.Transitions)
				}
			}
		})
	}
}

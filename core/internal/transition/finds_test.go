package transition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// What is found of code, by the concept that it shows. The states and steps can be counted by hand; a run is run once
// and then audited as often as [audits] say.

func TestFindsMemory(t *testing.T)     { finds(t, remembering()) }
func TestFindsClocks(t *testing.T)     { finds(t, clocks()) }
func TestFindsBackground(t *testing.T) { finds(t, backgrounds()) }
func TestFindsChance(t *testing.T)     { finds(t, chances()) }
func TestFindsFailures(t *testing.T)   { finds(t, failures()) }
func TestFindsSharing(t *testing.T)    { finds(t, sharers()) }
func TestFindsDraws(t *testing.T)      { finds(t, drawers()) }
func TestFindsUsers(t *testing.T)      { finds(t, users()) }

func TestFindsKeptTimes(t *testing.T)        { finds(t, moreClocks()) }
func TestFindsHiddenChance(t *testing.T)     { finds(t, moreChances()) }
func TestFindsHiddenBackground(t *testing.T) { finds(t, moreBackgrounds()) }

func TestFindsMemoryWithoutEnd(t *testing.T) {
	finds(t, []scenario{
		{"it counts on and on", of(func() *trade {
			return sequential(controller("c", func() core.Instance {
				n := 0
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result { n = min(n+1, 70); return core.Result{Requeue: n < 70} }}, func() map[string]string { return map[string]string{"R.n": strconv.Itoa(n)} }}
			}))
		}), Conditions{}, `
71 states, 70 steps, 29820 runs
rests: 
remembers: c
unbounded: the memory of c is another one after each of 48 runs in a row, so the states may have no end: R.n changed each time. If it makes no difference to what the controller does, leave it out with --ignore-memory R.n (Options.IgnoreMemory)
memory of c: 70 [R.n]`},
	})
}

func TestFindsPolling(t *testing.T) {
	finds(t, []scenario{
		{"it polls for ever", of(func() *trade { return controller("c", ticking(-1)) }), Conditions{Active: []string{"c"}}, `
3 states, 3 steps, 345 runs
rests: 
active: c
memory of c: 1 []`},
	})
}

// Searches of all these are interrupted, wherever they run code.

func TestMemoryInterrupted(t *testing.T) { interruptions(t, remembering()) }
func TestClocksInterrupted(t *testing.T) { interruptions(t, clocks(), "clock.go", "learner.go") }
func TestBackgroundInterrupted(t *testing.T) {
	interruptions(t, backgrounds(), "background.go", "process.go")
}
func TestChanceInterrupted(t *testing.T)   { interruptions(t, chances(), "audit.go") }
func TestFailuresInterrupted(t *testing.T) { interruptions(t, failures()) }
func TestSharingInterrupted(t *testing.T) {
	interruptions(t, sharers(), "audit.go", "memory.go", "process.go")
}
func TestDrawsInterrupted(t *testing.T) { interruptions(t, drawers(), "draws.go") }
func TestKeptTimesInterrupted(t *testing.T) {
	interruptions(t, moreClocks(), "drift.go", "recollection.go", "clock.go")
}
func TestHiddenChanceInterrupted(t *testing.T) {
	interruptions(t, moreChances(), "audit.go", "learner.go", "memory.go")
}
func TestHiddenBackgroundInterrupted(t *testing.T) {
	interruptions(t, moreBackgrounds(), "background.go")
}
func TestUsersInterrupted(t *testing.T) { interruptions(t, users(), "actor.go", "steps.go") }

// String says what was found. Words that were drawn are not told.
func (f found) String() string {
	m, c, l := f.learner.Machine, f.conditions, f.learner
	all := []string{fmt.Sprintf("%d states, %d steps, %d runs", len(f.states), len(f.steps), f.executed)}
	for _, list := range []struct {
		name string
		of   []string
	}{
		{"rests", f.rests}, {"stopped", f.stopped}, {"remembers", c.Remembering}, {"active", c.Active}, {"ticks", c.ticking}, {"awaits", c.Awaiting}, {"draws", c.Drawing}, {"forks", c.Forking},
		{"doubts", m.Doubts}, {"waits", m.Waiting()},
	} {
		for _, text := range list.of {
			all = append(all, list.name+": "+text)
		}
	}
	if m.Unbounded != "" {
		all = append(all, "unbounded: "+m.Unbounded)
	}
	for _, memory := range m.Memories() {
		all = append(all, fmt.Sprintf("memory of %s: %d %v", memory.Controller, memory.Contents, memory.Fields))
	}
	for _, i := range l.Incidents {
		message, _, _ := strings.Cut(i.Message, " (at ")
		all = append(all, fmt.Sprintf("%s %s %s: %s %q", i.Kind, i.Cause, i.Strategy, message, i.Details))
	}
	return regexp.MustCompile("[0-9]{6}").ReplaceAllString(strings.Join(all, "\n"), "……")
}

// called returns the scenario of a name.
func called(name string, all []scenario) scenario {
	return all[slices.IndexFunc(all, func(s scenario) bool { return s.name == name })]
}

// finds searches the systems of scenarios.
func finds(t *testing.T, scenarios []scenario) {
	t.Helper()
	runs := regexp.MustCompile(`, \d+ runs`)
	for _, s := range scenarios {
		f := explored(t, s.system(), s.conditions)
		got, want := f.String(), s.want
		if strings.Contains(want, "nondeterministic chance") || strings.Contains(want, "forks: ") { // which decides in how many runs it is found out
			got, want = runs.ReplaceAllString(got, ""), runs.ReplaceAllString(want, "")
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: this is found:\n%s\nwant%s", s.name, got, want)
		}
		f.known(t)
	}
}

package explore

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
)

// lapping is a run for tests: in each step an agent of this strategy does something, and there is as much of "Pod" and
// "Job" before each of them as is said.
func lapping(t *testing.T, strategies string, pods, jobs func(step int) int) *probe {
	t.Helper()
	space, _, _ := ways{0: {1}, 1: {}}.search(t, Options{}, 0)
	p := &probe{search: &search{Space: space}, counts: map[int]map[counted]int{}, since: map[int]int{}}
	for step, strategy := range strategies {
		p.run = append(p.run, core.Edge{Step: core.Step{Item: core.Item{Strategy: string(strategy), Request: core.Request(strconv.Itoa(step))}}})
	}
	for step := range len(strategies) + 1 {
		p.counts[step] = map[counted]int{}
		for kind, count := range map[core.Kind]int{"Pod": pods(step), "Job": jobs(step)} {
			if count != 0 {
				p.counts[step][counted{kind: kind}] = count
			}
		}
	}
	return p
}

// TestLaps finds the laps with which runs end: at least four, each of which adds as much by steps of the same
// controllers.
func TestLaps(t *testing.T) {
	each := func(steps int) func(int) int { return func(step int) int { return step / steps } }
	none := func(int) int { return 0 }
	repeated := func(lap string, laps int) string {
		all := ""
		for range laps {
			all += lap
		}
		return all
	}
	long := repeated("p", longestLap)
	for _, test := range []struct {
		name       string
		strategies string
		pods, jobs func(int) int
		lap, laps  int
	}{
		{"one step", "pppp", each(1), none, 1, 4},
		{"too few", "ppp", each(1), none, 0, 0},
		{"two steps", "pppppppp", each(2), none, 2, 4},
		{"behind others", "pppppppppp", func(step int) int { return max(0, step-5) }, none, 1, 5},
		{"nothing more", "pppppppp", none, none, 0, 0},
		{"less of something", "pppppppp", each(1), func(step int) int { return 9 - step }, 0, 0},
		{"less of something now and then", "pppppppp", each(1), func(step int) int { return step % 2 }, 2, 4},
		{"ever more", "pppppppp", func(step int) int { return step * step }, none, 0, 0},
		{"the longest", repeated(long, 4), each(longestLap), func(step int) int { return step % longestLap }, longestLap, 4},
		{"longer", repeated(long+"p", 4), each(longestLap + 1), func(step int) int { return step % (longestLap + 1) }, 0, 0},
		{"somebody who need not act", "uuuuuuuu", each(1), none, 0, 0},
	} {
		p := lapping(t, test.strategies, test.pods, test.jobs)
		if lap, laps := p.laps(); lap != test.lap || laps != test.laps {
			t.Errorf("%s: there are %d laps of %d steps, want %d of %d", test.name, laps, lap, test.laps, test.lap)
		}
	}
	p := lapping(t, "pppppppp", each(2), none)
	if p.run[1].Step.Kind = core.Deliver; !p.repeats(4, 2, 2) || p.repeats(2, 0, 2) {
		t.Error("a lap with another kind of step is taken for the same")
	}
	p.run[1].Step.Kind = p.run[3].Step.Kind
	if p.run[1].Step.Item.Strategy = "q"; p.repeats(2, 0, 2) {
		t.Error("a lap with a step of another controller is taken for the same")
	}
}

// TestWhoeverHasWaitedGoesNext has three agents take turns. Who could not take a step for a while has not waited.
func TestWhoeverHasWaitedGoesNext(t *testing.T) {
	p := &probe{since: map[int]int{}}
	var got []int
	for _, can := range [][]int{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}} {
		p.steps = p.steps[:0]
		for _, agent := range can {
			p.steps = append(p.steps, turn{agent: agent})
		}
		next := p.next()
		got = append(got, next.agent)
		p.run = append(p.run, next.edge)
	}
	if want := []int{1, 2, 3, 1, 3, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v go, want %v", got, want)
	}
}

// TestDrawsAreReported has laps add nothing but draws: then it is told who draws, in order, and the run ends with the
// first laps that report enough.
func TestDrawsAreReported(t *testing.T) {
	none := func(int) int { return 0 }
	p := lapping(t, "pppppppppppp", none, none)
	for step, counts := range p.counts {
		counts[counted{drawing: "web"}], counts[counted{drawing: "db"}] = step/2+1, step/2+5
	}
	lap, laps := p.laps()
	p.report(lap, laps, true)
	g := p.growing
	if lap != 2 || laps != 6 || len(g.Adds) > 0 || !slices.Equal(g.Drawing, []string{"db", "web"}) || len(g.Run) != 8 || g.Lap != 2 || g.Laps != 6 || !g.Shown {
		t.Errorf("%d laps of %d steps: %+v", laps, lap, g)
	}
	g.Run[7].Step.Item.Strategy, g.Run[5].Step.Item.Strategy = "a", "b"
	if got := g.Controllers(); !slices.Equal(got, []string{"a", "p"}) {
		t.Errorf("the steps of a lap are those of %v", got)
	}
}

// TestTranscripts has what was tried before a step be no part of what is written down of it.
func TestTranscripts(t *testing.T) {
	script := &transcript{}
	web := &transition.Actor{Description: core.Description{Name: "web"}}
	for _, request := range []core.Request{"tried", "taken"} {
		script.Began()
		script.Ended(web, behavior.Activation{Request: request}, nil, &behavior.Leaf{})
	}
	if got := script.step.String(); strings.Contains(got, "tried") || !strings.Contains(got, "taken") || !strings.HasPrefix(got, "web ") {
		t.Errorf("of the step it is written that %q", got)
	}
}

// TestDifference tells how much there is more of what there is more or less of, and numbers only where they are asked
// for.
func TestDifference(t *testing.T) {
	pod, job, cron, number := counted{kind: "Pod"}, counted{kind: "Job"}, counted{kind: "Cron"}, counted{kind: "Pod", number: "spec.n"}
	p := &probe{counts: map[int]map[counted]int{1: {pod: 1, job: 2, cron: 4, number: 7}, 2: {pod: 1, job: 5, number: 9}}}
	for _, p.grain = range []grain{amounts, numbers} {
		want := map[counted]int{job: 3, cron: -4}
		if p.grain == numbers {
			want[number] = 2
		}
		if got := p.difference(1, 2); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

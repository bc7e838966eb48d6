package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
	"github.com/orrery-dev/orrery/internal/random"
)

// wholeText says all that there is to say of a state that a walker is in, with what waits for its views.
func wholeText(w *transition.Walker, state core.State) string {
	var b strings.Builder
	for _, kind := range random.Kinds() {
		for _, o := range state.List(kind, "") {
			fmt.Fprintf(&b, "%s=%s ", o.Key, o.Content.Canonical())
		}
	}
	fmt.Fprintf(&b, "work %v timers %v", state.Work(), state.Timers())
	for _, missing := range missingIn(w) {
		fmt.Fprintf(&b, " %s", missing.Process)
		for _, change := range missing.Behind {
			fmt.Fprintf(&b, " [%s %s %s]", change.Key, canonical(change.From), canonical(change.To))
		}
	}
	return b.String()
}

func canonical(c core.Content) string {
	if c == nil {
		return "nothing"
	}
	return c.Canonical()
}

// missingIn returns what waits for the views of each process in the state that a walker is in.
func missingIn(w *transition.Walker) []core.AtWork {
	var all []core.AtWork
	vocabulary := w.Machine.Vocabulary
	for _, p := range w.Machine.Processes {
		at := core.AtWork{Process: p.Name}
		for _, v := range p.Views {
			for _, change := range v.Backlog(w.Value(v.Cell())).Waiting {
				key, _ := vocabulary.Key(change.Cell)
				at.Behind = append(at.Behind, core.Missing{Key: key, From: vocabulary.Content(change.Cell, change.From), To: vocabulary.Content(change.Cell, change.To)})
			}
		}
		all = append(all, at)
	}
	return all
}

// reachable returns the texts of the states that can be reached from one, in order, and of those that are the end of
// runs.
func reachable(s *Space, from core.StateID) (states, ends []string) {
	queue, seen := []core.StateID{from}, map[core.StateID]bool{from: true}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		s.executor.Load(s.row(id))
		text := wholeText(s.executor.Walker, s.State(id))
		states = append(states, text)
		edges := slices.Clone(s.Edges(id))
		if len(edges) == 0 {
			ends = append(ends, text)
		}
		for _, e := range edges {
			if !seen[e.To] {
				seen[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	slices.Sort(states)
	slices.Sort(ends)
	return states, ends
}

// catchesUp checks that caches which are behind at the start, and fresh by the rules, catch up and stay so, and show
// nothing that lagging ones do not.
func catchesUp(t *testing.T, begun *core.System, limits behavior.Limits, lagging []string) {
	t.Helper()
	behind := func(w *transition.Walker) (n int) {
		for _, p := range missingIn(w) {
			n += len(p.Behind)
		}
		return n
	}
	space, err := Search(context.Background(), begun, Options{Run: limits})
	if err != nil {
		t.Fatal(err)
	}
	caughtUp := false
	for id := range core.StateID(space.States()) {
		w := space.executor
		w.Load(space.row(id))
		before := behind(w.Walker)
		caughtUp = caughtUp || before == 0
		if text := wholeText(w.Walker, space.State(id)); !slices.Contains(lagging, text) {
			t.Fatalf("caches that only catch up lead to a state that lagging ones do not: %s", text)
		}
		for _, e := range slices.Clone(space.Edges(id)) {
			w.Load(space.row(e.To))
			if after := behind(w.Walker); before == 0 && after > 0 {
				t.Fatalf("%s makes caches stale that had caught up", e.Step)
			}
		}
	}
	if !caughtUp {
		t.Fatal("caches never catch up")
	}
}

// TestSearchesBeginAnywhere is the twin test of starts in the middle: a search that begins in a state of another one
// finds what that finds from there.
func TestSearchesBeginAnywhere(t *testing.T) {
	tried, behind := 0, 0
	enough := 40
	if testing.Short() {
		enough = 8
	}
	for seed := uint64(1); tried < enough; seed++ {
		system, err := random.System(seed)
		if err != nil {
			t.Fatal(err)
		}
		system.Scenario = core.Scenario{} // what users have done already is not part of a start
		for _, rule := range []view.Rule{view.Fresh(), view.Lag(2), view.Relist()} {
			options := Options{Conditions: Conditions{Staleness: []Staleness{{Rule: rule}}}, Bounds: Bounds{States: 1500}, Run: behavior.Limits{Deadline: 10 * time.Second, Calls: 1000}}
			whole, err := Search(context.Background(), system, options)
			if err != nil {
				t.Fatal(err)
			}
			if len(whole.Reasons()) > 0 {
				continue // too large, or with something that is not searched
			}
			tried++
			for k := 0; k < whole.States(); k += 1 + whole.States()/7 {
				id := core.StateID(k)
				w := whole.executor
				w.Load(whole.row(id))
				begun, state := *system, whole.State(id)
				underway := &core.Underway{Processes: missingIn(w.Walker)}
				for i := range underway.Processes {
					p := &underway.Processes[i]
					behind += len(p.Behind)
					of := func(items []core.Item) []core.Item {
						return slices.DeleteFunc(slices.Clone(items), func(item core.Item) bool {
							a, err := w.Machine.Actor(item.Strategy)
							return err != nil || a.Process.Name != p.Process
						})
					}
					p.Queued, p.Timed = of(state.Work()), of(state.Timers())
				}
				initial := core.Initial{Underway: underway}
				for _, kind := range random.Kinds() {
					initial.Objects = append(initial.Objects, state.List(kind, "")...)
				}
				begun.Initial = []core.Initial{initial}
				if err := begun.Validate(); err != nil {
					t.Fatalf("seed %d, %s, state %d: %v", seed, rule, k, err)
				}
				wantStates, wantEnds := reachable(whole, id)
				from, err := Search(context.Background(), &begun, options)
				if err != nil {
					t.Fatal(err)
				}
				gotStates, gotEnds := reachable(from, from.Initial()[0])
				if rule == view.Lag(2) {
					catchesUp(t, &begun, options.Run, wantStates)
				}
				if !slices.Equal(gotStates, wantStates) || !slices.Equal(gotEnds, wantEnds) {
					t.Fatalf("seed %d, %s, begun in state %d: %d states and %d ends, want %d and %d\n%s\n\nwant\n%s", seed, rule, k,
						len(gotStates), len(gotEnds), len(wantStates), len(wantEnds), strings.Join(gotStates, "\n"), strings.Join(wantStates, "\n"))
				}
			}
		}
	}
	if behind == 0 {
		t.Error("no state was tried in which a cache is behind")
	}
	t.Logf("%d searches were begun again in their states", tried)
}

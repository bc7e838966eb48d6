package explore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/internal/random"
)

// TestWordsOfStates finds the words of a state: in names and contents of objects, and in requests, whether they are in
// a queue or wait.
func TestWordsOfStates(t *testing.T) {
	works := hand{core.Description{Name: "works", Initial: []core.Request{"request-1"}, Sequential: true}, always(func(asks, core.Request) core.Result { return core.Result{} })}
	space := searchSlate(t, slateWith([]string{"name-1 text-1.of/2"}, works), Options{})
	p := &probe{search: &search{Space: space}, run: core.Run{{From: 0}, {From: space.Quiescent()[0]}}}
	for step, want := range [][]string{{"2", "name-1", "request-1", "text-1.of", "word"}, {"2", "name-1", "text-1.of", "word"}} {
		if got := slices.Sorted(maps.Keys(p.words(step))); !slices.Equal(got, want) {
			t.Errorf("before step %d there are the words %q, want %q", step, got, want)
		}
	}
}

// pointed is a call that says what it does apart from what it writes.
type pointed struct{ ask }

func (pointed) Aim() string      { return "put a" }
func (pointed) Contents() string { return "text" }

// TestCallsInTranscripts writes down what calls do and write as text where they say so, and otherwise what identifies
// them.
func TestCallsInTranscripts(t *testing.T) {
	script, web := &transcript{}, &transition.Actor{Description: core.Description{Name: "web"}}
	for _, call := range []core.Call{pointed{"hash of put a"}, ask("get a")} {
		script.Called(web, behavior.Activation{Request: "r"}, transition.CallEvent{Node: &behavior.Node{Call: call}, Response: reply("ok")})
	}
	got := strings.Split(strings.TrimSpace(script.step.String()), "\n")
	if len(got) != 2 || !strings.HasSuffix(got[0], ": put a text → ok") || !strings.HasSuffix(got[1], ": get a → ok") {
		t.Errorf("it is written down that %q", got)
	}
}

// TestDrawsAreCounted counts how often controllers have drawn values in a state of a run, wherever somebody has looked
// before.
func TestDrawsAreCounted(t *testing.T) {
	for seed := uint64(0); ; seed++ {
		system, err := random.Drawing(seed)
		if err != nil {
			t.Fatal(err)
		}
		space, err := Search(t.Context(), system, Options{Workers: 1, Bounds: Bounds{States: 60}, Run: slateLimits})
		if err != nil {
			t.Fatal(err)
		}
		drew := false
		for id := range core.StateID(space.States()) {
			space.executor.Load(space.row(id))
			want := space.executor.Drawn()
			space.executor.Load(space.row(0))
			p := &probe{search: &search{Space: space}, run: core.Run{{From: 0, To: id}}, counts: map[int]map[counted]int{}}
			got := map[string]int{}
			for what, n := range p.count(1) {
				if what.drawing != "" {
					got[what.drawing] = n
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d: in state %d there are the draws %v, want %v", seed, id, got, want)
			}
			drew = drew || len(want) > 0
		}
		if drew {
			return
		}
	}
}

// TestProbesMeetMemory looks for growth in systems: if a run of it meets something that was not known of a controller,
// the search is told.
func TestProbesMeetMemory(t *testing.T) {
	for name, h := range map[string]hand{"sticky": sticky("c"), "plain": settles("c", "a", "1")} {
		g := &growth{context: t.Context(), system: slateWith(nil, h), options: Options{Workers: 1, Run: slateLimits, Memo: NewMemo(), Logger: hclog.NewNullLogger()}}
		if found := g.look(); found != nil || (g.unexpected != nil) != (name == "sticky") {
			t.Errorf("%s: it finds %+v, and did not expect %v", name, found, g.unexpected)
		}
	}
}

// TestLinesOfOthersAreNotKnown puts the lines of a reconcile before those of event handlers, and leaves out those of a
// controller that is not deterministic.
func TestLinesOfOthersAreNotKnown(t *testing.T) {
	handles, reconciles := ranAs{Run: behavior.Run{Activation: behavior.Activation{Event: &core.Event{}}}}, ranAs{}
	for _, test := range []struct {
		a, b ranAs
		want int
	}{{handles, reconciles, 1}, {reconciles, handles, -1}, {handles, handles, 0}, {reconciles, reconciles, 0}} {
		if got := handlersLast(test.a, test.b); got != test.want {
			t.Errorf("%+v and %+v: %d, want %d", test.a.Activation, test.b.Activation, got, test.want)
		}
	}
	runs := 0
	space := searchSlate(t, slateWith(nil, goes("tosses", always(func(do asks, _ core.Request) core.Result {
		if runs++; runs%2 == 0 {
			do("put a 1")
		}
		return core.Result{}
	}))), Options{Logs: true})
	step := stepOf(t, space, 0, "tosses")
	runs = 1 // so that the next run goes the other way
	if len(space.Effect(step).Changes) > 0 {
		runs = 0
	}
	trace, err := space.Trace(t.Context(), 0, core.Run{step}, nil)
	if err != nil || trace.Steps[0].MissingLogs != "all lines of tosses, which is nondeterministic" {
		t.Errorf("of the lines it is said that %+v: %v", trace.Steps, err)
	}
}

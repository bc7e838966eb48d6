package properties_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// polls is a controller that runs every minute and watches nothing.
func polls(name string, do func(*plain.World)) plain.Controller {
	return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		do(w)
		return core.Result{RequeueAfter: time.Minute}
	}}
}

// once is a controller that runs once.
func once(name string, do func(*plain.World)) plain.Controller {
	return plain.Controller{Name: name, Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		do(w)
		return core.Result{}
	}}
}

// TestRestBehindTimers checks that what a timer will still do is work, and that what nobody will do is told in spite of
// timers.
func TestRestBehindTimers(t *testing.T) {
	x, y, done := plain.NewVar[int]("x"), plain.NewVar[int]("y"), plain.NewVar[bool]("done")
	things := plain.NewFamily[string]("thing")
	twice := properties.NoDuplicates(things.Kind(), func(fields any) string { text, _ := fields.(string); return text })
	start := []core.Initial{plain.Start(x.Is(0), y.Is(0), done.Is(false), things.At(0).Is("a"), things.At(1).Is("a"))}
	produces := once("producer", func(w *plain.World) { x.Set(w, 1) })
	copies := func(w *plain.World) { y.Set(w, x.Get(w)) }
	tidies := func(w *plain.World) {
		if things.At(0).Get(w) == things.At(1).Get(w) {
			things.At(1).Delete(w)
		}
	}
	heartbeat := polls("heart", func(w *plain.World) { x.Set(w, 1-x.Get(w)) })
	deadline := plain.Controller{Name: "deadline", Requests: []core.Request{"r"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		if y.Get(w) == 0 {
			y.Set(w, 1)
			return core.Result{RequeueAfter: time.Hour}
		}
		done.Set(w, true)
		return core.Result{}
	}}
	finished := func(s core.State) bool { return done.Get(s) }
	formula, err := ltl.Claim{Formula: "F done", Atoms: []ltl.Atom{{Name: "done", State: finished}}}.Property()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name        string
		controllers []plain.Controller
		property    core.Property
		finds       string // empty if it holds
	}{
		{"a missing watch", []plain.Controller{produces, once("copier", copies)}, properties.Fixpoint(), "running copier(r) again"},
		{"polling in place of a watch", []plain.Controller{produces, polls("copier", copies)}, properties.Fixpoint(), ""},
		{"polling has one outcome", []plain.Controller{produces, polls("copier", copies)}, properties.SameOutcome(), ""},
		{"polling comes to rest", []plain.Controller{produces, polls("copier", copies)}, properties.StableConvergence(), ""},
		{"somebody else polls", []plain.Controller{produces, once("copier", copies), polls("idle", func(w *plain.World) { x.Get(w) })},
			properties.Fixpoint(), "running copier(r) again"},
		{"a duplicate stays", []plain.Controller{produces}, twice, "stays forever"},
		{"a duplicate stays beside a poller", []plain.Controller{polls("idle", func(w *plain.World) { x.Get(w) })}, twice, "stays forever"},
		{"a duplicate stays while something else changes for ever", []plain.Controller{heartbeat}, twice, "stays forever"},
		{"a duplicate is tidied up later", []plain.Controller{polls("tidy", tidies)}, twice, ""},
		{"a duplicate is tidied up later while something else changes for ever", []plain.Controller{heartbeat, polls("tidy", tidies)}, twice, ""},
		{"what changes at each poll never rests", []plain.Controller{heartbeat}, properties.StableConvergence(), "heart never stops changing x"},
		{"a poller does not starve a deadline", []plain.Controller{polls("idle", func(w *plain.World) { x.Get(w) }), deadline},
			properties.Eventually("done", finished), ""},
		{"a heartbeat does not starve a deadline", []plain.Controller{heartbeat, deadline}, formula, ""},
		{"a deadline that depends on what a poller sees", []plain.Controller{polls("reset", func(w *plain.World) { y.Set(w, 0) }), deadline},
			properties.Eventually("done", finished), "never reaches a state"},
	} {
		g := explored(t, plain.Model{Initial: start, Controllers: test.controllers})
		v := violated(t, g, test.property)
		switch {
		case v == nil && test.finds != "":
			t.Errorf("%s: %s holds, want %q", test.name, test.property.Name, test.finds)
		case v != nil && (test.finds == "" || !strings.Contains(v.Summary, test.finds)):
			t.Errorf("%s: %s: %s, want %q", test.name, test.property.Name, v.Summary, test.finds)
		}
	}
}

// TestEnds checks that a state whose timers lead to a change is no end, and that the states behind the change are.
func TestEnds(t *testing.T) {
	x, y := plain.NewVar[int]("x"), plain.NewVar[int]("y")
	g := explored(t, plain.Model{
		Initial: []core.Initial{plain.Start(x.Is(0), y.Is(0))},
		Controllers: []plain.Controller{
			polls("first", func(w *plain.World) { x.Get(w) }),
			// It polls twice: what it sees the second time lets it write.
			polls("second", func(w *plain.World) { x.Set(w, min(x.Get(w)+1, 3)) }),
		},
	})
	ends, err := properties.Ends(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Quiescent()) <= len(ends) || len(ends) == 0 {
		t.Fatalf("%d of the quiescent states %v are ends", len(ends), g.Quiescent())
	}
	for _, id := range g.Quiescent() {
		if end := slices.Contains(ends, id); end != (x.Get(g.State(id)) == 3) {
			t.Errorf("x is %d: end %t", x.Get(g.State(id)), end)
		}
	}
}

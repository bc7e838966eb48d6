package transition

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/view"
)

// described is a strategy that does nothing but to say what it is.
type described core.Description

func (d described) Describe() core.Description { return core.Description(d) }
func (described) New() (core.Instance, error)  { panic("nobody runs it") }

// office is a system of controllers of which two share a process, an agent of guarded actions, and one of messages.
func office() *core.System {
	return &core.System{Strategies: []core.Strategy{
		described{Name: "web", Watches: []core.Kind{"Pod", "Job.batch"}, Caches: []core.Kind{"Secret"}},
		described{Name: "one", Process: "both", Watches: []core.Kind{"Ingress.a"}},
		described{Name: "two", Process: "both", Watches: []core.Kind{"Ingress.b", "Pod"}},
		described{Name: "idle"},
		described{Name: "hand", Standing: []core.Request{"wave"}},
		described{Name: "inbox", Messages: true},
	}}
}

func rule(t *testing.T, text string) view.Rule {
	t.Helper()
	r, err := view.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestValidate has conditions be refused that speak of what the system does not have, each mistake in a line of its
// own.
func TestValidate(t *testing.T) {
	lag := rule(t, "lag(1)")
	served := office()
	served.Kinds = []core.Kind{"Pod", "Node"}
	behind := office()
	behind.Initial = []core.Initial{{}, {Underway: &core.Underway{Processes: []core.AtWork{
		{Process: "web", Behind: []core.Missing{{Key: core.Key{Kind: "Pod", Name: "a"}}, {Key: core.Key{Kind: "Pod", Name: "b"}}, {Key: core.Key{Kind: "Secret", Name: "b"}}}},
	}}}}
	atomic := &core.System{Strategies: []core.Strategy{described{Name: "inbox", Messages: true}, described{Name: "hand", Standing: []core.Request{"wave"}}}}
	const noView = `no controller watches "Cron": watched kinds are Ingress.a, Ingress.b, Job.batch, Pod, Secret`
	for _, test := range []struct {
		system *core.System
		c      Conditions
		want   []string
	}{
		{office(), Conditions{}, nil},
		{office(), Conditions{Orders: 1, Crashes: 1, Failures: 1, FaultsIn: []string{"web", "both", "two"}, Doubles: []string{"both", "hand"}}, nil},
		{office(), Conditions{Orders: -1}, []string{"a number of orders must not be negative: use 1 for one order only"}},
		{office(), Conditions{Crashes: -1, Failures: 1}, []string{"a number of crashes or failures must not be negative: use 0 for none"}},
		{office(), Conditions{Crashes: 1, Failures: -1}, []string{"a number of crashes or failures must not be negative: use 0 for none"}},
		{office(), Conditions{Doubles: []string{"wed", "web"}}, []string{`there is no controller "wed" to run twice: use one of both, hand, idle, inbox, one, two, web`}},
		{office(), Conditions{Staleness: []Staleness{{Controller: "wed", Kind: "Pod", Rule: lag}}}, []string{`there is no controller "wed": use one of both, hand, idle, inbox, one, two, web`}},
		{office(), Conditions{Staleness: []Staleness{{Rule: lag}, {Kind: "Pod", Rule: lag}, {Controller: "web", Rule: lag}, {Controller: "web", Kind: "Secret", Rule: lag}, {Controller: "one", Kind: "Ingress.b", Rule: lag}}}, nil},
		{office(), Conditions{Staleness: []Staleness{{Controller: "both", Kind: "Pod", Rule: lag}, {Kind: "Cron", Rule: view.Fresh()}, {Controller: "idle", Rule: view.Fresh()}}}, nil},
		{office(), Conditions{Staleness: []Staleness{{Kind: "Cron", Rule: lag}}}, []string{noView}},
		{served, Conditions{Staleness: []Staleness{{Kind: "Node", Rule: lag}, {Controller: "idle", Kind: "Node", Rule: lag}}}, nil},
		{served, Conditions{Staleness: []Staleness{{Kind: "Cron", Rule: lag}}}, []string{noView}},
		{served, Conditions{Staleness: []Staleness{{Controller: "idle", Rule: lag}}}, nil},
		{office(), Conditions{Staleness: []Staleness{{Controller: "idle", Rule: lag}}}, []string{`controller "idle" watches nothing, so it has no cache that could be stale`}},
		{office(), Conditions{Staleness: []Staleness{{Controller: "idle", Kind: "Pod", Rule: lag}}}, []string{`controller "idle" watches nothing, so it has no cache that could be stale`}},
		{office(), Conditions{Staleness: []Staleness{{Controller: "web", Kind: "Node", Rule: lag}}}, []string{`controller "web" does not watch "Node": it watches Job.batch, Pod, Secret`}},
		{office(), Conditions{Caches: []CachedKind{{"web", "Node"}}, Staleness: []Staleness{{Controller: "web", Kind: "Node", Rule: lag}}}, nil},
		{office(), Conditions{Caches: []CachedKind{{"both", "Node"}}, Staleness: []Staleness{{Controller: "two", Kind: "Node", Rule: lag}}}, nil},
		{office(), Conditions{FaultsIn: []string{"web", "one"}}, []string{"--faults-in (Options.FaultsIn) names web, one, but no faults are allowed: set --crashes or --failures (Options.Crashes, Options.Failures), or leave it out"}},
		{office(), Conditions{Failures: 1, FaultsIn: []string{"hand"}}, []string{`"hand" has messages or guarded actions, so it cannot crash and its calls cannot fail`}},
		{office(), Conditions{Crashes: 1, FaultsIn: []string{"inbox", "wed"}}, []string{
			`"inbox" has messages or guarded actions, so it cannot crash and its calls cannot fail`, `there is no controller "wed" that can fail: use one of both, idle, one, two, web`,
		}},
		{atomic, Conditions{}, nil},
		{atomic, Conditions{Crashes: 1}, []string{"no controller can crash or have a failed call, because guarded actions and messages are atomic: hand, inbox. Add a controller, or leave out --crashes and --failures (Options.Crashes, Options.Failures)"}},
		{atomic, Conditions{Failures: 1}, []string{"no controller can crash or have a failed call, because guarded actions and messages are atomic: hand, inbox. Add a controller, or leave out --crashes and --failures (Options.Crashes, Options.Failures)"}},
		{atomic, Conditions{Failures: 1, FaultsIn: []string{"web"}}, []string{`there is no controller "web" that can fail: this system has none`}},
		{behind, Conditions{}, nil},
		{behind, Conditions{Staleness: []Staleness{{Controller: "web", Rule: rule(t, "lag(2)")}}}, nil},
		{behind, Conditions{Staleness: []Staleness{{Kind: "Secret", Rule: lag}, {Controller: "both", Rule: lag}}}, nil},
		{behind, Conditions{Staleness: []Staleness{{Rule: lag}}}, []string{
			"the cache of Pod in web is 2 changes behind at the start, and lag(1) does not allow that: use lag(2), or leave out --stale (Options.Stale)",
		}},
		{behind, Conditions{Staleness: []Staleness{{Rule: rule(t, "lag(2)")}, {Controller: "web", Kind: "Pod", Rule: lag}}}, []string{
			"the cache of Pod in web is 2 changes behind at the start, and lag(1) does not allow that: use lag(2), or leave out --stale (Options.Stale)",
		}},
	} {
		got := ""
		if err := test.c.Validate(test.system); err != nil {
			got = err.Error()
		}
		if want := strings.Join(test.want, "\n"); got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.c, got, want)
		}
	}
}

// TestNamed completes names of kinds by their groups, where it is clear which.
func TestNamed(t *testing.T) {
	system := office()
	system.Strategies = append(system.Strategies, described{Name: "many", Watches: []core.Kind{"Service", "Service.mesh"}})
	system.Kinds = []core.Kind{"Pod", "Node", "Node.metrics", "Ingress", "Job.batch", "Job.other", "Cron.batch", "Lease.x", "Lease.y", "Lease.x"}
	for _, test := range []struct {
		controller string
		kind, want core.Kind
		err        string
	}{
		{"", "", "", ""},
		{"web", "", "", ""},
		{"web", "Pod", "Pod", ""},
		{"web", "Job", "Job.batch", ""},
		{"", "Job", "Job.batch", ""},
		{"one", "Ingress", "", `kind "Ingress" is in several groups: use one of Ingress.a, Ingress.b`},
		{"", "Ingress", "", `kind "Ingress" is in several groups: use one of Ingress.a, Ingress.b`},
		{"two", "Ingress.b", "Ingress.b", ""},
		{"web", "Node", "Node", ""},
		{"web", "Cron", "Cron.batch", ""},
		{"one", "Job", "", `kind "Job" is in several groups: use one of Job.batch, Job.other`},
		{"web", "Lease", "", `kind "Lease" is in several groups: use one of Lease.x, Lease.y`},
		{"web", "Jo", "Jo", ""},
		{"many", "Service", "Service", ""},
		{"web", "Job.none", "Job.none", ""},
	} {
		given := Conditions{Staleness: []Staleness{{Controller: "web", Kind: "Job"}, {Controller: test.controller, Kind: test.kind}}}
		named, err := given.Named(system)
		switch {
		case given.Staleness[0].Kind != "Job" || given.Staleness[1].Kind != test.kind:
			t.Errorf("%s of %q: what was given is changed to %v", test.kind, test.controller, given.Staleness)
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%s of %q: the error is %v", test.kind, test.controller, err)
			}
		case err != nil || named.Staleness[0].Kind != "Job.batch" || named.Staleness[1].Kind != test.want:
			t.Errorf("%s of %q: %v, %v", test.kind, test.controller, named.Staleness, err)
		}
	}
}

// TestExpect makes conditions of what was found out, once, and of no other errors.
func TestExpect(t *testing.T) {
	start := func() Conditions {
		return Conditions{Remembering: []string{"known"}, Awaiting: []string{"known"}, Drawing: []string{"known"}, Active: []string{"known"}, ticking: []string{"known", "ticks"}}
	}
	for _, test := range []struct {
		err  error
		want func(*Conditions) // nil if nothing is made of it
	}{
		{&unexpectedDeadline{[]string{"a", "known", "b"}}, func(c *Conditions) { c.Awaiting = append(c.Awaiting, "a", "b") }},
		{&unexpectedOrder{Controller: "a"}, func(c *Conditions) { c.Ordered = true }},
		{&unexpectedOrder{Controller: "a", Noted: true}, func(c *Conditions) { c.Ordered, c.Noted = true, true }},
		{&unexpectedDraws{Controller: "a"}, func(c *Conditions) { c.Drawing = append(c.Drawing, "a") }},
		{&unexpectedViews{Caches: []CachedKind{{"a", "Pod"}}}, func(c *Conditions) { c.Caches = append(c.Caches, CachedKind{"a", "Pod"}) }},
		{&unexpectedMemory{Memory: "a", outlived: []string{"o"}}, func(c *Conditions) { c.Remembering, c.outlived = append(c.Remembering, "a"), []string{"o"} }},
		{&unexpectedBackground{Memory: "a"}, func(c *Conditions) { c.Active = append(c.Active, "a") }},
		{&unexpectedBackground{Memory: "a", ticks: true}, func(c *Conditions) { c.ticking = append(c.ticking, "a") }},
		{&unexpectedSharing{"a"}, func(c *Conditions) { c.Remembering = append(c.Remembering, "a") }},
		{fmt.Errorf("in a step: %w", &unexpectedSharing{"a"}), func(c *Conditions) { c.Remembering = append(c.Remembering, "a") }},
		{&unexpectedDeadline{[]string{"known", "b"}}, nil},
		{&unexpectedDraws{Controller: "a", exchanges: true}, func(c *Conditions) { c.Drawing, c.exchanging = append(c.Drawing, "a"), []string{"a"} }},
		{&unexpectedDraws{Controller: "known"}, nil},
		{&unexpectedMemory{Memory: "known"}, nil},
		{&unexpectedBackground{Memory: "known"}, nil},
		{&unexpectedBackground{Memory: "known", ticks: true}, nil},
		{&unexpectedBackground{Memory: "ticks", ticks: true}, nil},
		{&unexpectedSharing{"known"}, nil},
		{errors.New("another one"), nil},
		{nil, nil},
	} {
		got, want := start(), start()
		given := got.Remembering
		if test.want != nil {
			test.want(&want)
		}
		known := got.Expect(test.err)
		if got.given = nil; known != (test.want != nil) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %t, %+v", test.err, known, got)
		}
		if len(given) != 1 || given[0] != "known" {
			t.Errorf("%v: what was known is changed", test.err)
		}
		var views *unexpectedViews
		if got := ofCode(test.err); got != (test.err != nil && test.err.Error() != "another one" && !errors.As(test.err, &views)) {
			t.Errorf("%v is of code: %t", test.err, got)
		}
	}
}

// TestInfer makes conditions of a trace: of seeds, of steps in the background, and of calls that wait in memory, for a
// request each or not.
func TestInfer(t *testing.T) {
	steps := []core.TraceStep{
		{Controller: "web", Seed: 3}, {Controller: core.SecondInstance("one"), Seed: 4}, {Controller: "two"}, {Controller: "idle", Seed: 5}, {Controller: "web", Seed: 6}, {Controller: "nobody", Seed: 7},
		{Controller: core.Background("both"), Request: "1"}, {Controller: core.Background("five"), Request: "1 for a"}, {Memory: []core.MemoryChange{{Controller: "two", Field: "T.seen"}, {Controller: "three", Field: "background[2]"}, {Controller: "six", Field: "background[1 for a]"}}},
	}
	c := Conditions{Drawing: []string{"idle"}, Active: []string{"idle", "both"}}
	c.Infer(office(), core.Trace{Steps: steps, Memory: []core.MemoryChange{{Controller: "web", Field: "background[1]"}, {Controller: "three", Field: "T.seen"}}})
	if want := []string{"idle", "web", "one"}; !slices.Equal(c.Drawing, want) {
		t.Errorf("these draw: %v", c.Drawing)
	}
	if want := []string{"idle", "both", "five", "three", "six", "web"}; !slices.Equal(c.Active, want) {
		t.Errorf("these work in the background: %v", c.Active)
	}
	if want := []string{"both", "three", "web"}; !slices.Equal(c.Whole, want) {
		t.Errorf("the memory of these is one: %v", c.Whole)
	}
}

// TestKnownCaches has kinds be known to be cached by a controller that are declared, or found out of it or of its
// process, but for those that it watches.
func TestKnownCaches(t *testing.T) {
	c := Conditions{Caches: []CachedKind{{"one", "Job"}, {"both", "Pod"}, {"two", "Node"}, {"one", "Job"}, {"one", "Watched"}}}
	for _, test := range []struct {
		d    core.Description
		want []core.Kind
	}{
		{core.Description{Name: "one", Process: "both", Watches: []core.Kind{"Watched"}, Caches: []core.Kind{"Secret", "Alpha"}}, []core.Kind{"Alpha", "Job", "Pod", "Secret"}},
		{core.Description{Name: "two", Process: "both"}, []core.Kind{"Node", "Pod"}}, {core.Description{Name: "three"}, nil}, {core.Description{Name: "both"}, []core.Kind{"Pod"}},
	} {
		if got := c.caches(test.d); !slices.Equal(got, test.want) {
			t.Errorf("%s caches %v, want %v", test.d.Name, got, test.want)
		}
	}
}

// TestRules has the last of several rules count that concern a view, of the process.
func TestRules(t *testing.T) {
	lag, more := rule(t, "lag(1)"), rule(t, "lag(3)")
	c := Conditions{Staleness: []Staleness{{Rule: lag}, {Controller: "two", Kind: "Pod", Rule: more}, {Kind: "Secret", Rule: view.Fresh()}}}.shared(office())
	for of, want := range map[CachedKind]view.Rule{
		{"web", "Pod"}: lag, {"both", "Pod"}: more, {"both", "Ingress.a"}: lag, {"web", "Secret"}: view.Fresh(),
	} {
		if got := c.rule(of.Controller, of.Kind); got != want {
			t.Errorf("the rule of %v is %s, want %s", of, got, want)
		}
	}
}

// TestConcerned has a controller be named by its own name or by that of its process, and the views that are behind at
// the start be there, without a change of what was given.
func TestConcerned(t *testing.T) {
	one := core.Description{Name: "one", Process: "both"}
	for name, want := range map[string]bool{"one": true, "both": true, "two": false} {
		if named([]string{"x", name}, one) != want {
			t.Errorf("%s is named by %q: %t", one.Name, name, !want)
		}
	}
	system := office()
	system.Initial = []core.Initial{{Underway: &core.Underway{Processes: []core.AtWork{{Process: "both", Behind: []core.Missing{{Key: core.Key{Kind: "Lease", Name: "a"}}}}}}}}
	given := Conditions{Staleness: []Staleness{{Controller: "one", Rule: view.Lag(1)}}, Caches: []CachedKind{{"web", "Node"}}}
	c := given.shared(system)
	if given.Staleness[0].Controller != "one" || len(given.Caches) != 1 || c.Staleness[0].Controller != "both" {
		t.Errorf("what was given is %+v, and it comes to %+v", given, c)
	}
	if got := c.caches(one); !slices.Equal(got, []core.Kind{"Lease"}) {
		t.Errorf("it caches %v", got)
	}
}

// TestHolds has somebody hold versions of objects from one step to the next where views lag behind, calls are steps of
// their own, or memory is kept.
func TestHolds(t *testing.T) {
	for _, test := range []struct {
		c    Conditions
		want bool
	}{
		{Conditions{}, false}, {Conditions{Crashes: 1}, false}, {Conditions{Granularity: PerCall}, true}, {Conditions{Remembering: []string{"c"}}, true}, {Conditions{Staleness: []Staleness{{Rule: view.Lag(1)}}}, true},
	} {
		if w := begin(t, lab([]core.Strategy{watches(), sequential(controller("d", countingUp(true)))}), test.c); w.Machine.Holds != test.want {
			t.Errorf("with %+v somebody holds versions: %t", test.c, w.Machine.Holds)
		}
	}
}

// TestBehind has each view be named that is further behind at the start than its rule allows, in their order.
func TestBehind(t *testing.T) {
	system := office()
	behind := func(process string, kind core.Kind, changes int) core.AtWork {
		at := core.AtWork{Process: process}
		for i := range changes {
			at.Behind = append(at.Behind, core.Missing{Key: core.Key{Kind: kind, Name: "a"}, To: content(rune('0' + i))})
		}
		return at
	}
	system.Initial = []core.Initial{{Underway: &core.Underway{Processes: []core.AtWork{behind("web", "Pod", 2), behind("both", "Pod", 3), behind("web", "Job.batch", 2)}}}}
	lag := func(n int) Conditions { return Conditions{Staleness: []Staleness{{Rule: view.Lag(n)}}} }
	for n, want := range map[int][]string{3: nil, 2: {"Pod in both is 3 changes"}, 1: {"Job.batch in web is 2 changes", "Pod in both is 3 changes", "Pod in web is 2 changes"}} {
		err := lag(n).Validate(system)
		if (err == nil) != (want == nil) {
			t.Errorf("lag(%d): %v", n, err)
			continue
		}
		if err == nil {
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		for i, line := range lines {
			if len(lines) != len(want) || !strings.HasPrefix(line, "the cache of "+want[i]+" behind at the start, and lag("+strconv.Itoa(n)+") does not allow that") {
				t.Errorf("lag(%d), line %d: %s", n, i, line)
			}
		}
	}
}

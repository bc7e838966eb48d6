package transition

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// pristine knows what its instances remember when they are fresh.
type pristine struct {
	*trade
	alone map[bool]map[string]string
}

func (p pristine) Pristine(alone bool) map[string]string { return p.alone[alone] }

// TestPristine has it be said at once what instances remember more than they did when they were made, where they show
// it and do not work by themselves.
func TestPristine(t *testing.T) {
	for _, test := range []struct {
		name     string
		pristine map[string]string
		change   func(s *trade)
		want     bool
	}{
		{"as they were", map[string]string{"R.n": "0"}, nil, false},
		{"more", map[string]string{"R.n": "7"}, nil, true},
		{"more, but they show nothing", map[string]string{"R.n": "7"}, func(s *trade) { s.hire = countingUp(false) }, false},
		{"more, but they are active", map[string]string{"R.n": "7"}, func(s *trade) { s.Active, s.Sequential = true, false }, false},
	} {
		s := sequential(controller("c", countingUp(true)))
		if test.change != nil {
			test.change(s)
		}
		l, err := NewLearner(t.Context(), alone(pristine{s, map[bool]map[string]string{false: test.pristine}}), Conditions{}, behavior.Limits{Deadline: 10 * time.Second, Calls: 9}, 0)
		if err != nil || (len(l.Machine.Doubts) == 1 && strings.HasPrefix(l.Machine.Doubts[0], "c keeps R.n outside of its instances")) != test.want || (len(l.Machine.Doubts) > 0) != test.want {
			t.Errorf("%s: it is said %q, %v", test.name, l.Machine.Doubts, err)
		}
	}
}

// single is an instance that is none of a process, or has only one of its members.
type single struct {
	hand
	of string
}

func (s single) Of(name string) core.Instance {
	if name == s.of {
		return s.hand
	}
	return nil
}

// TestSetUpFails has it be said what is wrong with controllers that cannot be set up, or do not have the others of
// their process.
func TestSetUpFails(t *testing.T) {
	for _, test := range []struct {
		name string
		hire func() core.Instance
		want string
	}{
		{"no process", func() core.Instance { return hand{} }, `controller "a" says that it shares the process "both" with "a", but its instances do not have that one`},
		{"half of one", func() core.Instance { return single{hand{}, "a"} }, `controller "a" says that it shares the process "both" with "b", but its instances do not have that one`},
		{"no instance", func() core.Instance { return nil }, `setting up controller "a": Strategy.New returned neither an instance nor an error`},
	} {
		a, b := sequential(controller("a", test.hire)), sequential(controller("b", test.hire))
		a.Process, b.Process = "both", "both"
		system := lab([]core.Strategy{a, b})
		if l, err := NewLearner(t.Context(), system, Conditions{}, behavior.Limits{Deadline: time.Second}, 0); l != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := NewLearner(t.Context(), twoNotes(), Conditions{Crashes: -1}, behavior.Limits{Deadline: time.Second}, 0); err == nil {
		t.Error("conditions that are none are taken")
	}
	// If the context has ended, no code is run, and the machine is there.
	ended, end := context.WithCancel(t.Context())
	end()
	l, err := NewLearner(ended, process(true, tallies([2]int{0, 1}, [2]int{0, 1}, [2][]int{{0}, {1}})), Conditions{}, behavior.Limits{Deadline: time.Second}, 0)
	if err != nil || len(l.Machine.Actors) != 2 || l.Machine.Actors[0].domain == l.Machine.Actors[1].domain {
		t.Errorf("once the context has ended: %+v, %v", l, err)
	}
}

// TestManners has those who share memory be sequential if all of them are, and active if one of them is.
func TestManners(t *testing.T) {
	of := func(sequential, active bool) core.Strategy {
		return described{Name: "x", Sequential: sequential, Active: active}
	}
	for _, test := range []struct {
		of                 []core.Strategy
		sequential, active bool
	}{
		{[]core.Strategy{of(true, false), of(true, false)}, true, false}, {[]core.Strategy{of(false, false), of(true, true)}, false, true}, {[]core.Strategy{of(true, true), of(false, false)}, false, true},
	} {
		if got := (Conditions{}).manner(&sharing{name: "x", strategies: test.of}); got.Sequential != test.sequential || got.Active != test.active || got.Ticks {
			t.Errorf("%+v are put to work as %+v", test.of, got)
		}
		p := &Process{}
		for _, s := range test.of {
			d := s.Describe()
			p.domains = append(p.domains, &domain{manner: behavior.Manner{Sequential: d.Sequential, Active: d.Active, Ticks: d.Active}})
		}
		if got := p.manner(); got.Sequential != test.sequential || got.Active != test.active || got.Ticks != test.active {
			t.Errorf("a process of %+v is put to work as %+v", test.of, got)
		}
	}
	if got := (Conditions{Active: []string{"x"}, ticking: []string{"x"}}).manner(&sharing{name: "x", beside: []string{"y"}}); !got.Active || !got.Ticks || got.Of != "x" || !slices.Equal(got.Beside, []string{"y"}) {
		t.Errorf("what is known to tick is put to work as %+v", got)
	}
}

// tagged is a content that shows the name of its version.
type tagged struct {
	content
	tag string
}

func (t tagged) Tag() string { return t.tag }

func (t tagged) Retagged(names *core.Retagging) core.Content {
	return tagged{t.content, names.Tag(t.tag)}
}

// TestNamedVersions has the versions be held that a memory names, of those that were shown on the way to it, each once.
func TestNamedVersions(t *testing.T) {
	m, _ := desk("web")
	l := learning(t, m)
	of := func(name, tag string) core.Object {
		return core.Object{Key: core.Key{Kind: "Pod", Name: name}, Content: tagged{content(name + tag), tag}}
	}
	versionOf := func(o core.Object) version {
		c := m.Vocabulary.Object(o.Key)
		return version{c, m.Vocabulary.Intern(c, o.Content)}
	}
	event := func(o, n core.Object) behavior.Run {
		return behavior.Run{Activation: behavior.Activation{Event: &core.Event{Key: n.Key, Old: o.Content, New: n.Content}}}
	}
	shown := func(objects ...core.Object) behavior.Run {
		return behavior.Run{Path: behavior.Path{{Response: shows{"x", objects}}, {Response: reply("y")}}}
	}
	one, two, three := of("a", "rv-1"), of("a", "rv-2"), of("b", "rv-3")
	plain := core.Object{Key: core.Key{Kind: "Pod", Name: "plain"}, Content: content("rv-1")}
	nameless := of("c", "")
	for _, test := range []struct {
		identity string
		history  []behavior.Run
		want     []version
	}{
		{"", []behavior.Run{shown(one)}, nil},
		{"seen rv-1", []behavior.Run{shown(one, two, plain, nameless)}, []version{versionOf(one)}},
		{"seen rv-1 and rv-2", []behavior.Run{event(one, two), shown(two, one)}, []version{versionOf(one), versionOf(two)}},
		{"seen rv-1 and rv-2", []behavior.Run{event(one, two)}, []version{versionOf(one), versionOf(two)}},
		{"seen rv-3", []behavior.Run{event(core.Object{}, one), event(one, two), shown(three), shown(three)}, []version{versionOf(three)}},
	} {
		if got := l.named(test.identity, test.history); !slices.Equal(got, test.want) {
			t.Errorf("%q names %v, want %v", test.identity, got, test.want)
		}
	}
}

// TestRetraced has no run be gone through again that got stuck, or of a controller that depends on chance, and what
// goes wrong with others be told.
func TestRetraced(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	d := web.domain
	history := []behavior.Run{{Leaf: &behavior.Leaf{}}}
	d.memories = append(d.memories, &behavior.Memory{Identity: "m", Histories: [][]behavior.Run{history, history}})
	stuck := begun{web, behavior.Run{Leaf: &behavior.Leaf{Failure: behavior.Deadlock}}}
	d.begun[state.Value(1)] = []begun{stuck}
	if err := l.retrace(web.domain, 1); err != nil {
		t.Errorf("a run that got stuck is gone through again: %v", err)
	}
	d.begun[state.Value(1)] = []begun{stuck, {web, behavior.Run{Leaf: &behavior.Leaf{}}}}
	if err := l.retrace(web.domain, 1); err == nil || errors.Is(err, ErrStopped) {
		t.Errorf("a run is not gone through again: %v", err)
	}
	l.Incidents = []core.Incident{{Kind: core.Nondeterministic, Strategy: "web"}}
	if err := l.retrace(web.domain, 1); err != nil {
		t.Errorf("a run of a controller that depends on chance is gone through again: %v", err)
	}
}

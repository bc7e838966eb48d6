package transition

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
)

// query is a call with an aim, and with contents.
type query struct{ aim, contents string }

func (a query) Identity() string  { return a.aim + "\n" + a.contents }
func (a query) String() string    { return a.aim }
func (query) Source() core.Source { return core.Live }
func (a query) Aim() string       { return a.aim }
func (a query) Contents() string  { return a.contents }

// pathOf is the path of a run with some calls.
func pathOf(calls ...core.Call) behavior.Path {
	var path behavior.Path
	for _, call := range calls {
		path = append(path, &behavior.Edge{From: &behavior.Node{Call: call}, To: &behavior.Node{}})
	}
	return path
}

const (
	noon  = "2000-01-01T12:00:00Z"
	night = "2000-01-01T23:00:00Z"
)

// TestShows has calls that do more than to name other times be told from those that do not.
func TestShows(t *testing.T) {
	a, b := query{"put a", "at " + noon}, query{"put b", "x"}
	run := behavior.Run{Path: pathOf(a, b)}
	parting := &behavior.Divergence{Recorded: "before"}
	for _, test := range []struct {
		name    string
		calls   []core.Call
		parting *behavior.Divergence
		want    string // where it parts
		written bool
	}{
		{"the same", []core.Call{a, b}, nil, "", false},
		{"the same, and parts", []core.Call{a, b}, parting, "before", false},
		{"parts at once", nil, parting, "before", false},
		{"another time", []core.Call{query{"put a", "at " + night}, b}, nil, "", true},
		{"another time, and parts", []core.Call{query{"put a", "at " + night}}, parting, "before", true},
		{"other contents", []core.Call{a, query{"put b", "y"}}, nil, "put b with \"x\" after 1", true},
		{"other contents than a time", []core.Call{query{"put a", "from " + noon}, b}, parting, "put a with \"at 2000-01-01T12:00:00Z\" after 0", true},
	} {
		got, written := followed{calls: test.calls, parting: test.parting}.shows(run)
		where := ""
		if got != nil {
			where = got.Recorded
			if got != parting {
				where += fmt.Sprintf(" after %d", got.After)
				if got.Call != test.calls[got.After] || got.Observed == got.Recorded {
					t.Errorf("%s: %+v", test.name, got)
				}
			}
		}
		if where != test.want || written != test.written {
			t.Errorf("%s: it parts at %q, and other times are written: %t", test.name, where, written)
		}
	}
}

// TestAlike has two ways to part from a run be alike if they differ in nothing but times.
func TestAlike(t *testing.T) {
	asks := func(after int, aim, contents string) *behavior.Divergence {
		return &behavior.Divergence{After: after, Observed: "asks", Call: query{aim, contents}}
	}
	ends := func(after int, how string) *behavior.Divergence {
		return &behavior.Divergence{After: after, Observed: how}
	}
	all := []*behavior.Divergence{
		asks(0, "put a", noon), asks(1, "put a", noon), asks(0, "put b", noon), asks(0, "put a", "x"), ends(0, "asks"), ends(0, "returns"), ends(1, "returns"),
	}
	for i, one := range all {
		for j, other := range all {
			if got := one.Alike(other); got != (i == j) {
				t.Errorf("%+v and %+v are alike: %t", one, other, got)
			}
		}
	}
	waits := func(how string, after time.Duration) *behavior.Divergence {
		return &behavior.Divergence{Observed: how, Ended: &behavior.Leaf{Result: core.Result{RequeueAfter: after}}}
	}
	if !waits("an hour", time.Hour).Alike(waits("a day", 24*time.Hour)) || waits("an hour", time.Hour).Alike(waits("returns", 0)) || waits("returns", 0).Alike(waits("an hour", time.Hour)) || ends(0, "returns").Alike(waits("an hour", time.Hour)) {
		t.Error("how long something waits matters, or that it does does not")
	}
	keeps := func(what string) *behavior.Divergence {
		return &behavior.Divergence{Observed: "keeps one", Left: map[string]string{"R.n": what}}
	}
	if !keeps("1").Alike(keeps("1")) || !keeps(noon).Alike(keeps(night)) || keeps("1").Alike(keeps("2")) || waits("an hour", time.Hour).Alike(keeps("1")) {
		t.Error("what is kept does not matter, or the times in it do")
	}
	if !all[0].Alike(asks(0, "put a", night)) || !ends(0, "returns").Alike(ends(0, "returns")) {
		t.Error("what differs in times alone is not alike")
	}
}

// TestDrifts has memories be told apart from those that an hour has left alone, or moved.
func TestDrifts(t *testing.T) {
	at := func(hour int) string { return fmt.Sprintf("2000-01-01 %02d:00:00 +0000 UTC", hour) }
	of := func(values ...string) map[string]string {
		contents := map[string]string{}
		for i := 0; i < len(values); i += 2 {
			contents[values[i]] = values[i+1]
		}
		return contents
	}
	for _, test := range []struct {
		name        string
		here, there map[string]string
		way         string
		minor       bool
	}{
		{"nothing", of(), of(), "", false},
		{"the same", of("a", "1", "t", at(0)), of("a", "1", "t", at(0)), "", false},
		{"moved", of("a", "1", "t", at(0), "u", at(5)), of("a", "1", "t", at(1), "u", at(6)), "", false},
		{"one moved, and the other not", of("t", at(0), "u", at(0)), of("t", at(1), "u", at(0)), "t", true},
		{"both changed, and one has moved as the clock has", of("t", at(0), "u", at(0)), of("t", at(1), "u", at(3)), "t", true},
		{"both changed, and the last has moved as the clock has", of("t", at(0), "u", at(0)), of("t", at(3), "u", at(1)), "t", true},
		{"moved by something else", of("t", at(0)), of("t", at(3)), "t", true},
		{"a number", of("a", "1", "t", at(0)), of("a", "2", "t", at(1)), "a", false},
		{"one that is gone", of("a", "1"), of(), "a", false},
		{"one that has come", of(), of("a", ""), "a", false},
		{"a number behind a time", of("b", at(0), "c", "1"), of("b", at(1), "c", "2"), "c", false},
	} {
		if way, minor := drifts(test.here, test.there, 0, time.Hour); way != test.way || minor != test.minor {
			t.Errorf("%s: it drifts at %q, and by times only: %t", test.name, way, minor)
		}
	}
}

// dating is a store that knows how late it is.
type dating struct {
	core.Store
	after time.Duration
}

func (d dating) After(by time.Duration) core.Store { return dating{d.Store, d.after + by} }

func TestStoresOf(t *testing.T) {
	times := calendar.New(behavior.Epoch, []time.Duration{time.Hour}, 2)
	stores := storesOf(dating{}, times, 0)
	for i := range times.Len() {
		want := times.At(i).Passed
		if got := stores[want].(dating).after; got != want {
			t.Errorf("the store is %s late, want %s", got, want)
		}
	}
	if plain := storesOf(nil, times, 0); len(stores) != 9 || len(plain) != 9 || plain[time.Hour] != nil || len(storesOf(nil, calendar.New(behavior.Epoch, nil, 0), 0)) != 1 {
		t.Errorf("%d stores, and %d of one that knows no time", len(stores), len(plain))
	}
}

// TestMoments has each moment have a number of its own, whichever way the time has passed.
func TestMoments(t *testing.T) {
	m := &Machine{System: &core.System{}, calendar: calendar.New(behavior.Epoch, []time.Duration{time.Hour}, 3)}
	numbers := map[int]moment{}
	for n := range m.calendar.Len() {
		for _, behind := range []bool{false, true} {
			if behind && n == 0 {
				continue // nothing has passed that it could be behind of
			}
			at := m.moment(n, behind)
			if other, taken := numbers[at.number]; taken && other != at || at.number < 0 || at.number >= m.moments() {
				t.Errorf("%+v of %d, as has %+v", at, m.moments(), other)
			}
			numbers[at.number] = at
			if late := at.now - at.passed; behind != (late > 0) || behind && late != time.Hour && late != behavior.Epoch {
				t.Errorf("%+v is behind: %t", at, behind)
			}
		}
	}
	if want := 4*4 + m.calendar.Len() - 1; len(numbers) != want { // for those behind it counts by which span the time has passed the last time
		t.Errorf("there are %d moments, want %d", len(numbers), want)
	}
	if m.Clock = nowhere; m.moments() != 1 {
		t.Errorf("without a clock there are %d moments", m.moments())
	}
	for deadlines, want := range map[int][2]int{0: {0, 0}, 2: {2, 3}} {
		m := &Machine{System: &core.System{}, Conditions: Conditions{Deadlines: deadlines}}
		alone := m.longTimes()
		m.System.Scenario.Actions = []core.Action{{Name: "a"}, {Name: "b"}}
		if got := [2]int{alone, m.longTimes()}; got != want {
			t.Errorf("with --deadlines %d, a long time passes %v times without users and with some, want %v", deadlines, got, want)
		}
	}
	ticking := &domain{manner: behavior.Manner{Ticks: true}}
	for _, test := range []struct {
		actor Actor
		want  time.Duration
	}{{Actor{domain: &domain{}}, 2}, {Actor{domain: ticking}, 0}, {Actor{domain: &domain{}, Background: true}, 0}} {
		if got := test.actor.passed(moment{now: 2, passed: 2}); got != test.want {
			t.Errorf("runs of %+v begin when %s has passed, want %s", test.actor, got, test.want)
		}
	}
}

// TestShifts has the clocks of instances be moved that can be.
func TestShifts(t *testing.T) {
	passive, active, ticking := &domain{}, &domain{}, &domain{}
	passive.memories, active.memories = []*behavior.Memory{nil}, []*behavior.Memory{nil}
	active.manner = behavior.Manner{Active: true}
	ticking.manner = behavior.Manner{Active: true, Ticks: true}
	active.values = map[string]state.Value{"waits": 1}
	active.rest = []behavior.Rest{{}, {Time: true}}
	ticking.rest = active.rest
	later, start := shift{run: behavior.Epoch}, shift{start: behavior.Epoch}
	for _, test := range []struct {
		d    *domain
		a    behavior.Activation
		want []shift
	}{
		{passive, behavior.Activation{}, []shift{later}},
		{active, behavior.Activation{}, []shift{start, {pass: behavior.Epoch}}},
		{active, behavior.Activation{Since: &behavior.Memory{Identity: "waits"}}, []shift{start, {pass: behavior.Horizon}}},
		{active, behavior.Activation{Own: behavior.Works}, []shift{start}},
		{ticking, behavior.Activation{}, []shift{start, {pass: behavior.Horizon}}},
	} {
		if got := test.d.later(test.a); !slices.Equal(got, test.want) {
			t.Errorf("%+v of %+v: %+v, want %+v", test.a, test.d.manner, got, test.want)
		}
	}
	for d, want := range map[*domain]shift{passive: {start: -behavior.Tick}, active: {start: -behavior.Tick}} {
		if got := d.shift(-behavior.Tick); got != want {
			t.Errorf("a tick earlier: %+v", got)
		}
	}
	if got := passive.shift(time.Hour); got != (shift{run: time.Hour}) {
		t.Errorf("an hour later: %+v", got)
	}
}

// TestForward has one instance go through runs as long as no time has to go back.
func TestForward(t *testing.T) {
	asked := func(passed time.Duration) behavior.Run {
		return behavior.Run{Activation: behavior.Activation{Passed: passed}}
	}
	works := behavior.Run{Activation: behavior.Activation{Own: behavior.Works}}
	for _, test := range []struct {
		ticks bool
		runs  []behavior.Run
		want  int
	}{
		{false, nil, 0},
		{false, []behavior.Run{asked(0), asked(0), asked(1), asked(1), asked(2)}, 5},
		{false, []behavior.Run{asked(0), asked(1), asked(0), asked(1)}, 2},
		{false, []behavior.Run{asked(2), asked(1)}, 1},
		{false, []behavior.Run{asked(1), works, asked(1), asked(0)}, 3},
		{true, []behavior.Run{asked(0), works, asked(0)}, 3},
		{true, []behavior.Run{asked(0), asked(1)}, 1},
		{true, []behavior.Run{asked(1)}, 0},
	} {
		p := &Process{domains: []*domain{{manner: behavior.Manner{Ticks: test.ticks}}}}
		if got := p.forward(test.runs); len(got) != test.want {
			t.Errorf("of %+v with ticks %t it goes through %d, want %d", test.runs, test.ticks, len(got), test.want)
		}
	}
}

// TestDatedMemory has a memory that was come to later be another one, unless the run has left it as it was.
func TestDatedMemory(t *testing.T) {
	in := func(passed time.Duration, since *behavior.Memory) behavior.Run {
		return behavior.Run{Activation: behavior.Activation{Passed: passed, Since: since}}
	}
	first := &behavior.Memory{Identity: "m", Histories: [][]behavior.Run{{in(0, nil)}}}
	third := &behavior.Memory{Identity: dated("n", in(1, nil)), Histories: [][]behavior.Run{{in(1, nil)}}}
	for _, test := range []struct {
		name     string
		identity string
		run      behavior.Run
		want     string
	}{
		{"none", "", in(2, first), ""},
		{"at first", "m", in(0, nil), "m"},
		{"later", "m", in(1, nil), "m" + later + "1ns"},
		{"as it was", "m", in(1, first), "m"},
		{"another one, later", "o", in(1, first), "o" + later + "1ns"},
		{"another one, at the same time", "o", in(0, first), "o"},
		{"as it was, since later", "n", in(2, third), third.Identity},
		{"another one, of an instance that has seen later times", "o", in(1, third), "o" + later + "1ns"},
		{"another one, of one that has seen later times than the run", "o", in(0, &behavior.Memory{Identity: "x", Histories: [][]behavior.Run{{in(0, nil), in(2, nil), in(1, nil)}}}), "o" + later + "2ns"},
		{"of two histories, the first counts", "o", in(0, &behavior.Memory{Identity: "x", Histories: [][]behavior.Run{{in(1, nil)}, {in(2, nil)}}}), "o" + later + "1ns"},
	} {
		if got := dated(test.identity, test.run); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestAwaited has timers be waited for of controllers that wait for a time that was not searched, however much time has
// passed.
func TestAwaited(t *testing.T) {
	m, w := desk("web", "db")
	m.Conditions.Deadlines = 2
	mine, idle, other := m.Item(m.Actors[0], "r"), m.Item(m.Actors[0], "s"), m.Item(m.Actors[1], "r")
	w.fit()
	w.Set(mine.Cell, state.Timed)
	w.Set(idle.Cell, state.Queued)
	w.Set(other.Cell, state.Timed)
	if got := w.Awaited(); got != nil {
		t.Errorf("nobody waits, and these are waited for: %v", got)
	}
	m.Actors[0].Waits.Why = "web waits"
	if got := w.Awaited(); !slices.Equal(got, []core.Item{mine.Item}) {
		t.Errorf("without a clock these are waited for: %v", got)
	}
	other.setBy(m.Actors[0])
	other.setBy(m.Actors[0])
	if got := w.Awaited(); !slices.Equal(got, []core.Item{mine.Item, other.Item}) || len(other.setters) != 1 {
		t.Errorf("with a timer of another one that web has set, these are waited for: %v", got)
	}
	other.setters = nil
	if mine.setBy(m.Actors[0]); mine.setters != nil {
		t.Errorf("its own timers count as those of %v", mine.setters)
	}
	if w.moment(mine) != (moment{}) {
		t.Errorf("without a clock it is %+v", w.moment(mine))
	}
	m.Clock, m.calendar = m.counter("clock", 2), calendar.New(behavior.Epoch, nil, 2)
	w.fit()
	w.Set(mine.Cell, state.Timed|state.Behind)
	for now := range 3 {
		w.Set(m.Clock, state.Value(now))
		if got := w.Awaited(); !slices.Equal(got, []core.Item{mine.Item}) {
			t.Errorf("after %d long times these are waited for: %v", now, got)
		}
		if now > 0 && w.moment(mine) != m.moment(now, true) || w.moment(other) != m.moment(now, false) || w.moment(nil) != m.moment(now, false) {
			t.Errorf("after %d long times it is %+v, %+v and %+v", now, w.moment(mine), w.moment(other), w.moment(nil))
		}
	}
	w.StepCache.Tracing = true
	if w.moment(mine); !state.Touches(w.StepCache.Trace, m.Clock) {
		t.Error("a run does not depend on the time at which it begins")
	}
}

// TestWaiting has controllers of one process that wait for the same be told in one sentence.
func TestWaiting(t *testing.T) {
	shared, own := &domain{}, &domain{}
	actor := func(name string, d *domain, waits, later string) *Actor {
		return &Actor{Description: core.Description{Name: name}, domain: d, Waits: calendar.Wait{Why: waits, Later: later}}
	}
	m := &Machine{Actors: []*Actor{
		actor("a", shared, "a waits", "put x"), actor("b", shared, "b waits", "put x"), actor("c", shared, "c waits", "put y"), actor("d", own, "d waits", "put x"),
		actor("e", shared, "", ""), actor("f", shared, "f waits", ""), actor("g", shared, "g waits", ""), actor("h", shared, "h waits", "put x"),
	}}
	want := []string{"a waits (and so it was with b, h, of the same process)", "c waits", "d waits", "f waits", "g waits"}
	if got := m.Waiting(); !slices.Equal(got, want) {
		t.Errorf("they wait as %q, want %q", got, want)
	}
}

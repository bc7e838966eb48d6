package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/calendar"
	"github.com/orrery-dev/orrery/core/state"
)

// TestPass has timers fire when a long time passes, but for those of requests that may wait for it, one after the
// other. Where memory is kept, all of these are over at once, which is said of those who wait for several.
func TestPass(t *testing.T) {
	const fired, behind = state.Queued, state.Timed | state.Behind
	for _, test := range []struct {
		name              string
		awaits, remembers bool
		other             bool // that one waits which shares its memory
		requests          []core.Request
		want              state.Value
		doubted           bool
	}{
		{"nobody waits", false, false, false, []core.Request{"r", "s"}, fired, false},
		{"it waits", true, false, false, []core.Request{"r", "s"}, behind, false},
		{"it remembers", false, true, false, []core.Request{"r", "s"}, fired, false},
		{"it waits for one, and remembers", true, true, false, []core.Request{"r"}, fired, false},
		{"it waits for two, and remembers", true, true, false, []core.Request{"r", "s"}, fired, true},
		{"one of two who share memory waits", false, true, true, []core.Request{"r"}, fired, false},
		{"who has set the timer waits", false, false, false, []core.Request{"set"}, fired, false},
		{"who has set two timers waits", false, false, false, []core.Request{"set", "set too"}, fired, true},
	} {
		for _, who := range []string{"learns", "is ahead", "reads"} {
			m, w := desk("web", "db")
			m.Conditions.Deadlines = 1
			m.Clock = m.counter("clock", 1)
			web := m.Actors[0]
			web.awaits = test.awaits
			if test.remembers {
				keep(m, web.domain)
			}
			var items []*Item
			for _, request := range test.requests {
				it := m.Item(web, request)
				if items = append(items, it); strings.HasPrefix(string(request), "set") {
					m.Actors[1].awaits = true
					it.setBy(m.Actors[1])
				}
			}
			if test.other {
				late := member(m, web.Process, core.Description{Name: "zoo", Process: "web"}, false)
				late.awaits = true
				items = append(items, m.Item(late, "z"))
			}
			idle := m.Item(m.Actors[1], "idle")
			w.fit()
			for _, it := range items {
				w.Set(it.Cell, state.Timed)
			}
			w.Set(idle.Cell, state.Queued)
			switch who {
			case "learns":
				w.Learn = learning(t, m)
			case "is ahead":
				w.Ahead = true
			}
			err := w.take(&Taken{Kind: core.Pass, Actor: web, span: behavior.Epoch})
			if unknown := test.doubted && who == "is ahead"; unknown != errors.Is(err, ErrUnknown) || unknown != (err != nil) {
				t.Errorf("%s, and who %s comes to %v", test.name, who, err)
				continue
			} else if unknown {
				continue
			}
			if (len(m.Doubts) > 0) != (test.doubted && who == "learns") {
				t.Errorf("%s, and who %s says %q", test.name, who, m.Doubts)
			}
			for _, it := range items {
				if w.Value(it.Cell) != test.want {
					t.Errorf("%s, and %s is marked %d, want %d", test.name, it, w.Value(it.Cell), test.want)
				}
			}
			if w.Value(m.Clock) != 1 || w.Value(idle.Cell) != state.Queued {
				t.Errorf("%s, and the clock is at %d, and who waits for nothing is marked %d", test.name, w.Value(m.Clock), w.Value(idle.Cell))
			}
		}
	}
}

// TestDeadlines has time pass where somebody expects something of that, by each span as often as it may.
func TestDeadlines(t *testing.T) {
	hour := calendar.Spans()[1]
	for _, test := range []struct {
		name         string
		clock        state.Value
		timed, crash bool
		want         []string
		rest         *behavior.Rest // of what goes on in the background
		shorter      []time.Duration
	}{
		{"nobody waits", 0, false, false, nil, nil, nil},
		{"nobody waits, after a long time", 1, false, false, nil, nil, nil},
		{"a timer is set", 1, true, false, []string{"a long time passes"}, nil, nil},
		{"a timer is set, after the last", 2, true, false, nil, nil, nil},
		{"it may crash", 0, false, true, []string{"a long time passes"}, nil, nil},
		{"time brings nothing in the background", 0, false, false, nil, &behavior.Rest{}, nil},
		{"time brings something in the background", 0, false, false, []string{"a long time passes"}, &behavior.Rest{Time: true}, nil},
		{"nobody waits, and there is a shorter time", 0, false, false, nil, nil, []time.Duration{hour}},
		{"a timer is set, and there is a shorter time", 0, true, false, []string{"an hour passes", "a long time passes"}, nil, []time.Duration{hour}},
		{"a timer is set by who waits, and there is a shorter time", 0, true, false, []string{"an hour passes"}, nil, []time.Duration{hour}},
		{"a timer is set by who waits, and the shorter time passes no more", 3, true, false, []string{"a long time passes"}, nil, []time.Duration{hour}},
	} {
		m, _ := desk("web")
		m.Vocabulary = state.NewVocabulary(same)
		m.Conditions.Deadlines = 2
		m.calendar = calendar.New(behavior.Epoch, test.shorter, 2)
		m.Clock = m.counter("clock", m.calendar.Len()-1) // in the first cell, which is none of an item that is always in the queue
		if test.crash {
			m.Conditions.Crashes = 1
			m.Crashes = m.counter("crashes", 1)
		}
		m.addItem(&Item{Item: core.Item{Strategy: "web", Request: "always"}, Actor: m.Actors[0], Standing: true, roots: []*behavior.Node{{}}})
		it := m.Item(m.Actors[0], "r")
		if d := m.Actors[0].domain; test.rest != nil {
			keep(m, d)
			d.manner.Active, d.rest = true, []behavior.Rest{*test.rest}
			m.addBackground(d)
		}
		m.Actors[0].awaits = strings.Contains(test.name, "by who waits")
		w := NewWalker(m, nil)
		w.fit()
		w.Set(m.Clock, test.clock)
		if test.timed {
			w.Set(it.Cell, state.Timed)
		}
		w.Forget()
		var seen looking
		w.visit = visit{visitor: &seen}
		if err := w.deadlines(); err != nil || !slices.Equal(seen.steps, test.want) {
			t.Errorf("%s: %q, %v", test.name, seen.steps, err)
		}
	}
}

// TestAwaits has it be said of a controller that waits for a time that this is not searched, or the search begin again
// where it can be.
func TestAwaits(t *testing.T) {
	const never, last = "the behavior of web depends on the clock, and later times were not searched", "the behavior of web depends on the clock, and after the last of the times that passed"
	for _, test := range []struct {
		name                                 string
		deadlines                            int
		awaits, searching, background, ticks bool
		epoch                                int
		says                                 string
		again                                bool
	}{
		{"no time passes", 0, true, true, false, false, 0, never, false},
		{"it was not known", 1, false, true, false, false, 0, "", true},
		{"it was not known, and the search is over", 1, false, false, false, false, 0, never, false},
		{"it was known, at the last time", 1, true, true, false, false, 1, last, false},
		{"it was known, at the last time, and the search is over", 1, true, false, false, false, 1, last, false},
		{"it is what goes on in the background", 1, false, true, true, false, 0, never, false},
		{"it is what goes on in the background, and was known", 1, true, true, true, false, 1, never, false},
		{"it ticks", 1, false, true, false, true, 0, never, false},
		{"it ticks, and was known", 1, true, true, false, true, 1, never, false},
	} {
		m, _ := desk("web")
		m.Conditions.Deadlines, m.calendar = test.deadlines, calendar.New(behavior.Epoch, nil, test.deadlines)
		l, web := learning(t, m), m.Actors[0]
		l.Searching, web.awaits, web.Background, web.domain.manner.Ticks = test.searching, test.awaits, test.background, test.ticks
		err := l.awaits(web, behavior.Run{Activation: behavior.Activation{Request: "r", Passed: time.Duration(test.epoch) * behavior.Epoch}}, &behavior.Divergence{Recorded: "returns", Observed: "put a"})
		var again *unexpectedDeadline
		if errors.As(err, &again) != test.again || (err != nil) != test.again || test.again && !slices.Equal(again.Controllers, []string{"web"}) {
			t.Errorf("%s, and the search ends with %v", test.name, err)
		}
		if !strings.HasPrefix(web.Waits.Why, test.says) || (web.Waits.Why == "") != (test.says == "") {
			t.Errorf("%s, and it is said %q", test.name, web.Waits.Why)
		}
	}
}

// TestWaitingTogether has the controllers of a process that works in the background wait for times together, and others
// each for itself.
func TestWaitingTogether(t *testing.T) {
	m, _ := desk("web", "job")
	web, job := m.Actors[0], m.Actors[1]
	background := &Actor{Background: true, Strategy: web.Strategy, domain: web.domain}
	web.domain.Members, job.domain = []*Actor{web, job, background}, web.domain
	if got := job.waitTogether(); !slices.Equal(got, []string{"job"}) {
		t.Errorf("%q wait together", got)
	}
	web.domain.manner.Active = true
	if got := job.waitTogether(); !slices.Equal(got, []string{"job", "web"}) {
		t.Errorf("in the background of a process, %q wait together", got)
	}
}

// TestSince has nothing be looked for before a run of a controller that is not known to wait for a time, that is known
// to wait for what is not searched, before which no time has passed, or that is active.
func TestSince(t *testing.T) {
	for _, test := range []struct {
		name           string
		awaits, active bool
		waits          string
		epoch          int
		looks          bool
	}{
		{"it waits", true, false, "", 1, true},
		{"it waits for nothing", false, false, "", 1, false},
		{"it waits for what is not searched", true, false, "for long", 1, false},
		{"no time has passed", true, false, "", 0, false},
		{"it is active", true, true, "", 1, false},
	} {
		m, _ := desk("web")
		l, web := learning(t, m), m.Actors[0]
		m.calendar = calendar.New(behavior.Epoch, nil, 1)
		web.awaits, web.Waits.Why, web.domain.manner.Active = test.awaits, test.waits, test.active
		if err := l.since(web, behavior.Run{Activation: behavior.Activation{Passed: time.Duration(test.epoch) * behavior.Epoch}}); (err != nil) != test.looks { // as it cannot be set up
			t.Errorf("%s, and it comes to %v", test.name, err)
		}
	}
}

// TestEarlierKnown has what code would do a tick earlier be known once it was found out, and be nothing where contents
// are none.
func TestEarlierKnown(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	call, earlier := query{"put a", noon}, query{"put a", night}
	for _, test := range []struct {
		name       string
		node       behavior.Node
		sequential bool
		want       core.Call
		looks      bool
	}{
		{"it is known", behavior.Node{Call: call, Timed: true, Earlier: earlier}, false, earlier, false},
		{"it is known to be the same", behavior.Node{Call: call, Timed: true}, false, nil, false},
		{"it looks at no clock", behavior.Node{Call: call}, true, nil, false},
		{"it is not known", behavior.Node{Call: call}, false, nil, true},
	} {
		web.Sequential = test.sequential
		if got, err := l.earlier(web, behavior.Activation{}, nil, &test.node); got != test.want || (err != nil) != test.looks { // as it cannot be set up
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
	}
}

// TestTakenAlong has the history of a memory that was left when the clock had moved have the clocks that its runs have
// seen.
func TestTakenAlong(t *testing.T) {
	in := func(passed time.Duration) behavior.Run {
		return behavior.Run{Activation: behavior.Activation{Passed: passed}}
	}
	since := &behavior.Memory{Identity: "m", Histories: [][]behavior.Run{{in(0), in(1), in(2)}, {in(7)}}}
	for _, test := range []struct {
		name  string
		since *behavior.Memory
		at    shift
		want  []time.Duration
	}{
		{"a fresh instance", nil, shift{run: 5}, []time.Duration{5}},
		{"the run alone", since, shift{run: 5}, []time.Duration{0, 0, 0, 5}},
		{"from the start on", since, shift{start: 3}, []time.Duration{0, 0, 0, 3}},
		{"the runs at that time, too", since, shift{run: -5, with: 1}, []time.Duration{0, -5, 0, -5}},
		{"at another time", since, shift{run: -5, with: 2}, []time.Duration{0, 0, -5, -5}},
	} {
		m, _ := desk("web")
		l, web := learning(t, m), m.Actors[0]
		parting := &behavior.Divergence{}
		run := behavior.Run{Activation: behavior.Activation{Since: test.since}, Leaf: &behavior.Leaf{Memory: 4}}
		if err := l.takeAlong(web, run, &left{contents: map[string]string{"R.n": "1"}, at: test.at, parting: parting, minor: true, renewed: true}); err != nil {
			t.Fatal(err)
		}
		all := web.domain.drifted[4]
		if len(all) != 1 {
			t.Fatalf("%s: %d memories are taken along", test.name, len(all))
		}
		var clocks []time.Duration
		for _, r := range all[0].history {
			clocks = append(clocks, r.Activation.Clock)
		}
		v := all[0]
		if !slices.Equal(clocks, test.want) || v.ahead != test.at.start+test.at.run || !v.minor || !v.renewed || v.by != web || v.parting != parting {
			t.Errorf("%s: the clocks are %v, want %v: %+v", test.name, clocks, test.want, v)
		}
		if got := fmt.Sprint(since.Histories[0][1].Activation.Clock); got != "0s" {
			t.Errorf("%s: what has led to the memory is changed to %s", test.name, got)
		}
	}
}

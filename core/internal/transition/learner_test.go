package transition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// learning returns a learner of a machine that runs no code.
func learning(t *testing.T, m *Machine) *Learner {
	return &Learner{Context: t.Context(), Machine: m, Logger: hclog.NewNullLogger(), Seen: map[Wrong]bool{}, relived: relived{}, Memo: memo.New(), limits: behavior.Limits{Deadline: time.Second}}
}

// TestAuditedTimes has new paths be run again as often as it takes to see what is rare, for the first ones and for the
// first of each site, and less often later.
func TestAuditedTimes(t *testing.T) {
	run := func(calls ...string) behavior.Run {
		var all []core.Call
		for _, c := range calls {
			all = append(all, query{c, ""})
		}
		return behavior.Run{Path: pathOf(all...)}
	}
	web, db := &Actor{Description: core.Description{Name: "web"}}, &Actor{Description: core.Description{Name: "db"}}
	s := audits{}
	for i := range few {
		if got := s.times(web, run("get Pod a")); got != rare {
			t.Fatalf("path %d is audited %d times", i+1, got)
		}
	}
	for _, test := range []struct {
		name  string
		a     *Actor
		calls []string
		want  int
	}{
		{"a site that is known", web, []string{"get Pod b"}, fair},
		{"another controller", db, []string{"get Pod b"}, rare},
		{"it once more", db, []string{"get Pod c"}, fair},
		{"another kind", web, []string{"get Job b"}, rare},
		{"another call", web, []string{"put Pod b"}, rare},
		{"one call more", web, []string{"get Pod b", "put Pod b"}, rare},
		{"the same two", web, []string{"get Pod c", "put Pod d e"}, fair},
		{"no call", web, nil, rare},
		{"one word", web, []string{"wait"}, rare},
	} {
		if got := s.times(test.a, run(test.calls...)); got != test.want {
			t.Errorf("%s: audited %d times, want %d", test.name, got, test.want)
		}
	}
	for s.paths < thorough {
		if got := s.times(web, run("get Pod b")); got != fair {
			t.Fatalf("path %d is audited %d times", s.paths, got)
		}
	}
	counts := map[int]int{}
	for range 3200 {
		counts[s.times(web, run("get Pod b"))]++
	}
	if counts[fair] < 100 || counts[fair] > 400 || counts[1] != 3200-counts[fair] {
		t.Errorf("of very many paths of one site, so many are audited so often: %v", counts)
	}
	for i := range sited {
		if got := s.times(web, run("get Cron b")); got != fair {
			t.Errorf("path %d of a new site is audited %d times", i+1, got)
		}
	}
	for paths, want := range map[int]int{few - 1: rare, thorough - 1: rare, thorough: fair} {
		if got := (&audits{paths: paths}).times(web, run("get Cron b")); got != want {
			t.Errorf("the first path of a site behind %d others is audited %d times, want %d", paths, got, want)
		}
	}
	// The same search finds the same again, and another seed is another choice.
	choices := func(seed uint64) []int {
		s := audits{seed: seed}
		var all []int
		for range thorough + 300 {
			all = append(all, s.times(web, run("get Pod b")))
		}
		return all
	}
	if !slices.Equal(choices(1), choices(1)) || slices.Equal(choices(1), choices(2)) {
		t.Error("which paths are audited does not follow from the seed")
	}
}

// TestRelived has a history be relived once, and no beginning of it again.
func TestRelived(t *testing.T) {
	a, b, c := &behavior.Leaf{}, &behavior.Leaf{Message: "b"}, &behavior.Leaf{Message: "c"}
	history := func(leaves ...*behavior.Leaf) (runs []behavior.Run) {
		for _, leaf := range leaves {
			runs = append(runs, behavior.Run{Leaf: leaf})
		}
		return runs
	}
	r := relived{}
	for _, test := range []struct {
		runs []behavior.Run
		want bool
	}{
		{history(), false}, {history(a, b), true}, {history(a, b), false}, {history(a), false}, {history(a, b, c), true}, {history(b), true}, {history(a, c), true}, {history(b, a), true}, {history(a, b, c), false},
	} {
		if got := r.add(test.runs); got != test.want {
			t.Errorf("there is something new in %+v: %t", test.runs, got)
		}
	}
}

// TestDiffersBy has each cause be told in its own words, with what is kept.
func TestDiffersBy(t *testing.T) {
	for _, test := range []struct {
		cause core.Cause
		kept  []string
		want  string
	}{
		{core.Memory, nil, "it keeps memory between runs"}, {core.Memory, []string{"R.a", "R.b"}, "it keeps memory between runs in R.a, R.b"},
		{core.Clock, []string{"R.a"}, "it reads a clock"}, {core.Chance, []string{"R.a"}, "it depends on random numbers, map order, or global state"},
	} {
		if got := differsBy(test.cause, test.kept); !strings.HasSuffix(got, test.want) {
			t.Errorf("%s with %v: %q", test.cause, test.kept, got)
		}
	}
}

// TestReports has what goes wrong be put down to the step and the state that it was met in, once for each controller
// and what it does.
func TestReports(t *testing.T) {
	m, _ := desk("web", "db")
	l := learning(t, m)
	web, db := m.Actors[0], m.Actors[1]
	it := m.Item(web, "r")
	request := behavior.Activation{Request: "r"}
	event := behavior.Activation{Event: &core.Event{Key: core.Key{Kind: "Pod", Name: "a"}}}
	l.report(core.Incident{Kind: core.Stuck, Message: "it waits"}, web, request)
	l.Where = Provenance{State: 7, step: &Taken{Kind: core.Reconcile, Actor: web, Item: it}}
	l.report(core.Incident{Kind: core.Stuck, Message: "it waits"}, web, request)
	l.report(core.Incident{Kind: core.Stuck, Message: "it waits"}, db, event)
	l.report(core.Incident{Kind: core.Runaway, Message: "it waits"}, web, request)
	l.report(core.Incident{Kind: core.Stuck, Message: "it waits for another"}, web, request)
	if len(l.Incidents) != 4 {
		t.Fatalf("the incidents are %+v", l.Incidents)
	}
	if first := l.Incidents[0]; !first.AtStart || first.State != 0 || first.Strategy != "web" || first.Handling != nil || first.Step != (core.Step{}) {
		t.Errorf("what goes wrong at the start is %+v", first)
	}
	if second := l.Incidents[1]; second.AtStart || second.State != 7 || second.Strategy != "db" || *second.Handling != event.Event.Key || second.Step != l.Where.step.Step() {
		t.Errorf("what goes wrong at an event is %+v", second)
	}
	if l.Fickle(web) || l.Fickle(db) {
		t.Error("what gets stuck is taken for nondeterministic")
	}
	path := pathOf(query{"get a", ""}, query{"get b", ""})
	for range 2 {
		l.diverged(web, request, path, &behavior.Divergence{Recorded: "one", Observed: "other", After: 1}, core.Memory, []string{"R.a"})
	}
	last := l.Incidents[len(l.Incidents)-1]
	if want := append(path[:1].Calls(), "then one run: one", "and the other: other"); len(l.Incidents) != 5 || !slices.Equal(last.Details, want) || last.Cause != core.Memory || last.Message != differsBy(core.Memory, []string{"R.a"}) {
		t.Errorf("it is told that %+v", last)
	}
	if !l.Fickle(web) || l.Fickle(db) || web.divergences != 2 {
		t.Errorf("it was found not to be deterministic %d times", web.divergences)
	}
	l.diverged(db, request, path, &behavior.Divergence{After: 9}, core.Chance, nil)
	if last := l.Incidents[len(l.Incidents)-1]; len(last.Details) != 4 || last.Slept {
		t.Errorf("what differs behind the end is told as %+v", last)
	}
	for cause, slept := range map[core.Cause]bool{core.Chance: true, core.Memory: false} {
		l.Seen = map[Wrong]bool{}
		l.diverged(db, request, path, &behavior.Divergence{Slept: true}, cause, nil)
		if last := l.Incidents[len(l.Incidents)-1]; last.Slept != slept {
			t.Errorf("it has slept, and what differs is told as %+v", last)
		}
	}
	l.Executed, l.Fresh = 0, false
	if l.count(event); l.Executed != 0 || !l.Fresh {
		t.Errorf("a run of event handlers counts as %d", l.Executed)
	}
	if l.count(request); l.Executed != 1 {
		t.Errorf("a reconcile counts as %d", l.Executed)
	}
}

// TestFailed has each way in which a run fails be told as what it is: as an incident, or as what is not modelled.
func TestFailed(t *testing.T) {
	m, _ := desk("web")
	web := m.Actors[0]
	var calls []core.Call
	for i := range 20 {
		calls = append(calls, query{fmt.Sprintf("get %d", i), ""})
	}
	for _, test := range []struct {
		name    string
		leaf    behavior.Leaf
		kind    core.IncidentKind
		message string
		details int
		doubt   string
	}{
		{"it returns", behavior.Leaf{}, "", "", 0, ""},
		{"it changes what others see", behavior.Leaf{Mutated: "Pod a"}, core.Mutated, "changed an object in its cache: Pod a", 20, ""},
		{"it panics", behavior.Leaf{Failure: behavior.Panicked, Message: "nil"}, core.Panicked, "panics: nil", 20, ""},
		{"it panics, and names a package", behavior.Leaf{Failure: behavior.Panicked, Message: "synctest"}, core.Panicked, "panics: synctest", 20, ""},
		{"it waits for ever", behavior.Leaf{Failure: behavior.Deadlock, Message: "so long"}, core.Stuck, "so long", 20, ""},
		{"it takes too long", behavior.Leaf{Failure: behavior.Overdue, Message: "so long"}, core.Stuck, "so long", 20, ""},
		{"it goes on and on", behavior.Leaf{Failure: behavior.Runaway, Message: "so long"}, core.Runaway, "so long", 12, ""},
		{"it polls", behavior.Leaf{Failure: behavior.Polling, Message: "so long"}, "", "", 0, "web, reconciling r, so long, and sleeps in between: it waits for what others do"},
		{"it ends the process", behavior.Leaf{Failure: behavior.Fatal, Message: "killed\nstack\nmore"}, core.Stuck, "killed", 22, ""},
		{"it shares a channel", behavior.Leaf{Failure: behavior.Fatal, Message: "fatal error: synctest\nstack"}, "", "", 0, "web, reconciling r, fatal error: synctest. It shares a channel, a timer or a goroutine with what was made outside of the run"},
		{"it waits for a lock", behavior.Leaf{Failure: behavior.Withheld, Message: "waits"}, "", "", 0, "web, reconciling r, waits, of whom one may hold it until a call is answered or a time comes"},
		{"it waits for the network", behavior.Leaf{Failure: behavior.Connected, Message: "dials"}, "", "", 0, "web, reconciling r, dials and waits for the network, which is no part of the system"},
	} {
		l := learning(t, m)
		m.Doubts = nil
		l.failed(web, behavior.Activation{Request: "r"}, pathOf(calls...), &test.leaf)
		if (len(l.Incidents) == 1) != (test.kind != "") || len(l.Incidents) == 1 && (l.Incidents[0].Kind != test.kind || l.Incidents[0].Message != test.message || len(l.Incidents[0].Details) != test.details) {
			t.Errorf("%s: %+v", test.name, l.Incidents)
		}
		if (len(m.Doubts) == 1) != (test.doubt != "") || len(m.Doubts) == 1 && !strings.HasPrefix(m.Doubts[0], test.doubt) {
			t.Errorf("%s: it is said %q", test.name, m.Doubts)
		}
	}
	// An active process may hold a lock while a goroutine of it waits for an answer.
	l := learning(t, m)
	web.domain.manner.Active, web.domain.rest = true, []behavior.Rest{{Calls: []string{"get 0"}}}
	m.Doubts = nil
	l.failed(web, behavior.Activation{Request: "r"}, nil, &behavior.Leaf{Failure: behavior.Overdue})
	if len(l.Incidents) > 0 || len(m.Doubts) != 1 || !strings.HasPrefix(m.Doubts[0], "web, reconciling r, did not return within 1s while a goroutine of it waits") {
		t.Errorf("%+v, %q", l.Incidents, m.Doubts)
	}
	if l.failed(web, behavior.Activation{Request: "r"}, nil, &behavior.Leaf{Failure: behavior.Deadlock}); len(l.Incidents) != 1 {
		t.Errorf("it waits for ever, and it is said %q", m.Doubts)
	}
	l.Incidents, l.Seen = nil, map[Wrong]bool{}
	web.domain.rest[0].Calls = nil
	if l.failed(web, behavior.Activation{Request: "r"}, nil, &behavior.Leaf{Failure: behavior.Overdue}); len(l.Incidents) != 1 {
		t.Errorf("nothing waits, and it is said %q", m.Doubts)
	}
}

// TestEndless reports event handlers that set each other off, and not those who only see the kind.
func TestEndless(t *testing.T) {
	m, _ := desk("web", "db")
	l := learning(t, m)
	err := l.endless(delivery{{actor: m.Actors[0], roots: roots{{}}, event: core.Event{Key: core.Key{Kind: "Pod", Name: "a"}}}, {actor: m.Actors[1]}})
	if !errors.Is(err, ErrStopped) || len(l.Incidents) != 1 || l.Incidents[0].Strategy != "web" || l.Incidents[0].Kind != core.Runaway || l.Incidents[0].Handling.Name != "a" {
		t.Errorf("%v, %+v", err, l.Incidents)
	}
}

// TestLearned has new ends of reconciles be counted, with what event handlers enqueue put where it belongs.
func TestLearned(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	m.addItem(&Item{Item: core.Item{Strategy: "web", Request: "always"}, Actor: web, Standing: true})
	leaf := &behavior.Leaf{Requests: []core.Request{"r", "always", "s"}}
	if l.learned(web, behavior.Activation{Event: &core.Event{}}, leaf); l.Behaviours != 0 {
		t.Errorf("event handlers count as %d", l.Behaviours)
	}
	if want := []state.Cell{m.Item(web, "r").Cell, m.Item(web, "s").Cell}; !slices.Equal(leaf.Cells, want) {
		t.Errorf("these are enqueued: %v, want %v", leaf.Cells, want)
	}
	if l.learned(web, behavior.Activation{Request: "r"}, &behavior.Leaf{}); l.Behaviours != 1 {
		t.Errorf("a reconcile counts as %d", l.Behaviours)
	}
}

// stores is a store whose calls can fail, and that answers with a function.
type stores struct {
	core.Store
	answer func() (core.Answer, error)
}

func (s stores) Answer(core.Snapshot, core.Call) (core.Answer, error) { return s.answer() }

func (stores) Faults(core.Call) []core.Fault {
	return []core.Fault{{Name: "timeout", Response: reply("late"), Commits: true}, {Name: "conflict", Response: reply("no")}}
}

// reply is a response that is a text.
type reply string

func (r reply) Identity() string { return string(r) }
func (r reply) String() string   { return string(r) }

// cachedQuery is a query of a cache.
type cachedQuery struct{ query }

func (cachedQuery) Source() core.Source { return core.Cached }

// TestFail has calls fail as the store says, but for what is read from caches, and where nothing may fail.
func TestFail(t *testing.T) {
	m, _ := desk("web")
	m.System.Store = stores{}
	l := learning(t, m)
	node := &behavior.Node{Call: query{"put a", ""}}
	if l.fail(node); len(node.Faults) > 0 || m.Fails {
		t.Errorf("where nothing may fail, it fails with %+v", node.Faults)
	}
	m.Conditions.Failures = 1
	for _, other := range []*behavior.Node{{}, {Call: cachedQuery{query{"get a", ""}}}} {
		if l.fail(other); len(other.Faults) > 0 || m.Fails {
			t.Errorf("%v fails with %+v", other.Call, other.Faults)
		}
	}
	l.fail(node)
	if !m.Fails || len(node.Faults) != 2 || node.Faults[0].Name != "timeout" || !node.Faults[0].Commits || node.Faults[1].Commits || node.Faults[1].Edge != node.Respond(reply("no")) {
		t.Errorf("it fails with %+v", node.Faults)
	}
}

// TestCarryOut has a store answer, and what it changes be that which is another one than before, with an error that
// names the call where it cannot.
func TestCarryOut(t *testing.T) {
	m, w := desk("web", "db")
	l := learning(t, m)
	w.Learn = l
	key := core.Key{Kind: "Pod", Name: "a"}
	c := m.Vocabulary.Object(key)
	one, two := m.Vocabulary.Intern(c, content("1")), m.Vocabulary.Intern(c, content("2"))
	w.fit()
	w.Set(c, one)
	m.addItem(&Item{Item: core.Item{Strategy: "db", Request: "always"}, Actor: m.Actors[1], Standing: true})
	write := func(text string) core.Write { return core.Write{Key: key, Content: content(text)} }
	call := query{"put a", ""}
	for _, test := range []struct {
		name   string
		answer core.Answer
		err    error
		writes []state.Value
		// enqueued is how many items are put into queues, less those for which timers are set.
		enqueued int
		says     string
	}{
		{"nothing", core.Answer{}, nil, nil, 0, ""},
		{"what is there", core.Answer{Writes: []core.Write{write("1")}}, nil, nil, 0, ""},
		{"another content", core.Answer{Writes: []core.Write{write("2")}}, nil, []state.Value{two}, 0, ""},
		{"there and back", core.Answer{Writes: []core.Write{write("2"), write("2"), write("1"), write("1")}}, nil, []state.Value{two, one}, 0, ""},
		{"gone", core.Answer{Writes: []core.Write{{Key: key}}}, nil, []state.Value{0}, 0, ""},
		{"messages", core.Answer{Enqueue: []core.Item{{Request: "own"}, {Strategy: "db", Request: "r"}, {Strategy: "db", Request: "always"}}}, nil, nil, 2, ""},
		{"messages that come later", core.Answer{EnqueueAfter: []core.Item{{Request: "own"}, {Strategy: "db", Request: "r"}, {Strategy: "db", Request: "always"}}}, nil, nil, -2, ""},
		{"a message for nobody that comes later", core.Answer{EnqueueAfter: []core.Item{{Strategy: "nobody"}}}, nil, nil, 0, `there is no controller "nobody" to enqueue for`},
		{"a message for nobody", core.Answer{Enqueue: []core.Item{{Strategy: "nobody"}}}, nil, nil, 0, `there is no controller "nobody" to enqueue for`},
		{"an error", core.Answer{}, errors.New("cannot"), nil, 0, "cannot"},
		{"not modelled", core.Answer{}, fmt.Errorf("so: %w", &core.Unsupported{Call: "watch"}), nil, 0, "unsupported call: watch"},
	} {
		m.stores = map[time.Duration]core.Store{0: stores{answer: func() (core.Answer, error) { panic("the first") }}, 1: stores{answer: func() (core.Answer, error) { return test.answer, test.err }}}
		look := &tracker{client: w.Live}
		answered, _, err := l.carryOut(look, m.Actors[0], call, 1)
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
		var unsupported *core.Unsupported
		if is := errors.As(err, &unsupported); err != nil && (is == strings.Contains(err.Error(), "put a")) {
			t.Errorf("%s: whether it names the call: %v", test.name, err)
		}
		if err != nil {
			continue
		}
		var writes []state.Value
		for _, write := range answered.Writes {
			if writes = append(writes, write.To); !write.Unwatched || write.Cell != c || write.Key != key {
				t.Errorf("%s: it writes %+v", test.name, write)
			}
		}
		if !slices.Equal(writes, test.writes) || len(answered.Enqueue) != max(0, test.enqueued) || len(answered.EnqueueAfter) != max(0, -test.enqueued) {
			t.Errorf("%s: it writes %v, enqueues %v, and %v later", test.name, writes, answered.Enqueue, answered.EnqueueAfter)
		}
		if (len(look.reads) > 0) != (len(test.answer.Writes) > 0) {
			t.Errorf("%s: that it is a change depends on %v", test.name, look.reads)
		}
	}
	if _, _, err := l.carryOut(&tracker{client: w.Live}, m.Actors[0], call, 0); err == nil || !strings.Contains(err.Error(), "the store panicked: the first") {
		t.Errorf("a store that panics: %v", err)
	}
	m.watchers["Pod"] = m.Actors[:1]
	m.stores = map[time.Duration]core.Store{0: stores{answer: func() (core.Answer, error) { return core.Answer{Writes: []core.Write{write("2")}}, nil }}}
	if answered, _, err := l.carryOut(&tracker{client: w.Live}, m.Actors[0], call, 0); err != nil || answered.Writes[0].Unwatched {
		t.Errorf("what is watched is written as %+v, %v", answered, err)
	}
}

// TestCached has a kind that is read through a cache be found out once, and end a search that did not let it lag
// behind.
func TestCached(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	web.Watches, web.Caches = []core.Kind{"Watched"}, []core.Kind{"Declared"}
	m.Conditions.Staleness = []Staleness{{Rule: view.Lag(1)}, {Kind: "Fresh", Rule: view.Fresh()}}
	l.Searching = true
	read := func(kind core.Kind) behavior.Read {
		return behavior.Read{Cell: m.Vocabulary.Object(core.Key{Kind: kind, Name: "a"})}
	}
	if err := l.cached(web, nil, []behavior.Read{read("Watched"), read("Declared"), read("Fresh")}); err != nil {
		t.Errorf("what is known ends the search: %v", err)
	}
	err := l.cached(web, nil, []behavior.Read{read("Pod"), {Listed: true, Kind: "Job"}, read("Pod")})
	var views *unexpectedViews
	if !errors.As(err, &views) || !slices.Equal(views.Caches, []CachedKind{{"web", "Pod"}, {"web", "Job"}}) {
		t.Errorf("the search ends with %v", err)
	}
	if err := l.cached(web, nil, []behavior.Read{read("Pod")}); err != nil {
		t.Errorf("what was found out is found out again: %v", err)
	}
	l.Searching = false
	if err := l.cached(web, nil, []behavior.Read{read("Cron")}); err != nil {
		t.Errorf("a search that is over ends: %v", err)
	}
	l.Searching, web.User = true, true
	if err := l.cached(web, nil, []behavior.Read{read("Node")}); err != nil {
		t.Errorf("users have caches: %v", err)
	}
}

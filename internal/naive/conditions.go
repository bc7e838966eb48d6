package naive

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Conditions are what may happen to controllers besides their work.
type Conditions struct {
	// Rule returns how far a process's view of a kind may lag behind; nil means that all views are fresh.
	Rule func(process string, kind core.Kind) Rule
	// Crashes is how many crashes there may be in a run, and Failures how many calls may fail.
	Crashes, Failures int
	// FaultsIn are the controllers that may crash, and whose calls may fail; empty means all of them.
	FaultsIn []string
	// Immortal tells that memory outlives crashes, which no process can do: for tests that want to see the difference.
	Immortal bool
	// PerCall makes a step of every call.
	PerCall bool
	// Deadlines is how often a time passes that is longer than whatever is waited for, and Awaiting names the
	// strategies that wait for times.
	Deadlines int
	Awaiting  []string
	// Sooner names those of them that do something sooner than a long time passes: none does while they have set a
	// timer.
	Sooner []string
	// Shorter are times that pass besides, each as often.
	Shorter []Span
	// Unnoticed tells that no timer fires because of a long time that passes: for tests that want to see whether
	// anybody notices.
	Unnoticed bool
	// Drawing names the strategies whose random values follow from seeds, and Seed returns those: of the run of a
	// request, by the number of its draw, behind so many answers.
	Drawing []string
	Seed    func(of core.Item, draw, answers int) uint64
	// Coins has a function say which of so many things a run does that are left to chance, or nobody if it is nil; it
	// is nil if nothing is left to chance.
	Coins func(choose func(sides int) int)
	// Concurrent tells that strategies may make calls from several goroutines, unless they are sequential. Their calls
	// are answered in all orders.
	Concurrent bool
}

// Span is a time that passes, and what it is called.
type Span struct {
	Length time.Duration
	Name   string
}

// Rule is a staleness rule: lag, own-writes, restart or relist with a bound, or fresh.
type Rule struct {
	Name  string
	Bound int
}

// faulty reports whether a controller may crash, and its calls fail.
func (c Conditions) faulty(p player) bool {
	if p.background {
		return p.mortal
	}
	return !p.Messages && len(p.Standing) == 0 && (len(c.FaultsIn) == 0 || slices.Contains(c.FaultsIn, p.Name))
}

func (c Conditions) rule(process string, kind core.Kind) Rule {
	if c.Rule == nil {
		return Rule{Name: "fresh"}
	}
	return c.Rule(process, kind)
}

// stream is a process's view of a kind.
type stream struct {
	process string
	kind    core.Kind
}

// backlog is what a view has received last, as far as a restart may undo it, and what waits for it.
type backlog struct{ received, waiting []core.Event }

// flight is a run in flight: what it was answered so far. One that was blocked waits until it can begin anew.
type flight struct {
	given []core.Response
	// chosen is which of concurrent calls were answered, see [schedule].
	chosen  []int
	blocked bool
	// draw is the number of its draw, and drew tells that it has drawn something.
	draw int
	drew bool
}

// snapshot is the store as the cached client of a process shows it.
type snapshot struct {
	State
	process string
}

// Get implements [core.Snapshot].
func (s snapshot) Get(key core.Key) core.Content {
	for _, e := range s.backlogs[stream{s.process, key.Kind}].waiting {
		if e.Key == key {
			return e.Old
		}
	}
	return s.State.Get(key)
}

// List implements [core.Snapshot].
func (s snapshot) List(kind core.Kind, namespace string) []core.Object {
	shown := State{}
	for _, o := range s.State.List(kind, namespace) {
		shown = shown.with(o.Key, o.Content)
	}
	for _, e := range s.backlogs[stream{s.process, kind}].waiting {
		if namespace == "" || namespace == e.Key.Namespace {
			shown = shown.with(e.Key, s.Get(e.Key))
		}
	}
	return shown.objects
}

// committed puts a change into the backlogs of those whose views may lag behind, and delivers what must be.
func (t *turn) committed(event core.Event, by string) {
	lagging := map[string]bool{}
	for _, c := range t.crews {
		s := stream{c.name(), event.Key.Kind}
		rule := t.conditions.rule(s.process, s.kind)
		if !slices.Contains(c.views(), s.kind) || rule.Name == "fresh" {
			continue
		}
		lagging[c.name()] = true
		t.state = t.state.withBacklog(s, t.state.backlogs[s].with(event, rule))
	}
	for _, c := range t.crews {
		if !lagging[c.name()] {
			t.deliver(event, c)
			continue
		}
		s := stream{c.name(), event.Key.Kind}
		rule := t.conditions.rule(s.process, s.kind)
		caughtUp := len(t.state.backlogs[s].waiting) == 1
		for t.mustReceive(s, rule, by == s.process, caughtUp) {
			t.receive(c, s)
		}
	}
}

// mustReceive reports whether a view may not stay as far behind as it is.
func (t *turn) mustReceive(s stream, rule Rule, own, caughtUp bool) bool {
	waiting := len(t.state.backlogs[s].waiting)
	switch {
	case waiting == 0 || rule.Name == "relist":
		return false
	case rule.Name == "own-writes" && own, rule.Name == "restart" && caughtUp:
		return true
	}
	return waiting > rule.Bound
}

// looked is a snapshot that notes what is looked at.
type looked struct {
	snapshot
	single []core.Key
	lists  []core.Key // without names
}

// Get implements [core.Snapshot].
func (l *looked) Get(key core.Key) core.Content {
	l.single = append(l.single, key)
	return l.snapshot.Get(key)
}

// List implements [core.Snapshot].
func (l *looked) List(kind core.Kind, namespace string) []core.Object {
	l.lists = append(l.lists, core.Key{Kind: kind, Namespace: namespace})
	return l.snapshot.List(kind, namespace)
}

// catchesUp has the caches that a call reads receive what the run has written, if they have not and the schedule says
// so.
func (t *turn) catchesUp(call core.Call) bool {
	l := &looked{snapshot: snapshot{t.state, t.acting.ProcessName()}}
	if _, err := t.store.Answer(l, call); err != nil {
		panic(unanswered{err})
	}
	crew := t.crews[slices.IndexFunc(t.crews, func(c crew) bool { return c.has(t.acting.Name) })]
	var behind []stream
	for _, key := range t.changed {
		of := stream{crew.name(), key.Kind}
		reads := slices.Contains(l.single, key) || slices.ContainsFunc(l.lists, func(list core.Key) bool {
			return list.Kind == key.Kind && (list.Namespace == "" || list.Namespace == key.Namespace)
		})
		if reads && !slices.Contains(behind, of) && canonical(l.snapshot.Get(key)) != canonical(t.state.Get(key)) {
			behind = append(behind, of)
		}
	}
	if len(behind) == 0 {
		return false
	}
	if t.schedule.choose(2) == 0 {
		t.missed = true
		return false
	}
	for _, of := range behind {
		for len(t.state.backlogs[of].waiting) > 0 {
			t.receive(crew, of)
		}
	}
	return true
}

// receive makes one delivery to a view.
func (t *turn) receive(c crew, s stream) {
	rule := t.conditions.rule(s.process, s.kind)
	b := t.state.backlogs[s]
	n := 1
	if rule.Name == "relist" {
		n = len(b.waiting)
	}
	events := b.waiting[:n]
	t.state = t.state.withBacklog(s, backlog{slices.Concat(b.received, events), b.waiting[n:]}.trimmed(rule))
	for _, e := range events {
		e.Missed = rule.Name == "relist" && e.New == nil
		t.deliver(e, c)
	}
}

// with returns the backlog with a change at its end.
func (b backlog) with(event core.Event, rule Rule) backlog {
	waiting := slices.Clone(b.waiting)
	if rule.Name != "relist" {
		return backlog{b.received, append(waiting, event)}.trimmed(rule)
	}
	for i, e := range waiting {
		if e.Key != event.Key {
			continue
		}
		waiting[i].New = event.New
		if waiting[i].Old == nil && waiting[i].New == nil {
			waiting = slices.Delete(waiting, i, i+1)
		}
		return backlog{waiting: waiting}
	}
	waiting = append(waiting, event)
	slices.SortFunc(waiting, func(a, b core.Event) int { return a.Key.Compare(b.Key) })
	return backlog{waiting: waiting}
}

// trimmed forgets what no restart can undo.
func (b backlog) trimmed(rule Rule) backlog {
	keep := 0
	if rule.Name == "restart" {
		keep = max(0, rule.Bound-len(b.waiting))
	}
	b.received = b.received[max(0, len(b.received)-keep):]
	return b
}

// restarts returns the backlogs that a view may have after a restart, the newest position first.
func (b backlog) restarts(rule Rule) []backlog {
	all := slices.Concat(b.received, b.waiting)
	oldest := 0
	switch rule.Name {
	case "lag", "own-writes":
		oldest = len(b.waiting)
	case "restart":
		oldest = min(rule.Bound, len(all))
	}
	var positions []backlog
	for behind := range oldest + 1 {
		at := len(all) - behind
		positions = append(positions, backlog{all[:at], all[at:]}.trimmed(rule))
	}
	return positions
}

func (s State) withBacklog(of stream, b backlog) State {
	s.backlogs = maps.Clone(s.backlogs)
	if s.backlogs == nil {
		s.backlogs = map[stream]backlog{}
	}
	s.backlogs[of] = b
	if len(b.received)+len(b.waiting) == 0 {
		delete(s.backlogs, of)
	}
	return s
}

func (s State) withFlight(item core.Item, f flight, flying bool) State {
	s.flights = maps.Clone(s.flights)
	if s.flights == nil {
		s.flights = map[core.Item]flight{}
	}
	s.flights[item] = f
	if !flying {
		delete(s.flights, item)
	}
	return s
}

// hidden is what objects, work and timers do not show of the state, as text.
func (s State) hidden() string {
	text := fmt.Sprintf("crashes %d failures %d clock %v behind %v memories %q draws %v", s.crashes, s.failures, s.clock, s.behind, s.memories, s.draws)
	var streams []string
	for of, b := range s.backlogs {
		line := fmt.Sprintf("%s %s:", of.process, of.kind)
		for _, events := range [][]core.Event{b.received, b.waiting} {
			line += " |"
			for _, e := range events {
				line += fmt.Sprintf(" %s %s %s,", e.Key, canonical(e.Old), canonical(e.New))
			}
		}
		streams = append(streams, line)
	}
	for item, f := range s.flights {
		line := item.String() + " after"
		for _, response := range f.given {
			line += fmt.Sprintf(" %q", response.Identity())
		}
		line += fmt.Sprint(f.chosen)
		if f.drew {
			line += fmt.Sprintf(" of draw %d", f.draw)
		}
		if f.blocked {
			line += " it was blocked"
		}
		streams = append(streams, line)
	}
	slices.Sort(streams)
	return fmt.Sprintf("%s %q", text, streams)
}

func canonical(c core.Content) string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%q", c.Canonical())
}

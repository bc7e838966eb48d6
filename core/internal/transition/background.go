package transition

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/internal/memories"
	"github.com/orrery-dev/orrery/core/state"
)

// addBackground adds what those who share memory do between activations. What wakes it up is in the memory.
func (m *Machine) addBackground(d *domain) {
	p := d.Process
	m.addActor(d, d.Members[0].Strategy, core.Background(p.Name))
	a := d.Members[len(d.Members)-1]
	a.Description = core.Description{Name: core.Background(p.Name), Process: p.Name, Unfair: p.Unfair()}
	a.Background, a.of, a.Watches, a.Caches = true, "", nil, nil
	a.Atomic, a.fallible = true, p.fallible()
	d.background = a
	if !d.byRequest {
		m.awake(d.part("")) // otherwise nothing waits as long as nobody has asked for anything
	}
}

// awake makes sure that somebody can go on with as many calls as wait in any of the memories of a part, and with the
// time if that will bring something in any. Who never can go on is not there: nobody would know what it has to do with
// others.
func (m *Machine) awake(p *part) {
	if !p.manner.Active {
		return
	}
	goesOn := func(request string, own behavior.Own, turn int) {
		if p.byRequest {
			request += behavior.For + string(p.request)
		}
		m.addItem(&Item{
			Item:  core.Item{Strategy: p.background.Name, Request: core.Request(request)},
			Actor: p.background, Standing: true, roots: []*behavior.Node{{}}, own: own, turn: turn, its: p,
		})
	}
	calls, timed := 0, false
	for memory, r := range p.rest {
		if p.owner(state.Value(memory)) == p.request {
			calls, timed = max(calls, len(r.Calls)), timed || r.Time
		}
	}
	if timed && !p.timed {
		p.timed = true
		goesOn("time", behavior.Waits, 0)
	}
	for ; p.turns < calls; p.turns++ {
		goesOn(strconv.Itoa(p.turns+1), behavior.Works, p.turns)
	}
}

// possible reports whether there is anything to be done for an item in the state of the walker, as far as its process
// has to rest so for it.
func (w *Walker) possible(it *Item) bool {
	if it.own == behavior.Asked {
		return true
	}
	rest := it.its.rest[w.recall(it.its)]
	if it.own == behavior.Waits {
		return rest.Time
	}
	return it.turn < len(rest.Calls)
}

// block records that a run cannot take place. What goes on in the background is of no item by its request.
func (l *Learner) block(a *Actor, activation behavior.Activation) {
	if !a.Background {
		l.Machine.Recorder.Block(l.Machine.Item(a, activation.Request).Agent)
		return
	}
	for _, it := range a.items {
		l.Machine.Recorder.Block(it.Agent)
	}
}

// sight identifies what an active instance shows behind a run.
func (l *Learner) sight(a *Actor, run behavior.Run) memo.Digest {
	d := a.domain
	return l.Memo.Digest(a.Strategy, nil, run).In(d.Name, d.manner.Of, strconv.FormatBool(d.manner.Ticks))
}

// seen returns what an instance shows of its memory behind a run, nil if it shows nothing. To look ahead takes another
// instance.
func (l *Learner) seen(a *Actor, session *behavior.Session, run behavior.Run) (map[string]string, error) {
	d := a.domain
	if !d.manner.Active {
		return session.Memory(), nil
	}
	key := l.sight(a, run)
	if changed, known := l.Memo.Sights.Get(key); known {
		memory := maps.Clone(d.fresh)
		maps.Copy(memory, changed)
		maps.DeleteFunc(memory, func(_, value string) bool { return value == memories.Gone })
		return memory, nil
	}
	other, err := l.Open(a, run.Activation.Since)
	if err != nil {
		return nil, err
	}
	defer other.Abort()
	divergence, err := l.again(other, run, 1)
	if err != nil {
		return nil, err
	}
	if divergence != nil {
		if err := l.diagnose(a, []behavior.Run{run}, 0, divergence); err != nil {
			return nil, err
		}
		return nil, ErrStopped
	}
	memory, err := l.lookedAt(d, other)
	if memory != nil {
		l.Memo.Sights.Set(key, memories.Differences(d.fresh, memory))
	}
	return memory, err
}

// lookedAt returns what an active instance shows of its memory.
func (l *Learner) lookedAt(d *domain, session *behavior.Session) (map[string]string, error) {
	memory := session.Memory()
	if session.Ticks() && !d.manner.Ticks {
		return nil, &unexpectedBackground{Memory: d.Name, ticks: true}
	}
	if memory == nil && l.Context.Err() == nil {
		l.Machine.doubt("%s does so much in the background while time passes that it could not be seen within %s what comes of it: let it tick less often, or leave it out", d.Name, l.limits.Deadline)
	}
	return memory, nil
}

// A process that polls comes back to the memory it had, as far as that is to be seen: it may count how often it did so
// in a variable of a goroutine, or wait for a time that is further away than the next poll. So an instance is taken
// round such a lap again and again, until much time has passed.

// mostLaps is how often an instance is taken round a lap at most, if [behavior.Horizon] has not passed before.
const mostLaps = 200

// edge is a run that leads from one memory to another.
type edge struct {
	behavior.Run
	from, to state.Value
}

// waits reports whether the time passes in a run.
func (e edge) waits() bool { return e.Activation.Own == behavior.Waits }

// learnLap notes that a run of an active instance leads from one memory to another, and audits the laps that it closes.
func (l *Learner) learnLap(d *domain, run behavior.Run, from, to state.Value) error {
	if !d.manner.Active || run.Leaf.Result.Blocked || run.Leaf.Failure != behavior.None {
		return nil
	}
	e := edge{run, from, to}
	d.edges[from] = append(d.edges[from], e)
	lap := d.lap(e)
	at := slices.IndexFunc(lap, edge.waits)
	if at < 0 || d.lapped[lap[at].from] || slices.ContainsFunc(d.Members, l.Fickle) {
		return nil
	}
	d.lapped[lap[at].from] = true
	return l.circle(d, lap)
}

// lap returns a shortest way round that ends with an edge and on which time passes, nil if there is none.
func (d *domain) lap(last edge) []edge {
	type place struct {
		memory state.Value
		waited bool
	}
	type step struct {
		edge
		before place
	}
	begin, goal := place{last.to, last.waits()}, place{last.from, true}
	came := map[place]step{}
	for queue := []place{begin}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == goal {
			lap := []edge{last}
			for ; at != begin; at = came[at].before {
				lap = append(lap, came[at].edge)
			}
			slices.Reverse(lap[1:])
			return append(lap[1:], last)
		}
		for _, e := range d.edges[at.memory] {
			next := place{e.to, at.waited || e.waits()}
			if _, seen := came[next]; !seen && next != begin {
				came[next] = step{e, at}
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// circle takes an instance round a lap until it does something else, or often enough.
func (l *Learner) circle(d *domain, lap []edge) error {
	session, err := l.Open(d.Members[0], d.memories[lap[0].from])
	if err != nil {
		return err
	}
	defer session.Abort()
	rests := make([]map[string]string, len(lap))
	passed := time.Duration(0)
	for range mostLaps {
		for i, e := range lap {
			divergence, err := l.again(session, e.Run, 1)
			if err != nil {
				return err
			}
			passed += session.Elapsed()
			var rest map[string]string
			if divergence == nil {
				if rest = d.changed(session.Rest()); rests[i] == nil {
					rests[i] = rest
				} else if !maps.Equal(rests[i], rest) {
					divergence = &behavior.Divergence{Recorded: "rests as before", Observed: "does something else after more time", After: len(e.Path)}
				}
			}
			if divergence != nil {
				l.diverged(d.Process.of(e.Activation), e.Activation, e.Path, divergence, core.Memory, nil)
				return nil
			}
		}
		if passed > behavior.Horizon {
			return nil
		}
	}
	return nil
}

// A goroutine may keep what nobody shows, in a local variable: two histories then lead to what looks like one memory.
// So runs are audited by each of a few histories that lead to where they begin, also to what they leave in memory.

// hides reports whether goroutines may keep what memory does not show: then it matters by which histories a memory is
// come to, and what is left there.
func (d *domain) hides() bool { return d.manner.Active && d.Members[0].Opaque }

// lead notes another history that leads to a memory, and to those behind it, unless there are enough.
func (l *Learner) lead(d *domain, to state.Value, history []behavior.Run) error {
	m := d.memories[to]
	if to == 0 || len(m.Histories) >= mostWays {
		return nil
	}
	m.Histories = append(m.Histories, history)
	if err := l.retrace(d, to); err != nil {
		return err
	}
	return l.leadOn(d, to, history)
}

// leadBy leads to a memory, and on from there, by a new run: with the history of which it is noted already that it
// leads there, and with the others that lead to where the run begins.
func (l *Learner) leadBy(d *domain, to state.Value, run behavior.Run, history []behavior.Run) error {
	if since := run.Activation.Since; since != nil {
		for _, other := range since.Histories[1:] {
			if err := l.lead(d, to, append(slices.Clone(other), run)); err != nil {
				return err
			}
		}
	}
	return l.leadOn(d, to, history)
}

// leadOn leads on from a memory that a history leads to, by all runs that are known from there.
func (l *Learner) leadOn(d *domain, from state.Value, history []behavior.Run) error {
	for _, known := range slices.Clone(d.begun[from]) {
		if to := known.Leaf.Memory; to != from && !known.Leaf.Failure.Stuck() {
			if err := l.lead(d, to, append(slices.Clone(history), known.Run)); err != nil {
				return err
			}
		}
	}
	return nil
}

// originate notes in the memory behind a run where the calls come from that wait there, if nothing of that is to be
// seen.
func (d *domain) originate(memory map[string]string, run behavior.Run) {
	if !d.hides() {
		return
	}
	digest := memo.Run(run)
	d.rest[d.valueOf(run.Activation.Since)].Originate(memory, run.Activation, hex.EncodeToString(digest[:8]))
}

// leavesOther returns how the memory differs that a run has left on an instance which was brought to where it begins by
// another history than the first from the one that it is known to leave, nil if it does not but for times.
func (l *Learner) leavesOther(a *Actor, run behavior.Run, session *behavior.Session, way int) *behavior.Divergence {
	d, since := a.domain, run.Activation.Since
	if since == nil || way%len(since.Histories) == 0 || !d.hides() {
		return nil
	}
	memory := session.Rest()
	if memory == nil {
		return nil
	}
	d.originate(memory, run)
	return keepsAt(run, d.contents[run.Leaf.Memory], l.contents(d, memory), func(path, here, there string) bool {
		return !behavior.Unsaid(path) && !behavior.SameButForTimes(here, there)
	})
}

// deserted reports whether a run got stuck because it has to do with goroutines that the set-up has started, outside of
// its bubble: it waits for them for ever, or shares a channel with them, which ends the process. Where the process
// works between activations, its set-up is in the bubble, too.
func (l *Learner) deserted(a *Actor, leaf *behavior.Leaf) bool {
	switch leaf.Failure {
	case behavior.Deadlock, behavior.Overdue: // which of them depends on where the channel was made that it waits for
		return l.leftAlone(a)
	case behavior.Fatal:
		return strings.Contains(leaf.Message, "synctest") && l.leftAlone(a)
	}
	return false
}

// leftAlone reports whether the set-up of a controller starts goroutines, and they are not in the bubble of its runs:
// nobody knows when they do what, and whose run it comes in.
func (l *Learner) leftAlone(a *Actor) bool {
	return !a.Sequential && !a.domain.manner.Active && a.domain.fresh != nil && behavior.LeavesGoroutines(a.Strategy)
}

// unexpectedBackground is a memory of which those who share it work between activations, or in which something ticks.
type unexpectedBackground struct {
	Memory string
	ticks  bool
}

// Error implements error.
func (u *unexpectedBackground) Error() string { return u.Memory + " works between its activations" }

func (u *unexpectedBackground) expect(c *Conditions) bool {
	if u.ticks {
		return added(&c.ticking, u.Memory)
	}
	return added(&c.Active, u.Memory)
}

// comparesStart finds out whether what runs of a process that knows when it was started do depends on whether that was
// before the times that objects show. Both are the same otherwise, and when it was started again is not known.
func (l *Learner) comparesStart(a *Actor, runs []behavior.Run) (bool, error) {
	if l.Machine.aging == nil || !a.domain.manner.Active || a.untimed() {
		return false, nil
	}
	const since, shown = 10, 5
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Activation.Apart += since * time.Second
	}
	ages := behavior.AgesIn(runs, l.Machine.aging.Ages())
	for _, kind := range l.together(a, ages) {
		divergence, err := l.heeds(a, runs, ages.Later(kind, shown), ages.Later(kind, 0))
		if err != nil {
			return false, err
		}
		if divergence == nil {
			continue
		}
		if l.Machine.compareTimes(a, []core.Kind{kind}); l.Machine.Conditions.Crashes > 0 {
			l.Machine.doubtFirst(a.Name+" looks at when it was started", "and what is older: %s, now: %s; if that was written later: %s. That it was started again after what was written before a crash was not searched", runs[len(runs)-1].Activation, divergence.Recorded, divergence.Observed)
		}
		return true, nil
	}
	return false, nil
}

// compareTimes notes that a controller compares times that are written into objects of some kinds.
func (m *Machine) compareTimes(a *Actor, kinds []core.Kind) {
	m.Dated = withKinds(m.Dated, kinds)
	if added(&m.Dating, a.Strategy.Describe().Name) {
		slices.Sort(m.Dating)
	}
}

// compareAges notes that a controller compares when objects of some kinds were created.
func (m *Machine) compareAges(a *Actor, kinds []core.Kind) {
	m.Compared = core.JoinAges(m.Compared, kinds)
	if added(&m.Comparing, a.Strategy.Describe().Name) {
		slices.Sort(m.Comparing)
	}
}

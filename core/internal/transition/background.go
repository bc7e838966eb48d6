package transition

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// addBackground adds what a process does between activations. What wakes it up is in its memory.
func (m *Machine) addBackground(p *Process) {
	first := p.Members[0]
	m.addActor(p, first.Strategy, core.Background(p.Name))
	a := p.Members[len(p.Members)-1]
	a.Description = core.Description{Name: core.Background(p.Name), Process: p.Name, Unfair: p.Unfair()}
	a.Background, a.of, a.Watches, a.Caches = true, "", nil, nil
	a.Atomic, a.fallible = true, p.fallible()
	p.background = a
	m.addItem(&Item{Item: core.Item{Strategy: a.Name, Request: "time"}, Actor: a, Standing: true, roots: []*behavior.Node{{}}, own: behavior.Waits})
	m.awake(p)
}

// awake makes sure that a process can go on with as many calls as wait in any of its memories.
func (m *Machine) awake(p *Process) {
	if !p.manner.Active {
		return
	}
	calls := 0
	for _, r := range p.rest {
		calls = max(calls, len(r.Calls))
	}
	for ; p.turns < calls; p.turns++ {
		m.addItem(&Item{
			Item:  core.Item{Strategy: p.background.Name, Request: core.Request(strconv.Itoa(p.turns + 1))},
			Actor: p.background, Standing: true, roots: []*behavior.Node{{}}, own: behavior.Works, turn: p.turns,
		})
	}
}

// possible reports whether there is anything to be done for an item in the state of the walker, as far as its process has to rest so for it.
func (w *Walker) possible(it *Item) bool {
	if it.own == behavior.Asked {
		return true
	}
	p := it.Actor.Process
	at := w.recall(p)
	if it.own == behavior.Waits {
		return p.rest[at].Time
	}
	return it.turn < len(p.rest[at].Calls)
}

// seen returns what an instance shows of its memory behind a run, nil if it shows nothing. To look ahead takes another instance.
func (l *Learner) seen(a *Actor, session *behavior.Session, run behavior.Run) (map[string]string, error) {
	if !a.Process.manner.Active {
		return session.Memory(), nil
	}
	other, _, err := l.open(a, run.Activation.Since, 0)
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
	return l.lookedAt(a.Process, other)
}

// lookedAt returns what an instance of an active process shows of its memory.
func (l *Learner) lookedAt(p *Process, session *behavior.Session) (map[string]string, error) {
	memory := session.Memory()
	if session.Ticks() && !p.manner.Ticks {
		return nil, &unexpectedBackground{Process: p.Name, ticks: true}
	}
	if memory == nil && l.Context.Err() == nil {
		l.Machine.doubt("%s does so much in the background while time passes that it could not be seen within %s what comes of it: let it tick less often, or leave it out", p.Name, l.limits.Deadline)
	}
	return memory, nil
}

// A process that polls comes back to the memory it had, as far as that is to be seen: it may count how often it did so in a variable of a goroutine, or
// wait for a time that is further away than the next poll. So an instance is taken round such a lap again and again, until much time has passed.

// mostLaps is how often an instance is taken round a lap at most, if [behavior.Horizon] has not passed before.
const mostLaps = 200

// edge is a run of a process that leads from one memory to another.
type edge struct {
	behavior.Run
	from, to state.Value
}

// waits reports whether the time passes in a run.
func (e edge) waits() bool { return e.Activation.Own == behavior.Waits }

// learnLap notes that a run of an active process leads from one memory to another, and audits the laps that it closes.
func (l *Learner) learnLap(p *Process, run behavior.Run, from, to state.Value) error {
	if !p.manner.Active || run.Leaf.Result.Blocked || run.Leaf.Failure != behavior.None {
		return nil
	}
	e := edge{run, from, to}
	p.edges[from] = append(p.edges[from], e)
	lap := p.lap(e)
	at := slices.IndexFunc(lap, edge.waits)
	if at < 0 || p.lapped[lap[at].from] || slices.ContainsFunc(p.Members, l.Fickle) {
		return nil
	}
	p.lapped[lap[at].from] = true
	return l.circle(p, lap)
}

// lap returns a shortest way round that ends with an edge and on which time passes, nil if there is none.
func (p *Process) lap(last edge) []edge {
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
		for _, e := range p.edges[at.memory] {
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
func (l *Learner) circle(p *Process, lap []edge) error {
	session, err := l.Open(p.Members[0], p.memories[lap[0].from])
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
				if rest = p.changed(session.Rest()); rests[i] == nil {
					rests[i] = rest
				} else if !maps.Equal(rests[i], rest) {
					divergence = &behavior.Divergence{Recorded: "rests as before", Observed: "does something else after more time", After: len(e.Path)}
				}
			}
			if divergence != nil {
				l.diverged(p.of(e.Activation), e.Activation, e.Path, divergence, core.Memory, nil)
				return nil
			}
		}
		if passed > behavior.Horizon {
			return nil
		}
	}
	return nil
}

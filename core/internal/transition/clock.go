package transition

import (
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// Whether code depends on the clock is found out by instances whose clocks are moved: a tick earlier, to see whether it writes the time, and an
// epoch later, to see whether it waits for one.

// earlier finds out whether the call of a node would be another one a tick earlier, and returns it: its contents name the time. It is nil
// if the call is the same then, or if something else is done.
func (l *Learner) earlier(a *Actor, activation behavior.Activation, path behavior.Path, node *behavior.Node) (core.Call, error) {
	if node.Timed || !l.tells(a) || behavior.Aim(node.Call) == node.Call.Identity() {
		return node.Earlier, nil
	}
	key := l.digest(a, node.Call, behavior.Run{Activation: activation, Path: path})
	if call, found := l.Memo.earlier.get(key); found {
		node.Timed, node.Earlier = true, call
		return call, nil
	}
	session, _, parting, err := l.moved(a, behavior.Run{Activation: activation, Path: path}, a.domain.shift(-behavior.Tick))
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	if parting == nil {
		call, _, err := session.NextAs(l.Context, node.Call)
		if err != nil {
			return nil, err
		}
		if call != nil && behavior.Aim(call) == behavior.Aim(node.Call) && call.Identity() != node.Call.Identity() {
			node.Earlier = call
		}
	}
	node.Timed = true
	l.Memo.earlier.set(key, node.Earlier)
	return node.Earlier, nil
}

// tells reports whether the code of an actor may look at a clock.
func (l *Learner) tells(a *Actor) bool { return !a.Sequential && !a.User }

// shift is how far the clock is moved, for an instance from its start on and for a run of it besides.
type shift struct {
	start, run time.Duration
	// pass is how much time passes for an active instance before the run, which is of interest only if nothing is to be seen of that: the rest is searched.
	pass time.Duration
}

// shift returns how the clock is moved for runs of an instance: an active one is another one if time passes before a run.
func (d *domain) shift(by time.Duration) shift {
	if d.manner.Active {
		return shift{start: by}
	}
	return shift{run: by}
}

// later returns how the clock is moved to see whether a run waits for a time.
func (d *domain) later(activation behavior.Activation) []shift {
	all := []shift{d.shift(behavior.Epoch)}
	switch {
	case !d.manner.Active || activation.Own != behavior.Asked:
	case d.manner.Ticks || d.rest[d.valueOf(activation.Since)].Time:
		all = append(all, shift{pass: behavior.Horizon})
	default:
		all = append(all, shift{pass: behavior.Epoch})
	}
	return all
}

// look goes through a new path once more, an epoch later, and reports whether the code waits for a time: what it does besides writing other
// times shows that.
func (l *Learner) look(a *Actor, run behavior.Run) (waits bool, err error) {
	if !l.tells(a) {
		return false, nil
	}
	for _, later := range a.domain.later(run.Activation) {
		if waits, err = l.lookAt(a, run, later); waits || err != nil {
			return waits, err
		}
	}
	return false, nil
}

func (l *Learner) lookAt(a *Actor, run behavior.Run, at shift) (waits bool, err error) {
	later, parting, err := l.follow(a, run, at)
	if err != nil {
		return false, err
	}
	parting, written := shows(run, later, parting)
	if parting == nil && written {
		// What is another time later, and the same a tick earlier, is not written each time.
		var earlier []core.Call
		if earlier, parting, err = l.follow(a, run, a.domain.shift(-behavior.Tick)); err != nil {
			return false, err
		}
		for i := range earlier {
			call := run.Path[i].From.Call
			if parting == nil && earlier[i].Identity() == call.Identity() && later[i].Identity() != call.Identity() {
				parting = &behavior.Divergence{Recorded: call.String(), Observed: call.String() + " with a newer time", After: i}
			}
		}
	}
	if parting == nil {
		return false, nil
	}
	// Is it because of the clock that it goes another way?
	calls, again, err := l.follow(a, run, shift{})
	if again, written = shows(run, calls, again); err != nil || again != nil || written {
		return false, err
	}
	l.waits(a, run, parting)
	return true, nil
}

// shows returns where calls do more than to name other times than those of a run, and whether they name any.
func shows(run behavior.Run, calls []core.Call, parting *behavior.Divergence) (*behavior.Divergence, bool) {
	written := false
	for i := range calls {
		call := run.Path[i].From.Call
		if calls[i].Identity() == call.Identity() {
			continue
		}
		if !behavior.Dated(calls[i], call) {
			return &behavior.Divergence{Recorded: call.String(), Observed: call.String() + " with other contents", After: i}, true
		}
		written = true
	}
	return parting, written
}

// moved takes a fresh instance along a run when the clock has moved. It returns its session, which has to be closed or aborted, its calls, and where it does
// more than to write other contents.
func (l *Learner) moved(a *Actor, run behavior.Run, by shift) (*behavior.Session, []core.Call, *behavior.Divergence, error) {
	session, strayed, err := l.bring(a, run.Activation.Since, 0, by.start)
	if err != nil {
		return nil, nil, nil, err
	}
	if strayed != nil {
		return session, nil, strayed.divergence, nil
	}
	if by.pass > 0 && !session.Pass(by.pass) {
		return session, nil, nil, nil
	}
	l.count(run.Activation)
	run.Activation.Clock += by.run
	calls, parting, err := session.Follow(l.Context, run)
	if err != nil {
		session.Abort()
	}
	return session, calls, parting, err
}

// follow is as [Learner.moved] where the session is of no use.
func (l *Learner) follow(a *Actor, run behavior.Run, by shift) ([]core.Call, *behavior.Divergence, error) {
	session, calls, parting, err := l.moved(a, run, by)
	if err == nil {
		session.Abort()
	}
	return calls, parting, err
}

// waits notes that what an actor does depends on the clock.
func (l *Learner) waits(a *Actor, run behavior.Run, d *behavior.Divergence) {
	if a.Waits == "" {
		a.Waits = fmt.Sprintf("the behavior of %s depends on the clock, and later times were not searched: %s, it now %s, and later %s", a.Name, run.Activation, d.Recorded, d.Observed)
	}
}

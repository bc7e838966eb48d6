package explore

import (
	"fmt"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// earlier finds out whether the call of a node would be another one a tick earlier, and returns it: its contents name the time. It is nil
// if the call is the same then, or if something else is done.
func (l *learner) earlier(a *actor, activation behavior.Activation, path behavior.Path, node *behavior.Node) (core.Call, error) {
	if node.Timed || !l.tells(a) || behavior.Aim(node.Call) == node.Call.Identity() {
		return node.Earlier, nil
	}
	activation.Clock -= behavior.Tick
	session, err := l.open(a)
	if err != nil {
		return nil, err
	}
	defer session.Abort()
	l.count(activation)
	_, parting, err := session.Follow(l.context, behavior.Run{Activation: activation, Path: path})
	if err != nil {
		return nil, err
	}
	node.Timed = true
	if parting != nil {
		return nil, nil
	}
	call, _, err := session.NextAs(l.context, node.Call)
	if err != nil || call == nil || behavior.Aim(call) != behavior.Aim(node.Call) || call.Identity() == node.Call.Identity() {
		return nil, err
	}
	node.Earlier = call
	return call, nil
}

// tells tells whether the code of an actor may look at a clock.
func (l *learner) tells(a *actor) bool { return !a.Sequential && !a.user }

// look goes through a new path once more, an epoch later. What the code does besides writing other times shows that it waits for a time.
func (l *learner) look(a *actor, run behavior.Run) error {
	if run.Leaf.Failure.Stuck() || !l.tells(a) {
		return nil
	}
	later, parting, err := l.moved(a, run, behavior.Epoch)
	if err != nil {
		return err
	}
	parting, written := shows(run, later, parting)
	if parting == nil && written {
		// What is another time later, and the same a tick earlier, is not written each time.
		var earlier []core.Call
		if earlier, parting, err = l.moved(a, run, -behavior.Tick); err != nil {
			return err
		}
		for i := range earlier {
			call := run.Path[i].From.Call
			if parting == nil && earlier[i].Identity() == call.Identity() && later[i].Identity() != call.Identity() {
				parting = &behavior.Divergence{Recorded: call.String(), Observed: call.String() + " with a newer time", After: i}
			}
		}
	}
	if parting == nil {
		return nil
	}
	// Is it because of the clock that it goes another way?
	calls, again, err := l.moved(a, run, 0)
	if again, written = shows(run, calls, again); err != nil || again != nil || written {
		return err
	}
	l.waits(a, run, parting)
	return nil
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

// moved takes a fresh instance along a run when the clock has moved. It returns its calls, and where it does more than to write other
// contents.
func (l *learner) moved(a *actor, run behavior.Run, by time.Duration) ([]core.Call, *behavior.Divergence, error) {
	session, err := l.open(a)
	if err != nil {
		return nil, nil, err
	}
	defer session.Abort()
	l.count(run.Activation)
	run.Activation.Clock += by
	return session.Follow(l.context, run)
}

// waits notes that what an actor does depends on the clock.
func (l *learner) waits(a *actor, run behavior.Run, d *behavior.Divergence) {
	if a.waits == "" {
		a.waits = fmt.Sprintf("what %s does depends on the clock, and time was not followed far enough: %s, it now %s, and later %s", a.Name, run.Activation, d.Recorded, d.Observed)
	}
}

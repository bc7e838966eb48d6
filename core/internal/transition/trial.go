package transition

import (
	"errors"

	"github.com/orrery-dev/orrery/core/behavior"
)

// A step can be tried in a state that the search may never come to, to find out on what it depends. Code that goes a way there which is not known is run twice and no more:
// nothing of it is kept. If the search comes that way, it learns it as any other.

// ErrUnmet ends the trial of a step in which a run leaves something that none is known to leave.
var ErrUnmet = errors.New("no run is known to leave that")

// Try lets code be tried while something is done: what is not known of it is not learned.
func (l *Learner) Try(do func() error) error {
	l.trying = true
	defer func() { l.trying = false }()
	return do()
}

// aside returns the node at which code goes on that is not known to go on there: in a trial, it is none of the tree.
func (l *Learner) aside(node *behavior.Node) *behavior.Node {
	if !l.trying {
		return node
	}
	return &behavior.Node{Drawn: node.Drawn, Draw: node.Draw}
}

// leaves finds out what a run in a trial leaves, goes through it once more, and ends its session.
func (l *Learner) leaves(a *Actor, session *behavior.Session, run behavior.Run) error {
	if err := l.met(a, session, run); err != nil || run.Leaf.Failure.Stuck() {
		session.Abort()
		return err
	}
	_, _, err := l.audit(session, a, run, 1)
	return err
}

// met has a leaf name the memory and the items that are known to be what it leaves and enqueues.
func (l *Learner) met(a *Actor, session *behavior.Session, run behavior.Run) error {
	d, leaf := a.domain, run.Leaf
	for _, request := range leaf.Requests {
		it, known := a.items[request]
		if !known {
			return ErrUnmet
		}
		if !it.Standing {
			leaf.Cells = append(leaf.Cells, it.Cell)
		}
	}
	if d.fresh == nil || leaf.Failure.Stuck() {
		return nil
	}
	left, err := l.recognize(a, session, run)
	if err != nil {
		return err
	}
	if left != nil {
		if value, known := d.values[left.identity]; known {
			leaf.Memory = value
			return nil
		}
	}
	return ErrUnmet
}

package explore

import (
	"encoding/binary"
	"errors"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
)

// errUnknown ends a step of a walker that may not learn, where something has to be.
var errUnknown = errors.New("not learned yet")

// errStopped ends a step of a run that never came back or may not go on.
var errStopped = errors.New("the run never came back")

// walker takes steps of a machine, starting from one state.
type walker struct {
	machine *machine
	// learn is what the walker learns with, nil if it may only use what is known.
	learn *learner

	vector      state.Vector
	fingerprint state.Fingerprint
	// touched are the cells that differ, or differed, from the state the step began in, with their values there.
	touched []touch
	wrote   bool
	// path is the way through the behaviour trees of the runs under way, innermost last. Only learning needs it.
	path behavior.Path
	// nested is how many deliveries are under way, each set off by a write of the handlers of the one before.
	nested int
	// listener, if set, is told of every call with its effects, and of the end of every run.
	listener listener
	buffer   []byte
}

// listener follows what happens within a step.
type listener interface {
	called(a *actor, activation behavior.Activation, answered *behavior.Answered)
	ended(a *actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf)
}

type touch struct {
	cell state.Cell
	was  state.Value
}

// maxNested bounds deliveries within deliveries: beyond it, event handlers set each
// other off for ever.
const maxNested = 64

// load puts the walker in a state.
func (w *walker) load(row []byte) {
	w.fit()
	w.vector.ReadRow(row)
	w.fingerprint = w.machine.vocabulary.Fingerprint(w.vector)
	w.touched = w.touched[:0]
	w.wrote = false
}

// fit makes the vector as long as the vocabulary.
func (w *walker) fit() {
	for len(w.vector) < w.machine.vocabulary.Cells() {
		w.vector = append(w.vector, 0)
	}
}

// Value implements [behavior.Glance].
func (w *walker) Value(c state.Cell) state.Value {
	if int(c) >= len(w.vector) {
		return 0
	}
	return w.vector[c]
}

// AppendSignature implements [behavior.Glance]: a list is the cells it shows, with
// their values.
func (w *walker) AppendSignature(buffer []byte, kind core.Kind, namespace string) []byte {
	for _, c := range w.machine.vocabulary.Kind(kind) {
		value := w.Value(c)
		if value == 0 {
			continue
		}
		if namespace != "" {
			if key, _ := w.machine.vocabulary.Key(c); key.Namespace != namespace {
				continue
			}
		}
		buffer = binary.AppendUvarint(buffer, uint64(c))
		buffer = binary.AppendUvarint(buffer, uint64(value))
	}
	return buffer
}

func (w *walker) set(c state.Cell, value state.Value) {
	if int(c) >= len(w.vector) {
		w.fit()
	}
	was := w.vector[c]
	if was == value {
		return
	}
	w.touched = append(w.touched, touch{cell: c, was: was})
	w.fingerprint.Toggle(w.machine.vocabulary.Print(c, was))
	w.fingerprint.Toggle(w.machine.vocabulary.Print(c, value))
	w.vector[c] = value
}

// undo takes back what the walker did since it was loaded.
func (w *walker) undo() {
	for i := len(w.touched) - 1; i >= 0; i-- {
		t := w.touched[i]
		w.fingerprint.Toggle(w.machine.vocabulary.Print(t.cell, w.vector[t.cell]))
		w.fingerprint.Toggle(w.machine.vocabulary.Print(t.cell, t.was))
		w.vector[t.cell] = t.was
	}
	w.touched = w.touched[:0]
	w.wrote = false
}

// pending tells whether an item is in a work queue.
func (w *walker) pending(it *item) bool {
	return it.standing || w.Value(it.cell)&state.Queued != 0
}

// timed tells whether a timer is set for an item.
func (w *walker) timed(it *item) bool {
	return !it.standing && w.Value(it.cell)&state.Timed != 0
}

// reconcile runs an item from its beginning to its end, as one step. A nil leaf
// means that there is no such step here; then nothing has changed. On an error, too, nothing has.
func (w *walker) reconcile(it *item) (*behavior.Leaf, error) {
	if !it.standing {
		w.set(it.cell, w.Value(it.cell)&^state.Queued)
	}
	leaf, err := w.run(it.actor, it.root, behavior.Activation{Request: it.Request})
	if err == nil && leaf.Failure.Stuck() {
		err = errStopped
	}
	if err != nil || leaf.Result.Blocked {
		w.undo()
		return nil, err
	}
	if !it.standing {
		value := w.Value(it.cell)
		if leaf.Retried() {
			value |= state.Queued
		}
		if leaf.Later() {
			value |= state.Timed
		}
		w.set(it.cell, value)
	}
	w.settle()
	return leaf, nil
}

// fire moves a timed item to its work queue, as one step.
func (w *walker) fire(it *item) {
	w.set(it.cell, w.Value(it.cell)&^state.Timed|state.Queued)
}

// settle brings what the step wrote to its canonical form.
func (w *walker) settle() {
	for i := range w.touched {
		c := w.touched[i].cell
		w.set(c, w.machine.vocabulary.Settled(c, w.vector[c]))
	}
}

// run follows a run of an actor through its behaviour tree to a leaf, with the
// effects of its calls applied. Where the tree ends, it learns.
func (w *walker) run(a *actor, root *behavior.Node, activation behavior.Activation) (*behavior.Leaf, error) {
	node, base := root, len(w.path)
	defer func() { w.path = w.path[:base] }()
	var lesson *lesson
	for {
		if node.Explored() {
			// A handler of what this very run wrote may have come by here first.
			lesson.stop()
			lesson = nil
		} else {
			if w.learn == nil {
				return nil, errUnknown
			}
			var err error
			if lesson, err = w.learn.explore(lesson, a, activation, w.path[base:], node); err != nil {
				return nil, err
			}
		}
		if node.Leaf != nil {
			if w.listener != nil {
				w.listener.ended(a, activation, w.path[base:], node.Leaf)
			}
			return node.Leaf, nil
		}
		answered := node.Look(w, w.buffer)
		if answered == nil {
			if w.learn == nil {
				return nil, errUnknown
			}
			var err error
			if answered, err = w.learn.answer(w, node); err != nil {
				lesson.stop()
				return nil, err
			}
		}
		if w.listener != nil {
			w.listener.called(a, activation, answered)
		}
		if err := w.apply(answered); err != nil {
			lesson.stop()
			return nil, err
		}
		if w.learn != nil {
			w.path = append(w.path, answered.Edge)
		}
		lesson.answer(answered.Edge.Response)
		node = answered.Edge.To
	}
}

// apply commits the effects of a call, and delivers them.
func (w *walker) apply(answered *behavior.Answered) error {
	for _, write := range answered.Writes {
		was := w.Value(write.Cell)
		w.set(write.Cell, write.To)
		w.wrote = true
		if write.Unwatched {
			continue
		}
		if err := w.deliver(write.Cell, transition{from: was, to: write.To}); err != nil {
			return err
		}
	}
	for _, c := range answered.Enqueue {
		w.set(c, w.Value(c)|state.Queued)
	}
	return nil
}

// deliver runs the event handlers for a change, and enqueues what they ask for.
func (w *walker) deliver(c state.Cell, change transition) error {
	d := w.machine.delivery(c, change)
	if d == nil {
		if w.learn == nil {
			return errUnknown
		}
		d = w.machine.deliver(c, change)
	}
	if len(*d) == 0 {
		return nil
	}
	if w.nested == maxNested {
		if w.learn == nil {
			return errUnknown
		}
		return w.learn.endless(*d)
	}
	w.nested++
	defer func() { w.nested-- }()
	for i := range *d {
		h := &(*d)[i]
		leaf, err := w.run(h.actor, h.root, behavior.Activation{Event: &h.event})
		if err != nil {
			return err
		}
		if leaf.Failure.Stuck() {
			return errStopped
		}
		for _, enqueued := range leaf.Cells {
			w.set(enqueued, w.Value(enqueued)|state.Queued)
		}
	}
	return nil
}

// begin puts the walker in an initial state, in its canonical form: the objects, and
// what the controllers make of the initial list.
func (w *walker) begin(initial core.Initial) error {
	w.load(nil)
	vocabulary := w.machine.vocabulary
	for _, object := range initial.Objects {
		c := vocabulary.Object(object.Key)
		w.set(c, vocabulary.Settled(c, vocabulary.Intern(c, object.Content)))
	}
	if err := w.relist(); err != nil {
		return err
	}
	w.settle()
	return nil
}

// relist starts every controller: its handlers get a create event for every object
// of the kinds it watches, and its initial requests are queued.
func (w *walker) relist() error {
	for _, a := range w.machine.actors {
		for _, request := range a.Initial {
			if it := w.machine.item(a, request); !it.standing {
				w.set(it.cell, w.Value(it.cell)|state.Queued)
			}
		}
	}
	for c := range w.machine.vocabulary.Cells() {
		c := state.Cell(c)
		if _, isObject := w.machine.vocabulary.Key(c); isObject && w.Value(c) != 0 {
			if err := w.deliver(c, transition{to: w.Value(c)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func newWalker(m *machine, learn *learner) *walker {
	return &walker{machine: m, learn: learn, buffer: make([]byte, 0, 4096)}
}

// look returns the state the walker is in.
func (w *walker) look() state.Look { return state.NewLook(w.machine.vocabulary, w.vector) }

package explore

import (
	"errors"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
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
	// origin is the fingerprint of the state the step began in. If plain is set, row is its row, with one byte for each cell.
	origin state.Fingerprint
	row    []byte
	plain  bool

	// live shows the store, and sights what each actor's cached client shows.
	live   *sight
	sights []*sight

	// acting is whose step it is.
	acting *actor
	// path is the way through the behaviour trees of the runs under way, innermost last. Only learning needs it.
	path behavior.Path
	// base is where the innermost run begins on the path.
	base int
	// made are the calls of the innermost run since it began to make several at a time, nil if it does not.
	made []behavior.Made
	// reversed are the other orders of concurrent calls that the runs of the step ask for.
	reversed []reversed
	// answers are those to all calls since the run of the step began to make several at a time, those of event handlers included, and gathers
	// tells that it did.
	answers []*behavior.Answered
	gathers bool
	// unsure tells that a walker that may not learn came to something that is not known.
	unsure bool
	// handling is the event that is handled, nil while a reconcile is at work.
	handling *core.Event
	// nested is how many deliveries are under way, each set off by a write of the handlers of the one before.
	nested int
	// released are the points that runs in flight left within the step.
	released []*point
	// notes are what the run of the step did, call by call. Only faults need them.
	notes     []callNote
	noted     bool
	tour      tour
	shortcuts shortcuts
	// ahead tells that the walker takes steps before the searching goroutine does.
	ahead bool
	// monitor, if set, looks at every step before and after it is taken.
	monitor monitor
	// listener, if set, is told of every call with its effects, of the end of every run, and of what comes to views.
	listener listener
	buffer   []byte
}

// listener follows what happens within a step.
type listener interface {
	began()
	called(a *actor, activation behavior.Activation, call told)
	ended(a *actor, activation behavior.Activation, path behavior.Path, leaf *behavior.Leaf)
	// committed is called when a change comes to wait for a view, and refreshed when a view is told of what waits
	// for it, or starts again.
	committed(*view.View)
	refreshed(*view.View)
}

// monitor looks at steps as they are taken. An error ends the step.
type monitor interface {
	before(*taken) error
	// after is called where the step leads, unless it is blocked.
	after(*taken) error
}

// inattentive is a [listener] to which none of it matters but what whoever embeds it listens to.
type inattentive struct{}

func (inattentive) began()                                                           {}
func (inattentive) called(*actor, behavior.Activation, told)                         {}
func (inattentive) ended(*actor, behavior.Activation, behavior.Path, *behavior.Leaf) {}
func (inattentive) committed(*view.View)                                             {}
func (inattentive) refreshed(*view.View)                                             {}

type touch struct {
	cell state.Cell
	was  state.Value
}

// maxNested bounds deliveries within deliveries: beyond it, event handlers set each
// other off for ever.
const maxNested = 64

func newWalker(m *machine, learn *learner) *walker {
	w := &walker{machine: m, learn: learn, buffer: make([]byte, 0, 4096)}
	w.live = &sight{walker: w, Glance: view.NewGlance(m.vocabulary, &w.vector, nil)}
	for _, a := range m.actors {
		s := w.live
		if len(a.views) > 0 {
			s = &sight{walker: w, actor: a, Glance: view.NewGlance(m.vocabulary, &w.vector, a.views)}
		}
		w.sights = append(w.sights, s)
	}
	return w
}

// load puts the walker in a state.
func (w *walker) load(row []byte) {
	w.fit()
	cells := w.vector.ReadRow(row)
	w.fingerprint = w.machine.vocabulary.Fingerprint(w.vector)
	w.forget()
	w.row, w.plain = row, cells == len(row)
}

// fit makes the vector as long as the vocabulary.
func (w *walker) fit() {
	if len(w.vector) == w.machine.vocabulary.Cells() {
		return
	}
	for len(w.vector) < w.machine.vocabulary.Cells() {
		w.vector = append(w.vector, 0)
	}
	w.shortcuts.forget()
}

// Value returns the value of a cell.
func (w *walker) Value(c state.Cell) state.Value {
	if int(c) >= len(w.vector) {
		return 0
	}
	return w.vector[c]
}

func (w *walker) set(c state.Cell, value state.Value) {
	if int(c) >= len(w.vector) {
		w.fit()
	}
	was := w.vector[c]
	if w.shortcuts.tracing {
		w.shortcuts.depend(c, was)
	}
	if was == value {
		return
	}
	w.touched = append(w.touched, touch{cell: c, was: was})
	w.fingerprint.Toggle(w.machine.vocabulary.Print(c, was))
	w.fingerprint.Toggle(w.machine.vocabulary.Print(c, value))
	w.vector[c] = value
}

// mark sets marks of an item's cell.
func (w *walker) mark(c state.Cell, marks state.Value) { w.set(c, w.Value(c)|marks) }

// undo takes back what the walker did since its step began.
func (w *walker) undo() {
	for i := len(w.touched) - 1; i >= 0; i-- {
		w.vector[w.touched[i].cell] = w.touched[i].was
	}
	w.fingerprint = w.origin
	w.renew()
}

// forget makes the state that the walker is in the one that its next step begins in.
func (w *walker) forget() {
	w.origin, w.plain = w.fingerprint, false
	w.renew()
}

// renew makes the walker ready for a step.
func (w *walker) renew() {
	w.touched, w.released = w.touched[:0], w.released[:0]
	w.wrote = false
}

// appendRow appends the packed row of the state that the walker is in.
func (w *walker) appendRow(rows []byte) []byte {
	if !w.plain {
		return w.vector.AppendRow(rows)
	}
	begin := len(rows)
	rows = append(rows, w.row...)
	for _, t := range w.touched {
		value, at := w.vector[t.cell], begin+int(t.cell)
		if value >= 0x80 {
			return w.vector.AppendRow(rows[:begin])
		}
		for at >= len(rows) {
			rows = append(rows, 0)
		}
		rows[at] = byte(value)
	}
	for len(rows) > begin && rows[len(rows)-1] == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// pending tells whether an item is in a work queue.
func (w *walker) pending(it *item) bool {
	return it.standing || w.Value(it.cell)&state.Queued != 0
}

// timed tells whether a timer is set for an item.
func (w *walker) timed(it *item) bool {
	return !it.standing && w.Value(it.cell)&state.Timed != 0
}

// flight returns the point where the run of an item is parked, nil if it is not in flight.
func (w *walker) flight(it *item) *point {
	if it.standing {
		return nil
	}
	if n := w.Value(it.cell).Parked(); n > 0 {
		return &it.parked[n]
	}
	return nil
}

// late tells whether changes are waiting for an actor.
func (w *walker) late(a *actor) bool {
	for _, v := range a.views {
		if v.Waiting(w.Value(v.Cell())) > 0 {
			return true
		}
	}
	return false
}

// look returns the state the walker is in.
func (w *walker) look() state.Look { return state.NewLook(w.machine.vocabulary, w.vector) }

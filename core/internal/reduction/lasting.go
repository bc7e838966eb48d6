package reduction

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// A run that finds nothing to do is lasting if it would find as little whatever changes of what it looks at without
// waking its agent. The behavior tree tells: it is gone through with each of the values that may be seen instead. Where
// it is not known what comes of them, the code is run as if they were there: a search that puts such runs first comes
// to few of them, and would not find out. What is not known all the same is taken to do something.

// missed is what may change of what an agent looks at without waking it, by place.
type missed struct {
	// inViews are the places that it sees through views, and places all of them, in order.
	places, inViews []Place
	// become are the values that may be seen in a place where a value is seen, that one first, and enter the objects
	// that may come to be listed there.
	become map[Place][]state.Value
	enter  map[Place][]entering
}

// entering is an object that may come to be listed, as who lists it sees it, with what it may be then.
type entering struct {
	sight
	values []state.Value
}

// has reports whether what is seen in a place may change.
func (m *missed) has(at Place) bool { return m.become[at] != nil || m.enter[at] != nil }

// judged is what was found out about runs that find nothing to do, although what they look at may change: whether they
// are lasting, by what they look at. What they were is asked once more at the end of a search: it must not have become
// something else.
type judged struct {
	lasting map[string]bool
	runs    []idleRun
}

// idleRun is a run of an agent by what it looks at, and whether it was found to be lasting.
type idleRun struct {
	it      *transition.Item
	begun   transition.Begun
	looks   []Place
	lasting bool
}

// lasts reports whether the run of the walker's step, which does nothing and looks at this, is lasting. A walker that
// may not learn only knows what another one found out.
func (f *footprints) lasts(w *Explorer, it *transition.Item, looks []Place) (lasting bool, err error) {
	if it.Agent >= len(f.settled.missed) || !slices.ContainsFunc(looks, f.settled.missed[it.Agent].has) {
		return true, nil // as far as anybody knows, nothing of it changes
	}
	j := &f.judged
	name := binary.AppendUvarint(w.Buffer[:0], uint64(it.Agent))
	for _, place := range looks {
		name = binary.AppendUvarint(name, uint64(place))
	}
	lasting, known := j.lasting[string(name)]
	switch {
	case known:
		return lasting, nil
	case w.Learn == nil:
		if w.Ahead {
			return false, transition.ErrUnknown
		}
		return false, nil
	}
	run := idleRun{it: it, begun: f.begunOf(looks), looks: slices.Clone(looks)}
	t := f.newTrial(run, &f.settled.missed[it.Agent], f.searches)
	if f.tries(run) {
		t.experiment = newExperiment(w)
	}
	if run.lasting, err = t.judge(), t.err; err != nil {
		return false, err
	}
	j.lasting[string(name)], j.runs = run.lasting, append(j.runs, run)
	return run.lasting, nil
}

// tries reports whether code is run to find out what a run does if it sees something else. A view would have to be
// brought to where it shows that, and a part of an object is not all of one.
func (f *footprints) tries(run idleRun) bool {
	return len(run.it.Actor.Process.Views) == 0 && !slices.ContainsFunc(run.looks, func(at Place) bool { return f.names[at].projection != nil })
}

// begunOf returns how the run began that looks at this.
func (f *footprints) begunOf(looks []Place) transition.Begun {
	for _, at := range looks {
		if name := f.names[at]; name.begun != (transition.Begun{}) {
			return name.begun
		}
	}
	return transition.Begun{}
}

// judgesAlike reports whether the runs that were judged are lasting, or not, by what is known now as well.
func (f *footprints) judgesAlike(now *knowledge) bool {
	return !slices.ContainsFunc(f.judged.runs, func(run idleRun) bool {
		return f.judge(run, &now.missed[run.it.Agent], f.searches+1) != run.lasting
	})
}

// mostTries bounds how many values are tried, all in all, to see whether a run is lasting.
const mostTries = 1 << 9

// trial goes through the behavior tree of an agent with the values that its run may see. It implements
// [behavior.Cells].
type trial struct {
	*footprints
	run    idleRun
	missed *missed
	// before is the search before which everything was learned that counts.
	before int
	// places are where the run looks, by what is seen there, and lists those where it lists.
	places map[sight]Place
	lists  map[placeName]bool
	// entering are what may come to be where the run lists and sees nothing, by where it is seen: first that it is not
	// listed, be it there or not.
	entering map[sight][]state.Value
	// values are those that are tried.
	values map[sight]state.Value
	tries  int
	// client is how the call at hand looks, open is where it looks although no value was chosen yet, and lost tells
	// that it looks where the run does not.
	client transition.ClientView
	open   *sight
	lost   bool
	// experiment, if set, runs the code where it is not known what it does, and err is what has kept it from that.
	experiment *experiment
	err        error
}

// judge reports whether a run is lasting, by what was learned before a search.
func (f *footprints) judge(run idleRun, m *missed, before int) bool {
	return f.newTrial(run, m, before).judge()
}

// newTrial returns a trial of a run by what was learned before a search.
func (f *footprints) newTrial(run idleRun, m *missed, before int) *trial {
	return &trial{
		footprints: f, run: run, missed: m, before: before,
		places: map[sight]Place{}, lists: map[placeName]bool{}, entering: map[sight][]state.Value{}, values: map[sight]state.Value{},
	}
}

// judge reports whether the run is lasting.
func (t *trial) judge() bool {
	for _, at := range t.run.looks {
		name := t.names[at]
		_, isObject := t.vocabulary.Key(name.sight.cell)
		switch {
		case name.listed:
			t.lists[listOf(name)] = true
		case !name.valued || !isObject:
			if t.missed.has(at) {
				return false // who holds versions, or what is remembered
			}
		default:
			t.places[name.sight] = at
		}
	}
	for _, at := range t.run.looks {
		for _, e := range t.missed.enter[at] {
			t.enters(e)
		}
	}
	return t.idles(t.machine.Root(t.run.it, t.run.begun), false)
}

// listOf names a list, whatever it shows.
func listOf(name placeName) placeName {
	return placeName{listed: true, kind: name.kind, namespace: name.namespace, selection: name.selection, sight: sight{view: name.sight.view, viewed: name.sight.viewed}}
}

// enters has what may come to be listed be tried. What the run sees anyhow, in another list or by its name, is tried by
// what that may become.
func (t *trial) enters(e entering) {
	if _, seen := t.places[e.sight]; seen {
		return
	}
	values := t.entering[e.sight]
	if values == nil {
		values = []state.Value{0}
	}
	for _, value := range e.values {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	t.entering[e.sight] = values
}

// idles reports whether the run does nothing from a node on, whatever it may see. Another run is one that has seen
// something else before.
func (t *trial) idles(n *behavior.Node, another bool) bool {
	switch {
	case n == nil || n.Varies() || n.Drawn:
		return false
	case n.Leaf != nil:
		return t.ends(n.Leaf)
	case n.Call == nil || len(n.Parked) > 0 || n.Earlier != nil:
		return false
	case another && len(n.Faults) > 0:
		return false // what comes of it if a call fails to which the run itself has not come is not known
	}
	return t.goesOn(n, another)
}

// goesOn reports whether the run does nothing from a call on, whatever it may see.
func (t *trial) goesOn(n *behavior.Node, another bool) bool {
	if t.tries++; t.tries > mostTries {
		return false
	}
	t.client = transition.ClientView{Actor: t.run.it.Actor}
	if n.Call.Source() == core.Live {
		t.client.Actor = nil
	}
	t.open, t.lost = nil, false
	answered := n.Look(t, nil)
	if answered == nil && t.open == nil && !t.lost && t.experiment != nil {
		t.err = t.experiment.run(t.run.it, t.values)
		answered = n.Look(t, nil)
	}
	switch {
	case t.lost, t.err != nil:
		return false
	case t.open != nil:
		return t.whatever(*t.open, n, another)
	case answered == nil || answered.Effects() || !t.knows(answered):
		return false
	}
	return t.idles(answered.Edge.To, another)
}

// knows reports whether an answer was learned before the search. Where all that is not known is tried, it makes no
// difference when it was.
func (t *trial) knows(answered *behavior.Answered) bool {
	looked, known := t.looks[answered]
	return known && (t.experiment != nil || looked.search < t.before)
}

// whatever tries each value that may be seen where a call looks.
func (t *trial) whatever(at sight, n *behavior.Node, another bool) bool {
	values, seen := t.entering[at], state.Value(0)
	if place, looks := t.places[at]; looks {
		seen = t.names[place].value
		if values = t.missed.become[place]; values == nil {
			values = []state.Value{seen}
		}
	}
	defer delete(t.values, at)
	return !slices.ContainsFunc(values, func(value state.Value) bool {
		t.values[at] = value
		return !t.goesOn(n, another || value != seen)
	})
}

// ends reports whether a run that ends so has done nothing, and is not waiting to do it.
func (t *trial) ends(leaf *behavior.Leaf) bool {
	search, known := t.ended[leaf]
	return known && (t.experiment != nil || search < t.before) && leaf.Failure == behavior.None && leaf.Mutated == "" && leaf.Late == nil && leaf.Memory == t.run.begun.Value &&
		!leaf.Result.Blocked && !leaf.Retried() && !leaf.Later()
}

// see returns what is seen in a place. Of what the run does not see there, nobody knows what it is until it is listed.
func (t *trial) see(at sight) state.Value {
	if _, looks := t.places[at]; !looks {
		t.lost = true
	}
	return t.choose(at)
}

// choose returns the value that is tried in a place.
func (t *trial) choose(at sight) state.Value {
	value, chosen := t.values[at]
	if !chosen {
		t.open = &at
	}
	return value
}

// Value implements [behavior.Cells].
func (t *trial) Value(c state.Cell) state.Value { return t.see(t.at(c)) }

// at returns how an object is seen by the call at hand.
func (t *trial) at(c state.Cell) sight {
	key, _ := t.vocabulary.Key(c)
	return seenBy(&t.client, key.Kind, c)
}

// Project implements [behavior.Cells].
func (t *trial) Project(p *state.Projection, c state.Cell) (state.Value, bool) {
	at := t.at(c)
	at.projection = p
	return t.see(at), true
}

// AppendSignature implements [behavior.Cells]. What the run did not see in the list, and is not known to enter, does
// not come to be there.
func (t *trial) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	list := placeName{listed: true, kind: kind, namespace: namespace, selection: selection, sight: seenBy(&t.client, kind, 0)}
	if !t.lists[listOf(list)] {
		t.lost = true
	}
	for _, c := range t.vocabulary.Kind(kind) {
		key, _ := t.vocabulary.Key(c)
		at := t.at(c)
		_, looks := t.places[at]
		if !looks && t.entering[at] == nil || namespace != "" && namespace != key.Namespace {
			continue
		}
		if value := t.choose(at); value != 0 && t.vocabulary.Evaluate(selection, c, value) {
			buffer = state.AppendSigned(buffer, c, value)
		}
	}
	return buffer, true
}

// AppendHeld implements [behavior.Cells]: who holds versions may change in any way.
func (t *trial) AppendHeld(buffer []byte, _ state.Cell) []byte {
	t.lost = true
	return buffer
}

// experiment runs code in states like one to which a search has come, in which something else is to be seen. There may
// be no such state: what goes wrong with the code there is said where the search comes to it.
type experiment struct {
	walker *transition.Walker
	state  state.Vector
}

// newExperiment returns an experiment in the state in which the walker's step began.
func newExperiment(w *Explorer) *experiment {
	return &experiment{walker: transition.NewWalker(w.Machine, w.Learn), state: before(w)}
}

// before returns the state in which the walker's step began.
func before(w *Explorer) state.Vector {
	vector := slices.Clone(w.Vector)
	for _, t := range slices.Backward(w.Touched) {
		vector[t.Cell] = t.Was
	}
	return vector
}

// run runs the code of an item with these values to be seen. An error ends the search.
func (s *experiment) run(it *transition.Item, values map[sight]state.Value) error {
	vector := slices.Clone(s.state)
	for at, value := range values {
		vector = with(vector, at.cell, value)
	}
	s.walker.Load(vector.AppendRow(nil))
	err := quietly(s.walker.Learn, func() error { return s.walker.StepsOf(glimpse{}, it) })
	if errors.Is(err, errUnfit) {
		return nil
	}
	return err
}

// with puts a value into a state, which may be too short for it.
func with(vector state.Vector, c state.Cell, value state.Value) state.Vector {
	if short := int(c) + 1 - len(vector); short > 0 {
		vector = append(vector, make(state.Vector, short)...)
	}
	vector[c] = value
	return vector
}

// quietly runs code in states that may never be: what goes wrong with it there is not said.
func quietly(l *transition.Learner, run func() error) error {
	where, fresh, incidents, seen := l.Where, l.Fresh, l.Incidents, maps.Clone(l.Seen)
	l.Incidents = slices.Clip(l.Incidents)
	err := run()
	for _, incident := range l.Incidents[len(incidents):] {
		if incident.Kind == core.Nondeterministic { // which is found out only where code is learned
			incidents, seen[transition.WrongOf(incident)] = append(incidents, incident), true
		}
	}
	l.Where, l.Fresh, l.Incidents, l.Seen = where, fresh, incidents, seen
	return err
}

// glimpse visits the first way in which a step may go.
type glimpse struct{}

// Took implements [transition.Visitor].
func (glimpse) Took(*transition.Taken) error { return errUnfit }

// Stopped implements [transition.Visitor].
func (glimpse) Stopped(_ *transition.Taken, err error) error {
	if transition.Ends(err) {
		return errUnfit
	}
	return err
}

package reduction

import (
	"encoding/binary"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
)

// A run that finds nothing to do is lasting if it would find as little whatever changes of what it looks at without waking its agent. The behavior tree tells: it
// is gone through with each of the values that may be seen instead. What is not known of it is taken to do something.

// missed is what may change of what an agent looks at without waking it, by place.
type missed struct {
	// inViews are the places that it sees through views, and places all of them, in order.
	places, inViews []Place
	// become are the values that may be seen in a place where a value is seen, that one first, and enter the objects that may come to be listed there.
	become map[Place][]state.Value
	enter  map[Place][]state.Cell
}

// has reports whether what is seen in a place may change.
func (m *missed) has(at Place) bool { return m.become[at] != nil || m.enter[at] != nil }

// judged is what was found out about runs that find nothing to do, although what they look at may change: whether they are lasting, by what they look at. What they were
// is asked once more at the end of a search: it must not have become something else.
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

// lasts reports whether the run of the walker's step, which does nothing and looks at this, is lasting. A walker that may not learn only knows what another one
// found out.
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
	run.lasting = f.judge(run, &f.settled.missed[it.Agent], f.searches)
	j.lasting[string(name)], j.runs = run.lasting, append(j.runs, run)
	return run.lasting, nil
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

// trial goes through the behavior tree of an agent with the values that its run may see. It implements [behavior.Cells].
type trial struct {
	*footprints
	run    idleRun
	missed *missed
	// before is the search before which everything was learned that counts.
	before int
	// places are where the run looks, by what is seen there, and lists those where it lists.
	places map[sight]Place
	lists  map[placeName]bool
	// values are those that are tried.
	values map[sight]state.Value
	tries  int
	// client is how the call at hand looks, open is where it looks although no value was chosen yet, and lost tells that it looks where the run does not.
	client transition.ClientView
	open   *sight
	lost   bool
}

// judge reports whether a run is lasting, by what was learned before a search.
func (f *footprints) judge(run idleRun, m *missed, before int) bool {
	t := &trial{
		footprints: f, run: run, missed: m, before: before,
		places: map[sight]Place{}, lists: map[placeName]bool{}, values: map[sight]state.Value{},
	}
	for _, at := range run.looks {
		name := f.names[at]
		_, isObject := f.vocabulary.Key(name.sight.cell)
		switch {
		case name.listed:
			t.lists[listOf(name)] = true
		case !name.valued || !isObject:
			if m.has(at) {
				return false // who holds versions, or what is remembered
			}
		default:
			t.places[name.sight] = at
		}
	}
	for _, at := range run.looks {
		if slices.ContainsFunc(m.enter[at], t.enters(f.names[at])) {
			return false
		}
	}
	return t.idles(f.machine.Root(run.it, run.begun), false)
}

// listOf names a list, whatever it shows.
func listOf(name placeName) placeName {
	return placeName{listed: true, kind: name.kind, namespace: name.namespace, selection: name.selection, sight: sight{view: name.sight.view, viewed: name.sight.viewed}}
}

// enters returns what reports whether an object may come to be listed: it does not if the run has seen it there.
func (t *trial) enters(list placeName) func(state.Cell) bool {
	return func(c state.Cell) bool {
		at := list.sight
		at.cell = c
		_, seen := t.places[at]
		return !seen
	}
}

// idles reports whether the run does nothing from a node on, whatever it may see. Another run is one that has seen something else before.
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
	switch {
	case t.lost:
		return false
	case t.open != nil:
		return t.whatever(*t.open, n, another)
	case answered == nil || answered.Effects() || !t.knows(answered):
		return false
	}
	return t.idles(answered.Edge.To, another)
}

// knows reports whether an answer was learned before the search.
func (t *trial) knows(answered *behavior.Answered) bool {
	looked, known := t.looks[answered]
	return known && looked.search < t.before
}

// whatever tries each value that may be seen where a call looks.
func (t *trial) whatever(at sight, n *behavior.Node, another bool) bool {
	place := t.places[at]
	seen := t.names[place].value
	values := t.missed.become[place]
	if values == nil {
		values = []state.Value{seen}
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
	return known && search < t.before && leaf.Failure == behavior.None && leaf.Mutated == "" && leaf.Late == nil && leaf.Memory == t.run.begun.Value &&
		!leaf.Result.Blocked && !leaf.Retried() && !leaf.Later()
}

// see returns what is seen in a place.
func (t *trial) see(at sight) state.Value {
	value, chosen := t.values[at]
	if _, looks := t.places[at]; !looks {
		t.lost = true
	} else if !chosen {
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

// AppendSignature implements [behavior.Cells]. What the run did not see in the list does not come to be there.
func (t *trial) AppendSignature(buffer []byte, kind core.Kind, namespace string, selection *state.Selection) ([]byte, bool) {
	list := placeName{listed: true, kind: kind, namespace: namespace, selection: selection, sight: seenBy(&t.client, kind, 0)}
	if !t.lists[listOf(list)] {
		t.lost = true
	}
	for _, c := range t.vocabulary.Kind(kind) {
		key, _ := t.vocabulary.Key(c)
		at := t.at(c)
		if _, looks := t.places[at]; !looks || namespace != "" && namespace != key.Namespace {
			continue
		}
		if value := t.see(at); value != 0 && t.vocabulary.Evaluate(selection, c, value) {
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

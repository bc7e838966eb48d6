package view

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// View is one controller's view of one kind. Its backlogs are values of its cell of a
// state: equal backlogs have equal values, and 0 is the empty one.
//
// A view only grows. It may be read by several goroutines as long as nobody adds to
// it; only [View.Commit] and [View.Restarted] do.
type View struct {
	vocabulary *state.Vocabulary
	rule       Rule
	kind       core.Kind
	cell       state.Cell

	entries   []entry // by value
	values    map[string]state.Value
	committed map[commit]state.Value
	restarted map[position]state.Value
}

// entry is a backlog with where its deliveries lead.
type entry struct {
	Backlog
	// takes is how many changes the next delivery takes, rest the backlog after it.
	takes int
	rest  state.Value
}

// commit is a change that is appended to a backlog.
type commit struct {
	to     state.Value
	change Change
}

// position is where a restart puts a view that has a backlog.
type position struct {
	from   state.Value
	behind int
}

// New returns the view of a strategy on a kind, with its cell in the vocabulary.
func New(vocabulary *state.Vocabulary, strategy string, kind core.Kind, rule Rule) *View {
	return &View{
		vocabulary: vocabulary,
		rule:       rule,
		kind:       kind,
		cell:       vocabulary.View(strategy, kind),
		entries:    []entry{{}},
		values:     map[string]state.Value{},
		committed:  map[commit]state.Value{},
		restarted:  map[position]state.Value{},
	}
}

// Cell returns the cell of the view.
func (v *View) Cell() state.Cell { return v.cell }

// Kind returns the kind that is viewed.
func (v *View) Kind() core.Kind { return v.kind }

// Rule returns the rule of the view.
func (v *View) Rule() Rule { return v.rule }

// Backlog returns the backlog of a value. It must not be changed.
func (v *View) Backlog(value state.Value) Backlog { return v.entries[value].Backlog }

// Committed returns the backlog after a change was committed, and false if that was not met
// before.
func (v *View) Committed(value state.Value, change Change) (state.Value, bool) {
	after, known := v.committed[commit{value, change}]
	return after, known
}

// Commit returns the backlog after a change was committed, before any delivery.
func (v *View) Commit(value state.Value, change Change) state.Value {
	after, known := v.Committed(value, change)
	if !known {
		after = v.intern(v.entries[value].with(v.rule, change, v.key))
		v.committed[commit{value, change}] = after
	}
	return after
}

// Forced returns how many deliveries must follow the commit that led to the backlog, as part
// of it. Own tells that the owner of the view committed the change itself.
func (v *View) Forced(value state.Value, own bool) int {
	return v.rule.forced(len(v.entries[value].Waiting), own)
}

// Deliver returns the changes that the next delivery brings, in order, and the backlog
// after it. There is none if nothing is waiting. The slice must not be changed.
func (v *View) Deliver(value state.Value) ([]Change, state.Value) {
	e := &v.entries[value]
	return e.Waiting[:e.takes], e.rest
}

// Positions returns at how many positions a restart may put the view: from 0 to one less
// changes behind the store. Only under [Restart] may it be further behind than before.
func (v *View) Positions(value state.Value) int {
	return 1 + v.entries[value].oldest(v.rule)
}

// Restarted returns the backlog after a restart that put the view a number of changes behind
// the store, which must be below [View.Positions].
func (v *View) Restarted(value state.Value, behind int) state.Value {
	p := position{value, behind}
	after, known := v.restarted[p]
	if !known {
		after = v.intern(v.entries[value].restarted(v.rule, behind))
		v.restarted[p] = after
	}
	return after
}

// Shown returns what the view shows of an object of its kind that holds a value in
// the store.
func (v *View) Shown(value state.Value, cell state.Cell, stored state.Value) state.Value {
	if value == 0 {
		return stored
	}
	return v.entries[value].shown(cell, stored)
}

// intern returns the value of a backlog, which it adds if it is new, and with it those
// that its deliveries lead to.
func (v *View) intern(b Backlog) state.Value {
	if b.empty() {
		return 0
	}
	identity := b.identity()
	if value, known := v.values[identity]; known {
		return value
	}
	takes, after := b.delivered(v.rule)
	e := entry{Backlog: b, takes: takes}
	// With nothing waiting a delivery leads nowhere.
	if takes > 0 {
		e.rest = v.intern(after)
	}
	var settled state.Value
	if canonical := b.mapped(v.vocabulary.Settled); !canonical.equal(b) {
		settled = v.intern(canonical)
	}
	value := v.vocabulary.Extend(v.cell, b.content(v.vocabulary), settled)
	if takes == 0 {
		e.rest = value
	}
	v.entries = append(v.entries, e)
	v.values[identity] = value
	return value
}

func (v *View) key(c state.Cell) core.Key {
	key, _ := v.vocabulary.Key(c)
	return key
}

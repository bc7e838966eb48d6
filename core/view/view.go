package view

import (
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// View is one controller's view of one kind. Its backlogs are values of its cell of a
// state: equal backlogs have equal values, and 0 is the empty one.
//
// A view only grows. It may be read by several goroutines as long as nobody adds to
// it; only [View.Commit], [View.Restart] and [View.Rename] do.
type View struct {
	vocabulary *state.Vocabulary
	rule       Rule
	kind       core.Kind
	cell       state.Cell

	entries   []entry // by value
	values    map[string]state.Value
	committed map[commit]state.Value
	restarted map[position]state.Value
	renamed   map[renaming]state.Value
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

// renaming is how versions in a backlog are brought to their canonical forms.
type renaming struct {
	from   state.Value
	cell   state.Cell
	normal *state.Normalization
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
		renamed:    map[renaming]state.Value{},
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

// Restarted returns the backlog after a restart, see [View.Restart], and false if that was not met before.
func (v *View) Restarted(value state.Value, behind int) (state.Value, bool) {
	after, known := v.restarted[position{value, behind}]
	return after, known
}

// Restart returns the backlog after a restart that put the view a number of changes behind
// the store, which must be below [View.Positions].
func (v *View) Restart(value state.Value, behind int) state.Value {
	after, known := v.Restarted(value, behind)
	if !known {
		after = v.intern(v.entries[value].restarted(v.rule, behind))
		v.restarted[position{value, behind}] = after
	}
	return after
}

// AppendVersions appends the versions of an object that the view shows or has yet to receive, as far
// as they are not in the store: some may occur more than once.
func (v *View) AppendVersions(versions []state.Value, value state.Value, cell state.Cell) []state.Value {
	if value == 0 {
		return versions
	}
	b := v.entries[value].Backlog
	for _, changes := range [][]Change{b.received, b.Waiting} {
		for _, c := range changes {
			if c.Cell == cell {
				versions = append(versions, c.From, c.To)
			}
		}
	}
	return versions
}

// AppendCells appends the cells of the objects in a backlog: some may occur more than once.
func (v *View) AppendCells(cells []state.Cell, value state.Value) []state.Cell {
	if value == 0 {
		return cells
	}
	b := v.entries[value].Backlog
	for _, changes := range [][]Change{b.received, b.Waiting} {
		for _, c := range changes {
			cells = append(cells, c.Cell)
		}
	}
	return cells
}

// Renamed returns the backlog with the versions of an object in their canonical forms, and false if that was not met
// before.
func (v *View) Renamed(value state.Value, cell state.Cell, normal *state.Normalization) (state.Value, bool) {
	after, known := v.renamed[renaming{value, cell, normal}]
	return after, known
}

// Rename returns the backlog with the versions of an object in their canonical forms.
func (v *View) Rename(value state.Value, cell state.Cell, normal *state.Normalization) state.Value {
	after, known := v.Renamed(value, cell, normal)
	if !known {
		after = v.intern(v.entries[value].renamed(cell, normal))
		v.renamed[renaming{value, cell, normal}] = after
	}
	return after
}

// Waiting returns how many changes the view has yet to receive.
func (v *View) Waiting(value state.Value) int { return len(v.entries[value].Waiting) }

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
	value := v.vocabulary.Extend(v.cell, b.content(v.vocabulary))
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

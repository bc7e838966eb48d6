package external

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// TableConfig says what a table is like. Only Kind is needed.
type TableConfig[T any] struct {
	// Kind is what reports call a record: "Instance". With the name of the service it is the kind of the objects:
	// "Instance.cloud".
	Kind string

	// Lag is how many changes of a record reads by [Table.GetStale] and [Table.AllStale] may lag behind.
	Lag int

	// Chosen says that the service chooses the names of the records, as with ids. Then it does not matter to outcomes
	// which it chose.
	Chosen bool

	// Outcome returns what of a record matters when two ends of a run are compared, nil if nothing does, such as of one
	// that is a mere tombstone. Without it, all of the record does.
	Outcome func(T) any

	// Initial are the records at the start, by their names.
	Initial map[string]T
}

// Table is a kind of records of a service, each with a name.
type Table[T any] struct {
	service *Service
	kind    core.Kind
	lag     int
}

// NewTable adds a table to a service.
func NewTable[T any](s *Service, config TableConfig[T]) *Table[T] {
	kind := core.Kind(config.Kind + "." + s.name)
	kept := &records{lag: config.Lag, chosen: config.Chosen, initial: map[string]string{}, outcome: func(content core.Content) any { return content.Fields() }}
	switch {
	case !isWord(config.Kind):
		s.Mistake("a table has the kind %q: set TableConfig.Kind to what a record is called, with letters, digits and dashes", config.Kind)
	case s.Owns(kind):
		s.Mistake("two tables have the kind %q: give each its own", config.Kind)
	case config.Lag < 0:
		s.Mistake("table %s: reads cannot lag behind by %d changes: use 0 or more", kind, config.Lag)
	}
	if err := keepable(reflect.TypeFor[T]()); err != nil {
		s.Mistake("table %s: %w", kind, err)
	}
	for name, value := range config.Initial {
		text, err := encoded(value)
		if err != nil {
			s.Mistake("table %s: the initial record %q cannot be kept: %w", kind, name, err)
		}
		if name == "" {
			s.Mistake("table %s: an initial record has no name", kind)
		}
		kept.initial[name] = text
	}
	if outcome := config.Outcome; outcome != nil {
		kept.outcome = func(content core.Content) any {
			value, err := decoded[T](content.Canonical())
			if err != nil {
				panic(fmt.Sprintf("a record of %s cannot be read: %v", kind, err))
			}
			matters := outcome(value)
			if matters == nil {
				return nil
			}
			text, err := encoded(matters)
			if err != nil {
				panic(fmt.Sprintf("what it returns is not of a kind that can be kept: %v", err))
			}
			return record{text: text}.Fields()
		}
		for _, name := range slices.Sorted(maps.Keys(kept.initial)) {
			if err := kept.hasOutcome(record{text: kept.initial[name]}); err != nil {
				s.Mistake("table %s: TableConfig.Outcome of the initial record %q: %w", kind, name, err)
			}
		}
	}
	s.tables[kind] = kept
	s.order = append(s.order, kind)
	if config.Lag > 0 {
		s.showsLate()
	}
	return &Table[T]{service: s, kind: kind, lag: config.Lag}
}

// Kind returns the kind of the records, as findings name it and properties select it: "Instance.cloud".
func (b *Table[T]) Kind() core.Kind { return b.kind }

func (b *Table[T]) key(name string) core.Key { return core.Key{Kind: b.kind, Name: name} }

// Get returns the record of a name, and false if there is none.
func (b *Table[T]) Get(t *Transaction, name string) (T, bool) {
	text, exists := t.text(b.key(name))
	return b.read(t, name, text, exists)
}

// GetStale is as Get, and may lag behind as far as the table says.
func (b *Table[T]) GetStale(t *Transaction, name string) (T, bool) {
	if shown := t.backlog(b.key(name)); len(shown) > 0 {
		return b.read(t, name, shown[0].Text, shown[0].Exists)
	}
	return b.Get(t, name)
}

// All returns all records with their names, in the order of these.
func (b *Table[T]) All(t *Transaction) iter.Seq2[string, T] { return b.each(t, false) }

// AllStale is as All, and may lag behind as far as the table says, for each record by itself.
func (b *Table[T]) AllStale(t *Transaction) iter.Seq2[string, T] { return b.each(t, true) }

func (b *Table[T]) each(t *Transaction, stale bool) iter.Seq2[string, T] {
	get, names := b.Get, t.names(b.kind)
	if stale {
		get, names = b.GetStale, t.shownNames(b.kind)
	}
	return func(yield func(string, T) bool) {
		for _, name := range names {
			if value, exists := get(t, name); exists && !yield(name, value) {
				return
			}
		}
	}
}

// Put creates or replaces the record of a name.
func (b *Table[T]) Put(t *Transaction, name string, value T) {
	if !t.mayWrite(b.service, "a record of "+string(b.kind)) {
		return
	}
	text, err := encoded(value)
	switch {
	case err != nil:
		_ = t.stop("the record %q of %s cannot be kept: %w", name, b.kind, err)
	case name == "":
		_ = t.stop("it puts a record of %s without a name: refuse what has none", b.kind)
	default:
		t.set(b.key(name), &text)
	}
}

// Delete deletes the record of a name, if there is one.
func (b *Table[T]) Delete(t *Transaction, name string) {
	if t.mayWrite(b.service, "a record of "+string(b.kind)) {
		t.set(b.key(name), nil)
	}
}

// read returns what a text holds.
func (b *Table[T]) read(t *Transaction, name, text string, exists bool) (value T, ok bool) {
	if !exists {
		return value, false
	}
	value, err := decoded[T](text)
	if err != nil {
		_ = t.stop("the record %q of %s cannot be read: %w", name, b.kind, err)
		return value, false
	}
	return value, true
}

// In returns the records of a state with their names, in the order of these, for properties: as they are, not as reads
// may still show them.
func (b *Table[T]) In(state core.Snapshot) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, o := range state.List(b.kind, "") {
			value, err := decoded[T](o.Content.Canonical())
			if err != nil {
				panic(fmt.Sprintf("external: %s cannot be read: %v", o.Key, err))
			}
			if !yield(o.Key.Name, value) {
				return
			}
		}
	}
}

// records is what a service knows of a table, whatever the type of its records is.
type records struct {
	lag     int
	chosen  bool
	initial map[string]string
	outcome func(core.Content) any
}

// hasOutcome returns an error if the outcome of a record cannot be had. It is asked before a record is kept, so that
// whoever compares ends of runs need not ask.
func (r *records) hasOutcome(content record) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panicked: %v (at %s)", value, goroutine.Culprit())
		}
	}()
	r.outcome(content)
	return nil
}

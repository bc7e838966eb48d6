package external

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Part is a part of the world besides the store that the controllers are made for.
type Part interface {
	// Name tells the part apart from others of its system. It has letters, digits and dashes. Calls of the part have
	// it, see [Addressed], and so have its kinds.
	Name() string

	// Store answers the calls of the part, and knows its objects. It may see the objects of other parts, and must leave
	// them alone.
	Store() core.Store

	// Owns reports whether objects of a kind are the part's.
	Owns(core.Kind) bool

	// Kinds are those of the part's kinds that may be read through caches.
	Kinds() []core.Kind

	// Players are strategies that belong to the part: what it does by itself.
	Players() []core.Strategy

	// Initial are the part's objects at the start.
	Initial() ([]core.Object, error)

	// Actions are what people do to the part, each once, at any moment, or never.
	Actions() []core.Action

	// Assumptions are sentences for reports about what the part takes for granted.
	Assumptions() []string

	// Validate returns an error that joins the mistakes in the definition of the part, and says what to change.
	Validate() error
}

// Addressed is a call to a part.
type Addressed interface {
	core.Call

	// Part is the name of the part that answers.
	Part() string
}

// Chooser is a [Part] that names objects by itself.
type Chooser interface {
	Part

	// Chosen reports whether the part chose the name of an object of the kind.
	Chosen(core.Kind) bool
}

// World is the store of a system with parts. What is asked of it goes to those of its stores that it makes a difference
// to.
type World interface {
	core.Dated
	core.Assuming
	core.Ordering
	core.Aging
	core.Counting
	core.Adopting
	core.Presuming
	core.Knowing
}

// Compose returns the store of a system with parts. It answers the calls to the parts by them, and all other calls by
// the main store. Snapshots and outcomes that it hands to the main store have the objects of the parts as well, which
// it must leave alone but for the names in them. The error joins the mistakes in the parts.
func Compose(main core.Store, parts ...Part) (World, error) {
	var errs []error
	named := map[string]Part{}
	for i, part := range parts {
		switch {
		case part == nil:
			errs = append(errs, fmt.Errorf("part number %d of the world is nil", i+1))
			continue
		case !isWord(part.Name()):
			errs = append(errs, fmt.Errorf("part number %d of the world is called %q: give it a name of letters, digits and dashes", i+1, part.Name()))
		case named[part.Name()] != nil:
			errs = append(errs, fmt.Errorf("two parts of the world are called %q: give each its own name", part.Name()))
		}
		named[part.Name()] = part
		if err := part.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", part.Name(), err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c := &composed{main: main, parts: parts, stores: map[string]core.Store{}}
	for _, part := range parts {
		c.stores[part.Name()] = part.Store()
	}
	return c, nil
}

// isWord reports whether a name can be part of a kind, so that it is clear where it begins and ends.
func isWord(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// composed is a store with parts beside it.
type composed struct {
	main  core.Store
	parts []Part
	// stores are those of the parts, by their names.
	stores map[string]core.Store
}

var _ World = (*composed)(nil)

// After implements [core.Dated], for those stores that name times.
func (c *composed) After(later time.Duration) core.Store {
	return c.with(func(store core.Store) core.Store { return after(store, later) })
}

// Ordered implements [core.Ordering], for those stores that name versions.
func (c *composed) Ordered() core.Store {
	return c.with(func(store core.Store) core.Store {
		if ordering, names := store.(core.Ordering); names {
			return ordering.Ordered()
		}
		return store
	})
}

// Aged implements [core.Aging], for those stores that show when objects were created.
func (c *composed) Aged(groups [][]core.Kind) core.Store {
	return c.with(func(store core.Store) core.Store {
		if aging, shows := store.(core.Aging); shows {
			return aging.Aged(groups)
		}
		return store
	})
}

// Ages implements [core.Aging].
func (c *composed) Ages() [][]core.Kind {
	var groups [][]core.Kind
	for _, store := range append([]core.Store{c.main}, slices.Collect(maps.Values(c.stores))...) {
		if aging, shows := store.(core.Aging); shows {
			for _, group := range aging.Ages() {
				groups = core.JoinAges(groups, group)
			}
		}
	}
	return groups
}

// Adopted implements [core.Adopting], for the main store: others name kinds of their own.
func (c *composed) Adopted(kinds []core.Kind) any {
	main := c.main
	if adopting, adopts := main.(core.Adopting); adopts {
		main, _ = adopting.Adopted(kinds).(core.Store)
	}
	return &composed{main: main, parts: c.parts, stores: c.stores}
}

// Knows implements [core.Knowing]. A store that does not say what it knows may have anything.
func (c *composed) Knows(kind core.Kind) bool {
	knowing, says := c.of(kind).(core.Knowing)
	return !says || knowing.Knows(kind)
}

// Making implements [core.Presuming], for those stores that presume.
func (c *composed) Making(keys []core.Key) core.Store {
	return c.with(func(store core.Store) core.Store {
		if presuming, presumes := store.(core.Presuming); presumes {
			return presuming.Making(keys)
		}
		return store
	})
}

// Counted implements [core.Counting], for those stores that count.
func (c *composed) Counted(kinds []core.Kind) core.Store {
	return c.with(func(store core.Store) core.Store {
		if counting, counts := store.(core.Counting); counts {
			return counting.Counted(kinds)
		}
		return store
	})
}

// Further implements [core.Counting].
func (c *composed) Further(by map[core.Key]int) core.Further {
	var each core.FurtherEach
	further := func(store core.Store, owns func(core.Kind) bool) {
		if counting, counts := store.(core.Counting); counts {
			own := maps.Clone(by)
			maps.DeleteFunc(own, func(key core.Key, _ int) bool { return !owns(key.Kind) })
			each = append(each, counting.Further(own))
		}
	}
	further(c.main, c.mains)
	for _, part := range c.parts {
		further(c.stores[part.Name()], part.Owns)
	}
	return each
}

// with returns the composition of others of its stores.
func (c *composed) with(other func(core.Store) core.Store) core.Store {
	all := &composed{main: other(c.main), parts: c.parts, stores: map[string]core.Store{}}
	for name, store := range c.stores {
		all.stores[name] = other(store)
	}
	return all
}

func after(store core.Store, later time.Duration) core.Store {
	if dated, names := store.(core.Dated); names {
		return dated.After(later)
	}
	return store
}

// Assumptions implements [core.Assuming].
func (c *composed) Assumptions() []string {
	all := assumptions(c.main)
	for _, part := range c.parts {
		all = append(all, assumptions(c.stores[part.Name()])...)
	}
	return all
}

func assumptions(store core.Store) []string {
	if assuming, ok := store.(core.Assuming); ok {
		return assuming.Assumptions()
	}
	return nil
}

// Answer implements [core.Store].
func (c *composed) Answer(s core.Snapshot, call core.Call) (core.Answer, error) {
	addressed, ok := call.(Addressed)
	if !ok {
		return c.main.Answer(surrounded{s, c, ""}, call)
	}
	store, known := c.stores[addressed.Part()]
	if !known {
		return core.Answer{}, &core.Unsupported{Call: call.String(), Reason: fmt.Sprintf("%s is not part of the system: add it with the option External", addressed.Part())}
	}
	return store.Answer(surrounded{s, c, addressed.Part()}, call)
}

// Faults implements [core.Store].
func (c *composed) Faults(call core.Call) []core.Fault {
	addressed, ok := call.(Addressed)
	if !ok {
		return c.main.Faults(call)
	}
	if store, known := c.stores[addressed.Part()]; known {
		return store.Faults(call)
	}
	return nil
}

// of returns the store that knows the objects of a kind.
func (c *composed) of(kind core.Kind) core.Store {
	for _, part := range c.parts {
		if part.Owns(kind) {
			return c.stores[part.Name()]
		}
	}
	return c.main
}

// mains reports whether objects of a kind are those of the main store.
func (c *composed) mains(kind core.Kind) bool {
	return !slices.ContainsFunc(c.parts, func(p Part) bool { return p.Owns(kind) })
}

// Normalize implements [core.Store].
func (c *composed) Normalize(key core.Key, versions []core.Content, pinned []bool) []core.Content {
	return c.of(key.Kind).Normalize(key, versions, pinned)
}

// Outcome implements [core.Store].
func (c *composed) Outcome(key core.Key, content core.Content) any {
	return c.of(key.Kind).Outcome(key, content)
}

// CanonicalOutcome implements [core.Store]: names that parts have chosen are replaced first, wherever they stand. Then
// each store replaces what it has chosen, in the outcome of all objects: it gets those of its own to see what that is.
func (c *composed) CanonicalOutcome(objects []core.Object, outcome map[core.Key]any) map[core.Key]any {
	outcome = withoutChosen(c.chosen(objects), outcome)
	outcome = c.main.CanonicalOutcome(c.among(objects, c.mains), outcome)
	for _, part := range c.parts {
		outcome = c.stores[part.Name()].CanonicalOutcome(c.among(objects, part.Owns), outcome)
	}
	return outcome
}

// among returns the objects of some kinds.
func (c *composed) among(objects []core.Object, of func(core.Kind) bool) []core.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o core.Object) bool { return !of(o.Key.Kind) })
}

// chosen returns the names among those of the objects that parts have chosen, in order.
func (c *composed) chosen(objects []core.Object) []string {
	var names []string
	for _, o := range objects {
		for _, part := range c.parts {
			if chooser, ok := part.(Chooser); ok && chooser.Chosen(o.Key.Kind) {
				names = append(names, o.Key.Name)
			}
		}
	}
	return names
}

// surrounded is a snapshot for the store of a part, or for the main one if the name is empty.
type surrounded struct {
	core.Snapshot
	of   *composed
	part string
}

var (
	_ core.Selective  = surrounded{}
	_ core.Projecting = surrounded{}
	_ core.Caching    = surrounded{}
	_ core.Surrounded = surrounded{}
)

// NotedBeside implements [core.Surrounded].
func (s surrounded) NotedBeside(name string) bool {
	notes := func(store core.Store) bool {
		noting, knows := store.(core.Noting)
		return knows && noting.Notes(s.Snapshot, name)
	}
	return s.part != "" && notes(s.of.main) ||
		slices.ContainsFunc(s.of.parts, func(part Part) bool { return part.Name() != s.part && notes(s.of.stores[part.Name()]) })
}

// Select implements [core.Selective].
func (s surrounded) Select(kind core.Kind, namespace string, of core.Selection) []core.Object {
	return core.Select(s.Snapshot, kind, namespace, of)
}

// Project implements [core.Projecting].
func (s surrounded) Project(key core.Key, of core.Projection) core.Content {
	return core.Project(s.Snapshot, key, of)
}

// ReadsCache implements [core.Caching].
func (s surrounded) ReadsCache(who string, kind core.Kind) {
	if caching, notes := s.Snapshot.(core.Caching); notes {
		caching.ReadsCache(who, kind)
	}
}

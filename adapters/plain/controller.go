package plain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Controller is a control loop: changes of what it watches put requests into its
// work queue, and it reconciles them one at a time.
type Controller struct {
	// Name tells the controller apart within its model.
	Name string

	// Watches say which changes fill the work queue.
	Watches []Watch

	// Caches are kinds that it reads through its cache without watching them: their changes put nothing into the work
	// queue, and what it reads of them may be stale.
	Caches []core.Kind

	// Requests are in the work queue at start, besides those for the objects that exist then.
	Requests []core.Request

	// Reconcile works on one request. Watched and cached kinds are read from the
	// controller's own view, all others from the store.
	Reconcile func(*World, core.Request) core.Result

	// Workers is how many requests may be in flight at once; 0 means 1.
	Workers int
	// Merging says that the work queue has one entry for each request, see [core.Description.Merging].
	Merging bool

	// Unfair lifts the assumption that work which stays in the queue is
	// eventually taken.
	Unfair bool
}

// Watch says what a change of an object of a kind puts into the work queue.
type Watch struct {
	Kind core.Kind
	// Map returns the requests for a created, changed or deleted object. Nil
	// means one request: the name of the object.
	Map func(core.Key) []core.Request
}

func (c Controller) validate() error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("controller %q "+format, append([]any{c.Name}, args...)...))
	}
	if c.Reconcile == nil {
		fail("does nothing: set Reconcile")
	}
	kinds := map[core.Kind]bool{}
	for _, w := range c.Watches {
		if kinds[w.Kind] {
			fail("watches %q twice: let one Map return the requests of both", w.Kind)
		}
		kinds[w.Kind] = true
	}
	for _, kind := range c.Caches {
		if kinds[kind] {
			fail("caches %q, which it watches or caches already: name it once", kind)
		}
		kinds[kind] = true
	}
	return errors.Join(errs...)
}

// controller is a [Controller] as a [core.Strategy]. It has no memory, so it is
// its own and only instance.
type controller struct {
	description core.Description
	maps        map[core.Kind]func(core.Key) []core.Request
	reconcile   func(*World, core.Request) core.Result
	// cached are the kinds that it reads from its own view.
	cached []core.Kind
}

func (c Controller) strategy() core.Strategy {
	s := &controller{
		description: core.Description{
			Name:    c.Name,
			Caches:  c.Caches,
			Initial: c.Requests,
			Unfair:  c.Unfair,
			Workers: c.Workers,
			Merging: c.Merging,
		},
		maps:      make(map[core.Kind]func(core.Key) []core.Request, len(c.Watches)),
		reconcile: c.Reconcile,
	}
	for _, w := range c.Watches {
		s.description.Watches = append(s.description.Watches, w.Kind)
		s.maps[w.Kind] = w.Map
	}
	s.cached = slices.Concat(s.description.Watches, c.Caches)
	return s
}

func (s *controller) Describe() core.Description { return s.description }

func (s *controller) New() (core.Instance, error) { return s, nil }

func (s *controller) Handle(_ core.EffectRecorder, event core.Event) []core.Request {
	if m := s.maps[event.Key.Kind]; m != nil {
		return m(event.Key)
	}
	return []core.Request{core.Request(event.Key.Name)}
}

func (s *controller) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	w := &World{recorder: recorder, cached: s.cached}
	return w.run(func() core.Result { return s.reconcile(w, request) })
}

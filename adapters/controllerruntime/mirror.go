package controllerruntime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// mirror is a controller whose memory is a function of what the cache shows. It is made anew for each run.
type mirror struct {
	strategy *strategy
	// fresh is an instance that has not run, for the next one.
	fresh *instance
	// used is the instance of the last run, nil before the first.
	used *instance
}

var (
	_ core.Plural = (*mirror)(nil)
	_ core.Lender = (*mirror)(nil)
)

// Mutated implements [core.Lender].
func (m *mirror) Mutated() string {
	if m.used == nil {
		return ""
	}
	return m.used.Mutated()
}

// Of implements [core.Plural].
func (m *mirror) Of(controller string) core.Instance {
	of, ok := m.fresh.Of(controller).(*instance)
	if !ok {
		return nil
	}
	return &mirror{strategy: m.strategy, fresh: of}
}

// Reconcile implements [core.Instance].
func (m *mirror) Reconcile(recorder core.EffectRecorder, request core.Request) core.Result {
	i, err := m.filled(recorder)
	if err != nil {
		return core.Result{Err: err}
	}
	before := i.Memory()
	result := i.Reconcile(recorder, request)
	i.unchanged(before)
	return result
}

// Handle implements [core.Instance].
func (m *mirror) Handle(recorder core.EffectRecorder, event core.Event) []core.Request {
	i, err := m.filled(recorder)
	if err != nil {
		panic(fmt.Sprintf("controllerruntime: an event of %s cannot be handled: %v", event.Key, err))
	}
	before := i.Memory()
	requests := i.Handle(recorder, event)
	i.unchanged(before)
	return requests
}

// unchanged makes sure that a run has left the memory as it was: what it changes is no function of what the cache
// shows, which has the object of an event already.
func (i *instance) unchanged(before map[string]string) {
	after := i.Memory()
	for _, field := range slices.Sorted(maps.Keys(after)) {
		if was, there := before[field]; !there || was != after[field] {
			i.assembly.current.Unmodelled(fmt.Sprintf("keeping %s in memory, which %s changes by itself", field, i.registered.name),
				"MemoryFromCache says that it is a function of what the cache shows: leave that option out")
		}
	}
}

// filled returns a fresh instance that has handled a create event for every object in the cache of its process.
func (m *mirror) filled(recorder core.EffectRecorder) (*instance, error) {
	whole, err := m.strategy.instance()
	if err != nil {
		return nil, err
	}
	whole.assembly.begin(recorder)
	for _, c := range whole.process {
		for _, w := range c.watches.handlers {
			objects, err := whole.assembly.cache.view.Watched(context.Background(), w)
			if err != nil {
				return nil, err
			}
			for _, object := range objects {
				w.Handler.OnAdd(object, true)
			}
		}
		c.queue.take()
	}
	m.used = whole.Of(m.fresh.registered.name).(*instance)
	return m.used, nil
}

// mirrored reports whether the controllers of a process remember nothing but what the cache shows.
func (b *blueprint) mirrored(process []*registered) bool {
	return slices.ContainsFunc(process, func(c *registered) bool { return slices.Contains(b.mirrors, c.name) })
}

// checkMirrors says what is taken for granted of the controllers that the options name. The error names those that
// there are if there is none of a name.
func (b *blueprint) checkMirrors(found *assembly) error {
	var names []string
	for _, c := range found.controllers {
		names = append(names, c.name)
	}
	for _, name := range b.mirrors {
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("MemoryFromCache names %q, and there is no such controller: use one of %s", name, strings.Join(names, ", "))
		}
		if setup := found.controllers[i].setup; found.active(setup) {
			return fmt.Errorf("MemoryFromCache names %q, and something that its set-up registers works between reconciles and has memory, too: leave out that option, or what is not a controller with WithoutRunnables and WithoutSources", name)
		}
		found.Assume("What %s keeps in memory is a function of what its cache shows, and is never behind it.", cmp.Or(processName(found.process(found.controllers[i].setup)), name))
	}
	return nil
}

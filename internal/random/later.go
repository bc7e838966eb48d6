package random

import (
	"hash/fnv"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Later returns the family of systems that are as those of another one, but that some calls, be they those of
// reconciles, of event handlers or of users, set timers for items besides what they do, and that some messages come
// later.
func Later(compose func(seed uint64) (*core.System, error)) func(seed uint64) (*core.System, error) {
	return func(seed uint64) (*core.System, error) {
		system, err := compose(seed)
		if err != nil {
			return nil, err
		}
		d := delaying{Store: system.Store, seed: seed}
		for _, strategy := range system.Strategies {
			s := strategy.Describe()
			requests := s.Initial
			if len(requests) == 0 && len(s.Watches) > 0 {
				requests = []core.Request{"n0"}
			}
			for _, request := range requests {
				d.items = append(d.items, core.Item{Strategy: s.Name, Request: request})
			}
		}
		system.Name += ", later"
		system.Store = d
		return system, nil
	}
}

// delaying is a store of which some calls set timers for items.
type delaying struct {
	core.Store
	seed  uint64
	items []core.Item
}

// Answer implements [core.Store]. For which items timers are set follows from the call.
func (d delaying) Answer(snapshot core.Snapshot, call core.Call) (core.Answer, error) {
	answer, err := d.Store.Answer(snapshot, call)
	if err != nil {
		return answer, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(call.Identity()))
	of := h.Sum64()/3 + d.seed
	if of%3 == 0 {
		answer.Enqueue, answer.EnqueueAfter = nil, slices.Clip(answer.Enqueue)
	}
	if of%5 < 2 && len(d.items) > 0 {
		answer.EnqueueAfter = append(answer.EnqueueAfter, d.items[of/5%uint64(len(d.items))])
	}
	return answer, nil
}

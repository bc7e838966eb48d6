package naive

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// parked unwinds a run that has made all the calls it may make for now.
type parked struct{}

// restarts returns the states after a crash of a process: one for each combination of the positions of its views.
func (e *explorer) restarts(from State, c crew) ([]State, error) {
	if !slices.ContainsFunc(c, e.conditions.faulty) {
		return nil, nil
	}
	from.crashes++
	if !e.conditions.Immortal {
		from = from.withoutMemory(c.name())
	}
	for _, item := range from.work {
		if c.has(item.Strategy) {
			from.work = remove(from.work, item)
		}
	}
	for _, item := range from.timers {
		if c.has(item.Strategy) {
			from.timers = remove(from.timers, item)
		}
	}
	for _, item := range from.behind {
		if c.has(item.Strategy) {
			from.behind = remove(from.behind, item)
		}
	}
	for item := range from.flights {
		if c.has(item.Strategy) {
			from = from.withFlight(item, flight{}, false)
		}
	}
	states := []State{from}
	for _, kind := range c.views() {
		rule := e.conditions.rule(c.name(), kind)
		if rule.Name == "fresh" {
			continue
		}
		var more []State
		for _, s := range states {
			of := stream{c.name(), kind}
			for _, b := range s.backlogs[of].restarts(rule) {
				more = append(more, s.withBacklog(of, b))
			}
		}
		states = more
	}
	for i, s := range states {
		t := e.turn(s)
		err := answered(func() {
			for _, p := range c {
				for _, request := range p.Initial {
					t.enqueue(core.Item{Strategy: p.Name, Request: request})
				}
				for _, kind := range p.Watches {
					for _, o := range (snapshot{s, c.name()}).List(kind, "") {
						t.deliver(core.Event{Key: o.Key, New: o.Content, Initial: true}, crew{p})
					}
				}
			}
			t.settle()
		})
		if err != nil {
			return nil, err
		}
		states[i] = t.state
	}
	return states, nil
}

// crashes returns the states after a reconcile that crashed before one of its writes or messages but the first, and a
// restart.
func (e *explorer) crashes(from State, p player, item core.Item) ([]State, error) {
	var states []State
	err := eachSchedule(func(s *schedule) error {
		t := e.turn(from)
		t.state.work = remove(t.state.work, item)
		t.acting, t.mortal, t.schedule = p, true, s
		t.drawing = e.drawing(from, item)
		cut := false
		err := answered(func() {
			defer func() {
				if reason := recover(); reason != nil {
					if _, cut = reason.(parked); !cut {
						panic(reason)
					}
				}
			}()
			t.busy(p, func(instance core.Instance) { t.run(instance, p, item.Request) })
		})
		if err != nil || !cut {
			return err
		}
		after, err := e.restarts(t.state, e.crewOf(p))
		states = append(states, after...)
		return err
	})
	return states, err
}

// next runs an item in flight, as scheduled, to its next call or to its end: done tells which.
func (e *explorer) next(from State, p player, item core.Item, s *schedule, answer bool) (to State, result core.Result, wrote, done bool, err error) {
	t := e.turn(from)
	t.acting, t.replies, t.flying, t.schedule = p, from.flights[item].given, true, s
	if answer {
		t.replies = append(t.replies[:len(t.replies):len(t.replies)], nil)
	}
	t.drawing = e.drawing(from, item)
	done = true
	err = answered(func() {
		defer func() {
			if reason := recover(); reason != nil {
				if _, ok := reason.(parked); !ok {
					panic(reason)
				}
				done = false
			}
		}()
		instance := t.awake(p)
		result = t.run(instance, p, item.Request)
		t.remember(p, instance)
	})
	if err != nil {
		return from, result, false, false, err
	}
	t.state = t.state.withFlight(item, flight{given: t.given, chosen: s.turns, draw: t.drawing.number, drew: len(t.drawing.drawn) > 0}, true)
	t.settle()
	return t.state, result, len(t.written) > 0, done, nil
}

package orrery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties"
)

// rungs returns the conditions that make sense for a system, those that are searched soon before others.
func rungs(system *core.System, options Options) []Rung {
	all := []Rung{{Name: "nothing goes wrong", Options: options}}
	add := func(name string, change func(*Options)) {
		if r := options.rung(system, name, change); r != nil {
			all = append(all, *r)
		}
	}
	c := checkedIn(system)
	if len(c.cached) > 0 {
		add("caches miss the latest change", c.latest)
	}
	faults := []struct {
		name   string
		change func(*Options)
	}{
		{"a controller crashes once", func(o *Options) { o.Crashes, o.FaultsIn = 1, c.faulty }},
		{"a call fails once", func(o *Options) { o.Failures, o.FaultsIn = 1, c.faulty }},
	}
	for _, fault := range faults {
		add(fault.name, fault.change)
	}
	if len(c.processes) > 0 {
		add("others act between the calls of a reconcile", func(o *Options) { o.Granularity = PerCall })
	}
	for _, scenario := range system.Implied {
		all = append(all, Rung{Name: actions(scenario), Options: options, system: playing(system, scenario)})
	}
	for _, scenario := range system.Implied {
		for _, fault := range faults {
			if r := options.rung(system, fault.name+", and "+actions(scenario), fault.change); r != nil {
				r.system = playing(system, scenario)
				all = append(all, *r)
			}
		}
	}
	for _, process := range c.processes {
		add("two instances of "+process+" are at work", func(o *Options) { o.Doubles, o.Granularity = []string{process}, PerCall })
	}
	return all
}

// rung returns the rung on which something may go wrong, nil if there is nobody whom it could befall.
func (o Options) rung(system *core.System, name string, change func(*Options)) *Rung {
	r := Rung{Name: name, Options: o}
	r.Options.Granularity = PerReconcile
	change(&r.Options)
	if _, err := r.Options.conditions(system); err != nil {
		return nil
	}
	return &r
}

// batched returns the rung on which caches may miss as many changes of a kind as one reconcile was found to make on the
// first, nil if none makes several. Where one makes two, a cache that misses one of them hides what comes of missing
// both.
func batched(system *core.System, options Options, first *Result) *Rung {
	c := checkedIn(system)
	space, searched := first.Graph.(*explore.Space)
	if len(c.cached) == 0 || !searched {
		return nil
	}
	batches, caches := space.Batches(), space.Caches()
	maps.DeleteFunc(batches, func(_ core.Kind, changes int) bool { return changes < 2 })
	var stale []Staleness
	var most []string
	for _, kind := range slices.Sorted(maps.Keys(batches)) {
		before := len(stale)
		for _, process := range c.cached {
			if slices.Contains(caches[process], kind) {
				stale = append(stale, Staleness{Controller: process, Kind: kind, Rule: Lag(batches[kind])})
			}
		}
		if len(stale) > before {
			most = append(most, strings.TrimSuffix(fmt.Sprintf("%d of %s", batches[kind], kind), " of "))
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return options.rung(system, "caches miss all that one reconcile changes: "+strings.Join(most, ", "), func(o *Options) {
		c.latest(o)
		o.Stale = append(o.Stale, stale...)
	})
}

// bereft returns the rung on which somebody deletes an object that controllers have made, once all has settled, nil if
// they were not seen to make any on the first.
func bereft(ctx context.Context, system *core.System, options Options, first *Result) *Rung {
	if system.Deletion == nil {
		return nil
	}
	made := made(ctx, system, first.Graph)
	if len(made) == 0 {
		return nil
	}
	return options.noticing(system, "somebody deletes one object that controllers have made: "+few(made), befalling(system, made))
}

// changed returns the rung on which somebody changes one of the initial objects, once all has settled, nil if there is
// nothing to change.
func changed(system *core.System, options Options) *Rung {
	if len(system.Changes) == 0 {
		return nil
	}
	scenario := core.Scenario{Actions: system.Changes, Alternatives: true}
	var names []string
	for _, action := range scenario.Actions {
		names = append(names, strings.TrimPrefix(action.Name, "change "))
	}
	return options.noticing(system, "somebody changes one value: "+few(names), scenario)
}

// noticing returns the rung on which somebody acts, and nothing is judged but whether controllers notice: a reconcile
// behind it would change nothing. What is to come of it is theirs to decide, and properties of the system may well be
// broken by the action itself. It is nil if the system is not to settle.
func (o Options) noticing(system *core.System, name string, scenario core.Scenario) *Rung {
	i := slices.IndexFunc(system.Properties, func(p core.Property) bool { return p.Name == properties.Fixpoint().Name })
	if i < 0 {
		return nil
	}
	r := o.rung(system, name, func(*Options) {})
	if r != nil {
		r.system = playing(system, scenario)
		r.system.Properties = system.Properties[i : i+1]
	}
	return r
}

// made returns objects that are there where a system has settled without any user, and that the controllers which are
// checked have made, in the order of their keys.
func made(ctx context.Context, system *core.System, graph core.Graph) []core.Key {
	const ends, most = 4, 16 // many more take the time of other rungs
	checks := func(controller string) bool {
		return controller != core.User && !slices.Contains(system.Surroundings, controller)
	}
	var keys []core.Key
	looked := 0
	for _, end := range graph.Quiescent() {
		if ctx.Err() != nil || looked == ends {
			break
		}
		if len(graph.History(end)) > 0 {
			continue
		}
		looked++
		run, _ := graph.Shortest(func(id core.StateID) bool { return id == end })
		for _, edge := range run {
			if !checks(edge.Step.Item.Strategy) {
				continue
			}
			for _, change := range graph.Effect(edge).Changes {
				if change.Before == nil && !slices.Contains(keys, change.Key) && graph.State(end).Get(change.Key) != nil {
					keys = append(keys, change.Key)
				}
			}
		}
	}
	slices.SortFunc(keys, core.Key.Compare)
	return keys[:min(len(keys), most)]
}

// befalling returns the scenario in which somebody deletes one of some objects, once all has settled.
func befalling(system *core.System, keys []core.Key) core.Scenario {
	s := core.Scenario{Alternatives: true}
	for _, key := range keys {
		action := system.Deletion(key)
		action.Settled = true
		s.Actions = append(s.Actions, action)
	}
	return s
}

// few names things, the first three of them if there are many.
func few[T any](all []T) string {
	const most = 3
	more := ""
	if n := len(all) - most; n > 1 {
		all, more = all[:most], fmt.Sprintf(" and %d more", n)
	}
	var names []string
	for _, one := range all {
		names = append(names, fmt.Sprint(one))
	}
	return strings.Join(names, ", ") + more
}

// playing returns a system with another scenario.
func playing(system *core.System, scenario core.Scenario) *core.System {
	other := *system
	other.Scenario = scenario
	return &other
}

// actions names what users do in a scenario.
func actions(s core.Scenario) string {
	var names []string
	for _, action := range s.Actions {
		names = append(names, action.Name)
	}
	return "a user takes the actions: " + strings.Join(names, ", then ")
}

// checked are the processes of a system whose controllers are checked, without those around them and without models.
type checked struct {
	processes []string
	// cached are those that have caches.
	cached []string
	// faulty is what to confine faults to, nil if all are checked.
	faulty []string
}

// latest lets their caches miss the latest change of each kind.
func (c checked) latest(o *Options) {
	for _, process := range c.cached {
		o.Stale = append(o.Stale, Staleness{Controller: process, Rule: Lag(1)})
	}
}

func checkedIn(system *core.System) checked {
	var c checked
	for _, strategy := range system.Strategies {
		d := strategy.Describe()
		if slices.Contains(system.Surroundings, d.Name) || d.Messages || len(d.Standing) > 0 {
			continue
		}
		if process := d.ProcessName(); !slices.Contains(c.processes, process) {
			c.processes = append(c.processes, process)
		}
		if len(d.Watches)+len(d.Caches) > 0 && !slices.Contains(c.cached, d.ProcessName()) {
			c.cached = append(c.cached, d.ProcessName())
		}
	}
	if len(system.Surroundings) > 0 {
		c.faulty = c.processes
	}
	return c
}

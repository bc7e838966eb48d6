package properties

import (
	"context"
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// StatusFollowsSpec holds if the status of the objects of a kind is never ahead of their spec, and has caught up when
// all is quiet: no observedGeneration in a status is ever above metadata.generation, and in every quiescent state
// status.observedGeneration equals it. Where the status has none of its own, the newest of its conditions counts.
// Objects that are being deleted need not catch up.
//
// It finds controllers that report what they have not seen, and specs that nobody looks at again.
//
// It misses a status that claims a generation which its controller has not read, as long as there is such a generation:
// a controller that writes the newest number over a status made from an older spec. [StalenessSafety] finds that where
// it shows in the end.
func StatusFollowsSpec(kind core.Kind) core.Property {
	o := observing{kind}
	return core.Property{
		Name:  fmt.Sprintf("the status of %s follows its spec", kind),
		Kinds: []core.Kind{kind},
		Doc:   fmt.Sprintf("No status of a %s is ahead of its spec, and when the system is quiescent, it is up to date.", kind),
		Judge: o.judge,
		// It looks at the versions of single objects, and at ends: see changes.
		Ends: true,
	}
}

type observing struct{ kind core.Kind }

// generations are what an object says of itself.
type generations struct {
	spec float64
	// status is what the status says by itself, or else the newest of its conditions; newest is the newest of all.
	status, newest float64
}

// judge tells one violation of each cause: ahead, or behind.
func (o observing) judge(ctx context.Context, g core.Graph) ([]core.Violation, error) {
	var found causes
	ahead := func(n generations) bool { return n.newest > n.spec }
	behind := func(n generations) bool { return n.status < n.spec }
	if err := o.look(ctx, g, &found, every(g, func(core.StateID) bool { return true }), ahead, "the status of %s reports observed generation %v, but its generation is only %v"); err != nil {
		return nil, err
	}
	ends, err := Ends(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := o.look(ctx, g, &found, ends, behind, "the system is quiescent, but the status of %s still reports generation %v instead of %v"); err != nil {
		return nil, err
	}
	return found.violations(), nil
}

// look tells of the objects that are wrong in some of the states, by the run that takes least.
func (o observing) look(ctx context.Context, g core.Graph, found *causes, states []core.StateID, wrong func(generations) bool, text string) error {
	at := map[core.StateID]core.Object{}
	var keys []core.Key
	seen := map[core.Key]bool{}
	for _, id := range states {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, object := range g.State(id).List(o.kind, "") {
			if n, counts := generationsOf(object.Content.Fields()); !counts || !wrong(n) {
				continue
			}
			if _, known := at[id]; !known {
				at[id] = object
			}
			if !seen[object.Key] {
				seen[object.Key] = true
				keys = append(keys, object.Key)
			}
		}
	}
	has := func(id core.StateID) bool { _, is := at[id]; return is }
	stem, reached := g.Shortest(has)
	if !reached {
		return nil
	}
	end := stem.EndIn(g, has)
	object := at[end]
	n, _ := generationsOf(object.Content.Fields())
	status := n.status
	if n.newest > n.spec {
		status = n.newest
	}
	v := core.Violation{
		Summary: fmt.Sprintf(text, object.Key, status, n.spec),
		Fields:  []string{field{object.Key, "status.observedGeneration"}.String()},
		Stem:    stem,
		State:   end,
	}
	if len(stem) > 0 {
		v.Controllers = []string{stem[len(stem)-1].Step.Item.Strategy}
	}
	why := causeOf(text)
	found.tell(why, object.Key.String(), v)
	for _, key := range keys {
		found.known(why, key.String())
	}
	return nil
}

// generationsOf returns what an object says of its generations, and false if it has none, or is being deleted.
func generationsOf(fields any) (generations, bool) {
	if deleted, _ := lookup(fields, "metadata.deletionTimestamp"); deleted != nil {
		return generations{}, false
	}
	spec, counted := numberAt(fields, "metadata.generation")
	if !counted {
		return generations{}, false
	}
	status, own := numberAt(fields, "status.observedGeneration")
	n := generations{spec: spec, status: status, newest: status}
	list, _ := lookup(fields, "status.conditions")
	conditions, _ := list.([]any)
	for _, condition := range conditions {
		observed, _ := numberAt(condition, "observedGeneration")
		n.newest = max(n.newest, observed)
		if !own {
			n.status = n.newest
		}
	}
	return n, true
}

package properties

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// NoPanic holds if no controller code panics.
func NoPanic() core.Property {
	return conduct("no panic", "No controller panics, whatever it reads.", core.Panicked,
		"A manager that recovers panics retries the request; without that, the process crashes and restarts.")
}

// NoStuckReconcile holds if all controller code that is run comes back.
func NoStuckReconcile() core.Property {
	return conduct("no stuck reconcile", "Every reconcile and event handler returns: no deadlock, no endless loop, no goroutine left blocked, no end of the process.", core.Stuck,
		"A worker that never returns takes no further request. The states after this step were not searched.")
}

// NoRunaway holds if no reconcile makes calls without end.
func NoRunaway() core.Property {
	return conduct("no runaway reconcile", "No reconcile makes calls without end.", core.Runaway,
		"The states after this step were not searched.")
}

// Deterministic holds if controllers are functions of what they read: run again with the same responses they do the
// same. A controller that is not may be right all the same, so what breaks it is told as a warning, and makes the check
// inconclusive.
func Deterministic() core.Property {
	return conduct("deterministic reconciler", "The behavior of a controller depends only on what it reads: no hidden clock, random numbers, map order or memory.", core.Nondeterministic,
		"Results for such a controller are uncertain: some of its behavior may have been missed.")
}

// NoCacheMutation holds if no controller changes an object that a cache has handed out, such as the result of a lister.
// Such an object is what everybody reads who asks the cache, until the next change of it arrives.
func NoCacheMutation() core.Property {
	return conduct("no cache mutation", "No controller changes an object that its cache has handed out without copying it.", core.Mutated,
		"All other readers of the cache see the change, although nothing was written. Change a DeepCopy of the object. That others see it was not searched.")
}

// conduct is a property that is broken by one kind of incident.
func conduct(name, doc string, kind core.IncidentKind, advice string) core.Property {
	return core.Property{
		Name:   name,
		Doc:    doc,
		Ends:   true,
		Merges: core.InEnds,
		Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
			var found causes
			for _, incident := range g.Incidents() {
				if incident.Kind != kind {
					continue
				}
				about := incident.Doing()
				if why := mishap(incident); !found.known(why, about) {
					found.tell(why, about, blame(g, incident, advice))
				}
			}
			return found.violations(), nil
		},
	}
}

// mishap is the cause of an incident: whose code it was, and where in the code it happened. If that is not known, it is
// what happened, without the names of what the code worked on and without numbers.
func mishap(incident core.Incident) cause {
	handling, names := "reconcile", namesIn(cmp.Or(incident.Request, incident.Step.Item.Request))
	if key := incident.Handling; key != nil {
		handling = "event handler"
		names = append(names, key.Namespace, key.Name)
	}
	where := numberless(nameless(incident.Message, names...))
	if i := strings.LastIndex(incident.Message, "(at "); i >= 0 {
		where = incident.Message[i:]
	}
	return causeOf(incident.Strategy, handling, where)
}

func blame(g core.Graph, incident core.Incident, advice string) core.Violation {
	v := core.Violation{
		Summary:     fmt.Sprintf("%s, %s: %s", incident.Strategy, incident.Doing(), incident.Message),
		Details:     append(incident.Details[:len(incident.Details):len(incident.Details)], advice),
		Controllers: []string{incident.Strategy},
		State:       incident.State,
	}
	v.Stem, _ = g.Shortest(func(id core.StateID) bool { return id == incident.State })
	if !incident.AtStart {
		v.Probe = &incident.Step
	}
	return v
}

// Conduct returns the properties that hold of any controller code that behaves: they
// are always checked.
func Conduct() []core.Property {
	return []core.Property{NoPanic(), NoStuckReconcile(), NoRunaway(), NoCacheMutation(), Deterministic()}
}

// Convergent returns the properties that systems of controllers should have: they
// settle, always in the same way, and stay as they are. Comparisons are rules for comparing objects, such as [Without].
func Convergent(comparisons ...core.Comparison) []core.Property {
	return []core.Property{StableConvergence(comparisons...), SameOutcome(comparisons...), Fixpoint(comparisons...)}
}

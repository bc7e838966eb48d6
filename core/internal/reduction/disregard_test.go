package reduction

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/view"
)

// TestDisregards has two controllers list all things. One does the same whatever they are, the other one writes down
// what it has seen. A third one changes one of the things.
func TestDisregards(t *testing.T) {
	another := core.Key{Kind: "note", Namespace: "n", Name: "note"}
	system := func() *core.System {
		all := func(source core.Source) *asks { return list("thing", "n", nil, source) }
		return scripted(
			&script{
				Description: core.Description{Name: "picks", Initial: []core.Request{"r"}, Caches: []core.Kind{"thing"}, Sequential: true},
				reconcile: func(a *actor, _ core.Request) core.Result {
					a.Do(all(core.Cached))
					return core.Result{}
				},
			},
			&script{
				Description: core.Description{Name: "copies", Initial: []core.Request{"r"}, Sequential: true},
				reconcile: func(a *actor, _ core.Request) core.Result {
					seen := a.Do(all(core.Live)).(told)
					a.Do(put(core.Write{Key: another, Content: text(string(seen))}))
					return core.Result{}
				},
			},
			&script{
				Description: core.Description{Name: "changes", Initial: []core.Request{"r"}, Sequential: true},
				reconcile: func(a *actor, _ core.Request) core.Result {
					a.Do(put(core.Write{Key: thingB, Content: text("changed")}))
					return core.Result{}
				},
			},
		)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	lag := transition.Conditions{Staleness: []transition.Staleness{{Rule: view.Lag(1)}}}
	for _, test := range []struct {
		name       string
		context    context.Context
		conditions transition.Conditions
		unknown    bool
		picks      bool
		heeds      bool
	}{
		{"all is known", t.Context(), transition.Conditions{}, false, true, true},
		{"somebody may touch anything", t.Context(), transition.Conditions{}, true, false, false},
		{"there is no time", done, transition.Conditions{}, false, false, false},
		{"the cache may be stale", t.Context(), lag, false, false, false},
		{"calls may fail", t.Context(), transition.Conditions{Failures: 1}, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := exploring(t, system(), test.conditions, &asked{})
			f := w.Footprints
			for _, it := range slices.Clone(w.Machine.Items) {
				if err := w.StepsOf(&stepping{}, it); err != nil {
					t.Fatal(err)
				}
			}
			if test.unknown {
				f.Added()
			}
			picks, copies := item(t, w, "picks", "r").Agent, item(t, w, "copies", "r").Agent
			changed, _ := w.Machine.Vocabulary.Lookup(thingB)
			all := placeName{listed: true, kind: "thing", namespace: "n"}
			entry := all
			entry.cell, entry.entry = changed, true
			reads := func(agent int, name placeName) bool {
				place, met := f.places[name]
				return met && slices.Contains(f.known(w.Machine).agents[agent].Reads, place)
			}
			if !reads(picks, all) || !reads(copies, all) {
				t.Fatal("who lists all things does not look at them all before anything is tried")
			}
			for range 2 {
				if err := w.TryLists(test.context, w.Learn); !errors.Is(err, test.context.Err()) {
					t.Fatal(err)
				}
				if reads(picks, all) == test.picks || reads(picks, entry) {
					t.Errorf("who does the same whatever it lists looks at all of it: %t", reads(picks, all))
				}
				if !reads(copies, all) {
					t.Error("who writes down what it lists does not look at it all")
				}
				if heeds := copies < len(f.listers) && f.listers[copies].heeds.Has(changed); heeds != test.heeds {
					t.Errorf("that it makes a difference is known: %t", heeds)
				}
				if changes := f.known(w.Machine).agents[item(t, w, "changes", "r").Agent]; test.picks && !slices.Contains(changes.Alters, f.place(entry)) {
					t.Error("who changes an object in a list that others read object by object does not alter it there")
				}
			}
			if len(w.Learn.Incidents) > 0 {
				t.Errorf("it is said that %+v", w.Learn.Incidents)
			}
		})
	}
}

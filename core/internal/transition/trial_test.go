package transition

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestTry has a controller be tried with a note that no search comes to: it does what it does there, and nothing of
// that is learned.
func TestTry(t *testing.T) {
	var chance atomic.Int64
	for _, test := range []struct {
		name string
		// makes is what the controller makes of the note, and keeps of it.
		makes func(w world, seen string) (keeps string)
		does  []string
		err   error
		// wrong is what is said of the controller, empty if nothing.
		wrong core.IncidentKind
	}{
		{"the same", func(w world, _ string) string { w.put("n", "1"); return "0" }, []string{"c: get a → new, 0 writes, 0 items ; c: put n → done, 1 writes, 0 items ; c: reconciling go ends behind 2 calls: returns "}, nil, ""},
		{"another call", func(w world, seen string) string { w.put(seen, "1"); return "0" }, []string{"c: get a → new, 0 writes, 0 items ; c: put new → done, 1 writes, 0 items ; c: reconciling go ends behind 2 calls: returns "}, nil, ""},
		{"another memory", func(_ world, seen string) string { return seen }, nil, ErrUnmet, ""},
		{"something else each time", func(w world, seen string) string {
			if seen == "new" && chance.Add(1)%2 == 0 {
				w.put("m", "1")
			}
			return "0"
		}, nil, nil, core.Nondeterministic},
	} {
		t.Run(test.name, func(t *testing.T) {
			chance.Store(0)
			c := controller("c", func() core.Instance {
				kept := "0"
				return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
					kept = test.makes(w, w.get("a"))
					return core.Result{}
				}}, func() map[string]string { return map[string]string{"R.kept": kept} }}
			})
			f := explored(t, alone(sequential(c), "a old"), Conditions{})
			l := f.learner
			behaviours, memories := l.Behaviours, len(l.Machine.Actors[0].domain.memories)
			w := NewWalker(l.Machine, l)
			for range 2 { // it is run each time, as nothing is kept
				script := &hears{ear: &ear{}, steps: map[string]string{}}
				w.Listener = script.ear
				w.Load(f.rows[0])
				a := w.Machine.Vocabulary.Object(key("a"))
				w.Vector[a] = w.Machine.Vocabulary.Intern(a, content("new"))
				executed := l.Executed
				if root := l.Machine.Root(l.Machine.Items[0], Begun{}); root.Look(w.Live, nil) != nil {
					t.Error("it is known what the controller is shown there")
				}
				err := l.Try(func() error { return w.StepsOf(script, l.Machine.Items[0]) })
				did := slices.Collect(maps.Values(script.steps))
				if errors.Is(err, test.err) && test.wrong == core.Nondeterministic && len(did) == 1 {
					continue // which of both it does is chance
				}
				if !errors.Is(err, test.err) || !slices.Equal(did, test.does) {
					t.Errorf("it does %q, %v, want %q, %v", did, err, test.does, test.err)
				}
				if l.Executed == executed || l.Behaviours != behaviours || len(l.Machine.Actors[0].domain.memories) != memories {
					t.Errorf("%d runs, %d behaviors of %d and %d memories of %d", l.Executed-executed, l.Behaviours, behaviours, len(l.Machine.Actors[0].domain.memories), memories)
				}
			}
			var wrong []string
			for _, incident := range l.Incidents {
				wrong = append(wrong, string(incident.Kind))
			}
			if strings.Join(wrong, "") != string(test.wrong) {
				t.Errorf("it is said to be %q, want %q", wrong, test.wrong)
			}
		})
	}
}

package transition

import (
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestResume has code be taken along a path that it takes every so often: again and again if it is known to depend on
// chance, as often as is reasonable, and not if all of it is another one each time.
func TestResume(t *testing.T) {
	for _, test := range []struct {
		every, runs int
		fickle      bool
		divergences int
		arrives     bool
	}{
		{1, 1, false, 0, true}, {1, 1, true, 0, true}, {3, 1, false, 0, false}, {3, 3, true, 0, true}, {3, 3, true, maxDivergences, true}, {3, 1, true, maxDivergences + 1, false},
		{rare, rare, true, 0, true}, {rare + 1, rare, true, 0, false},
	} {
		times := 0
		w := begin(t, alone(controller("c", func() core.Instance {
			return hand{reconcile: func(w world, _ core.Request) core.Result {
				if times++; times%test.every == 0 {
					w.put("way", "known")
				} else {
					w.put("other", strconv.Itoa(times))
				}
				w.put("end", "yes")
				return core.Result{}
			}}
		})), Conditions{})
		l, a := w.Learn, w.Machine.Actors[0]
		if a.divergences = test.divergences; test.fickle {
			l.Incidents = []core.Incident{{Kind: core.Nondeterministic, Strategy: "c"}}
		}
		path := behavior.Path{{From: &behavior.Node{Call: errand{verb: "put", name: "way", text: "known"}}, Response: reply("ok")}}
		session, divergence, err := l.resume(a, a.reconciling("go", nil, moment{}), path)
		if err != nil {
			t.Fatal(err)
		}
		session.Abort()
		if times != test.runs || l.Executed != test.runs || (divergence == nil) != test.arrives {
			t.Errorf("what goes that way every %d times, known to depend on chance: %t, by %d divergences, is run %d times, and counted %d times: %+v", test.every, test.fickle, test.divergences, times, l.Executed, divergence)
		}
	}
}

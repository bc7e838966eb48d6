package transition

import (
	"slices"
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestMadeUnlike has instances that are not alike when they are made, as one whose set-up takes what it needs from a
// map, and several in a row may be: nothing is said of that. A controller that is one of them also counts what it does,
// which is its memory.
func TestMadeUnlike(t *testing.T) {
	for _, divided := range []bool{false, true} {
		for alike := 1; alike <= 6; alike++ {
			for counts := range 2 {
				made := 0
				f := explored(t, process(divided, func() []mind {
					order := strconv.Itoa(made / alike % 2)
					made++
					var all []mind
					for range 2 {
						n := 0
						all = append(all, mind{
							hand{reconcile: func(w world, _ core.Request) core.Result {
								n = min(n+counts, 2)
								w.put("n", strconv.Itoa(n))
								return core.Result{Requeue: n == 1}
							}},
							func() map[string]string {
								return map[string]string{"n": strconv.Itoa(n), "order": order, "order " + order: ""}
							},
						})
					}
					return all
				}), Conditions{})
				if l := f.learner; len(l.Machine.Doubts)+len(l.Incidents) > 0 {
					t.Errorf("divided %t, %d alike, counts %d: it is said %q, and found %v", divided, alike, counts, l.Machine.Doubts, l.Incidents)
				}
				kept := f.learner.Machine.Memories()
				for _, memory := range kept {
					if want := []string{"n"}; divided && !slices.Equal(memory.Fields, want) || !divided && !slices.Equal(memory.Fields, []string{"a/n", "b/n"}) {
						t.Errorf("divided %t, %d alike: %s keeps %q", divided, alike, memory.Controller, memory.Fields)
					}
				}
				if want := map[bool]int{false: counts, true: 2 * counts}[divided]; len(kept) != want {
					t.Errorf("divided %t, %d alike, counts %d: what is kept is %v", divided, alike, counts, kept)
				}
			}
		}
	}
}

package ltl_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// counters are n counters that share nothing. Each counts to 3 and stops there, or begins anew if they
// go round.
func counters(tb testing.TB, n int, round bool) (*core.System, []ltl.Atom) {
	tb.Helper()
	model := plain.Model{Name: "counters"}
	var start []core.Object
	var atoms []ltl.Atom
	for i := range n {
		counter := plain.NewVar[int](fmt.Sprintf("c%d", i))
		start = append(start, counter.Is(0))
		model.Processes = append(model.Processes, plain.Process{
			Name: fmt.Sprintf("p%d", i),
			Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
				now := counter.Get(w)
				w.Require(round || now < 3)
				counter.Set(w, (now+1)%4)
			}}},
		})
		atoms = append(atoms, ltl.Atom{Name: fmt.Sprintf("done%d", i), State: func(s core.State) bool { return counter.Get(s) == 3 }})
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	system, err := model.System()
	if err != nil {
		tb.Fatal(err)
	}
	return system, atoms
}

func search(tb testing.TB, system *core.System) core.Graph {
	tb.Helper()
	space, err := explore.Search(tb.Context(), system, explore.Options{
		Workers: 1,
		Run:     behavior.Limits{Deadline: 10 * time.Second, Calls: 10_000},
	})
	if err != nil || len(space.Reasons()) > 0 {
		tb.Fatal(err, space.Reasons())
	}
	return space
}

// BenchmarkCheck checks formulas of five operators on 4^10 = 1,048,576 states. ratio is how much longer that
// takes than exploring them; B/state is what a check holds at its end.
func BenchmarkCheck(b *testing.B) {
	for _, round := range []bool{false, true} {
		system, atoms := counters(b, 10, round)
		began := time.Now()
		g := search(b, system)
		exploring := time.Since(began)
		formulas := []string{"G (done0 -> F (done1 || X done2))", "F G done0 || G F (done1 && !done2)"}
		if round {
			formulas = []string{"G (done0 -> F (done1 || X done2))", "G F done0 && G (done1 -> F !done1)"}
		}
		for _, formula := range formulas {
			b.Run(fmt.Sprintf("round=%t/%s", round, formula), func(b *testing.B) {
				for b.Loop() {
					property, err := ltl.Claim{Formula: formula, Atoms: atoms}.Property()
					if err != nil {
						b.Fatal(err)
					}
					runtime.GC()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					began := time.Now()
					violations, err := property.Judge(b.Context(), g)
					if err != nil || len(violations) > 0 {
						b.Fatal(violations, err)
					}
					b.ReportMetric(float64(time.Since(began))/float64(exploring), "ratio")
					runtime.ReadMemStats(&after)
					b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(g.States()), "B/state")
					b.ReportMetric(float64(g.States()), "states")
				}
			})
		}
	}
}

package cel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/cel"
)

// twin is a predicate, as an expression and in Go.
type twin struct {
	expression string
	holds      properties.Predicate
}

// drawTwin draws a predicate over the families of random systems.
func drawTwin(r *rand.Rand, depth int) twin {
	if depth > 0 && r.IntN(3) > 0 {
		a, b := drawTwin(r, depth-1), drawTwin(r, depth-1)
		switch r.IntN(3) {
		case 0:
			return twin{fmt.Sprintf("(%s && %s)", a.expression, b.expression), func(s core.State) bool { return a.holds(s) && b.holds(s) }}
		case 1:
			return twin{fmt.Sprintf("(%s || %s)", a.expression, b.expression), func(s core.State) bool { return a.holds(s) || b.holds(s) }}
		}
		return twin{"!(" + a.expression + ")", func(s core.State) bool { return !a.holds(s) }}
	}
	kind, value := random.Kinds()[r.IntN(len(random.Kinds()))], r.IntN(3)
	family := plain.NewFamily[int](kind)
	switch r.IntN(3) {
	case 0:
		index := r.IntN(2)
		return twin{fmt.Sprintf(`family(%q)[?"%d"].orValue(-1) == %d`, kind, index, value), func(s core.State) bool {
			got, there := family.At(index).Lookup(s)
			return there && got == value
		}}
	case 1:
		return twin{fmt.Sprintf(`family(%q).all(name, n, n > %d)`, kind, value), func(s core.State) bool {
			for _, m := range family.All(s) {
				if m.Value <= value {
					return false
				}
			}
			return true
		}}
	}
	return twin{fmt.Sprintf(`family(%q).size() == %d`, kind, value), func(s core.State) bool { return len(family.All(s)) == value }}
}

// TestTwins checks random systems for random claims, as expressions with a reduction and in Go without one.
func TestTwins(t *testing.T) {
	broken, systems := map[string]int{}, uint64(30)
	if testing.Short() {
		systems = 15
	}
	for seed := range systems {
		r := rand.New(rand.NewPCG(seed, 7))
		p, q, kind := drawTwin(r, 2), drawTwin(r, 2), random.Kinds()[r.IntN(2)]
		for form, pair := range map[string][2]core.Property{
			"always":            {cel.Always("p", p.expression), properties.Always("p", p.holds)},
			"eventually":        {cel.Eventually("p", p.expression), properties.Eventually("p", p.holds)},
			"infinitely often":  {cel.InfinitelyOften("p", p.expression), properties.InfinitelyOften("p", p.holds)},
			"eventually always": {cel.EventuallyAlways("p", p.expression), properties.EventuallyAlways("p", p.holds)},
			"steps": {
				cel.Steps("p", fmt.Sprintf("family(%q)", kind), "new > old || old == 2"),
				steps(plain.NewFamily[int](kind), func(before, after int) bool { return after > before || before == 2 }),
			},
			"leads to": {cel.LeadsTo("p", p.expression, q.expression), properties.LeadsTo("p", p.holds, q.holds)},
		} {
			ours, known := judged(t, seed, orrery.ByPartialOrder, pair[0])
			theirs, knownToo := judged(t, seed, orrery.NoReduction, pair[1])
			if !known || !knownToo {
				continue
			}
			if ours != theirs {
				t.Errorf("seed %d: %s: %s is %s with a reduction, and in Go, without one, %s", seed, form, p.expression, ours, theirs)
			}
			if ours == core.Violated {
				broken[form]++
			}
		}
	}
	if len(broken) != 6 && !testing.Short() {
		t.Errorf("only some forms are ever violated: %v", broken)
	}
}

// steps is the property that something is true of each change of a variable, as the definition has it.
func steps(family plain.Family[int], holds func(before, after int) bool) core.Property {
	return core.Property{Name: "p", Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
		for id := range core.StateID(g.States()) {
			before := family.All(g.State(id))
			for _, e := range slices.Clone(g.Edges(id)) {
				for _, m := range before {
					after, there := family.Named(m.Name).Lookup(g.State(e.To))
					if there && after != m.Value && !holds(m.Value, after) {
						stem, _ := g.Shortest(func(other core.StateID) bool { return other == id })
						return []core.Violation{{Summary: "a step", Stem: append(slices.Clone(stem), e), State: e.To}}, nil
					}
				}
			}
		}
		return nil, nil
	}}
}

// judged returns the verdict on a property of the random system of a seed, and false if the system is too large.
func judged(t *testing.T, seed uint64, reduction orrery.Reduction, p core.Property) (core.Verdict, bool) {
	t.Helper()
	system, err := random.System(seed)
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = []core.Property{p}
	result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction, MaxStates: 300})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if result.Graph.States() >= 300 {
		return "", false
	}
	for _, report := range result.Report.Properties {
		if report.Name == p.Name {
			return report.Verdict, true
		}
	}
	t.Fatalf("seed %d: nothing is said about the property", seed)
	return "", false
}

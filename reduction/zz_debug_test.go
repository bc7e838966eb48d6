package reduction_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"context"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

func TestDebug(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	for _, red := range []explore.Reducer{nil, reduction.Stubborn{}} {
		system, o := draw(t, seed)
		fmt.Printf("%+v\n", o.Conditions)
		for _, s := range system.Strategies { fmt.Printf("%+v\n", s.Describe()) }
		o.Reducer = red
		o.Bounds.States = 0
		s, err := explore.Search(context.Background(), system, o)
		if err != nil { t.Fatal(err) }
		fmt.Println("STATES", s.States(), s.Initial(), s.Reasons())
		if s.States() > 80 { continue }
		for id := range core.StateID(s.States()) {
			fmt.Println(id, endText(s, id), s.State(id).InFlight())
			for _, e := range s.Edges(id) { fmt.Println("    ", e.To, e.Step.Kind.Name(), e.Step.Item, e.Step.Detail, e.Failed, e.Late) }
		}
	}
}

func TestClasses(t *testing.T) {
	type sum struct{ n, full, red int }
	classes := map[string]*sum{}
	for seed := uint64(1); seed < 800; seed++ {
		_, o := draw(t, seed)
		c, ok := compared(t, seed, reduction.Stubborn{})
		if !ok { continue }
		g := "plain"
		if len(o.Conditions.Staleness) > 0 { g = "lag" }
		if o.Conditions.Crashes+o.Conditions.Failures > 0 { g = "faults" }
		if o.Conditions.Granularity == explore.PerCall { g += " percall" }
		system, _ := draw(t, seed)
		if len(system.Strategies) > 0 && system.Name[0] == 'r' { g = "system " + g }
		if classes[g] == nil { classes[g] = &sum{} }
		classes[g].n++
		classes[g].full += c.full
		classes[g].red += c.reduced
	}
	for g, s := range classes { fmt.Println(g, *s, float64(s.red)/float64(s.full)) }
}

func TestSeeds(t *testing.T) {
	for seed := uint64(1); seed < 300; seed++ {
		system, o := draw(t, seed)
		if len(o.Conditions.Staleness) > 0 || o.Conditions.Crashes+o.Conditions.Failures > 0 || system.Name[0] == 'r' || o.Conditions.Granularity == explore.PerCall { continue }
		o.Bounds.States = 3000
		o2 := o
		s, err := explore.Search(context.Background(), system, o)
		if err != nil { t.Fatal(err) }
		if len(s.Reasons()) > 0 || s.States() < 100 { continue }
		o2.Reducer = reduction.Stubborn{}
		o2.Bounds.States = 0
		s2, err := explore.Search(context.Background(), system, o2)
		if err != nil { t.Fatal(err) }
		fmt.Println(seed, s.States(), s2.States(), float64(s2.States())/float64(s.States()), "acyclic", s.Acyclic(), s2.Acyclic(), "actions", len(system.Scenario.Actions), "strategies", len(system.Strategies))
	}
}

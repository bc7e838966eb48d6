package reduction_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/reduction"
)

type talk struct{ explore.Reducer }
type talker struct {
	explore.Chooser
}

func (t talk) Learn(f []explore.Footprint, v []explore.Place) func() explore.Chooser {
	fmt.Println("LEARN")
	for i, x := range f {
		fmt.Printf("  %d %+v\n", i, x)
	}
	m := t.Reducer.Learn(f, v)
	return func() explore.Chooser { return talker{m()} }
}
func (t talker) Choose(e []explore.Enabled) []int {
	c := t.Chooser.Choose(e)
	fmt.Println("CHOOSE", e, c)
	return c
}

func TestDebug(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	for _, red := range []explore.Reducer{nil, talk{reduction.Stubborn{}}} {
		system, o := draw(t, seed)
		fmt.Printf("%+v\n", o.Conditions)
		for _, s := range system.Strategies {
			fmt.Printf("%+v\n", s.Describe())
		}
		o.Reducer = red
		o.Bounds.States = 0
		s, err := explore.Search(context.Background(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("STATES", s.States(), s.Initial(), s.Reasons())
		if s.States() > 80 {
			continue
		}
		for id := range core.StateID(s.States()) {
			fmt.Println(id, endText(s, id), s.State(id).InFlight())
			for _, e := range s.Edges(id) {
				fmt.Println("    ", e.To, e.Step.Kind.Name(), e.Step.Item, e.Step.Detail, e.Failed, e.Late)
			}
		}
	}
}

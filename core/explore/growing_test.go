package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// TestGrowthIsFound looks at runs of small systems. Objects that are named after each other are made by code that is given the same in each lap, up to new names; where a
// number counts them, or somebody looks at all of them, code is shown more each time.
func TestGrowthIsFound(t *testing.T) {
	f, last := plain.NewFamily[string]("Pod"), plain.NewVar[string]("last")
	inbox := plain.NewInbox[string]("p")
	longer := func(name string) string { return name + "x" }
	receives := func(handle func(*plain.World, string)) plain.Model {
		return plain.Model{Name: "grows", Initial: []core.Initial{plain.Start(last.Is("none"))}, Processes: []plain.Process{{
			Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(handle),
		}}}
	}
	for _, test := range []struct {
		name  string
		model plain.Model
		want  string
	}{
		{"an object for each message", receives(func(w *plain.World, name string) {
			f.Named(name).Set(w, "here")
			inbox.Send(w, longer(name))
		}), "laps of 1 steps by [p] add [{Pod 1 0}], the last Pod axxxx, shown false"},
		{"two objects in turn", receives(func(w *plain.World, name string) {
			if strings.HasSuffix(name, "y") {
				f.Named(name).Set(w, "here")
				inbox.Send(w, strings.TrimSuffix(name, "y")+"x")
				return
			}
			last.Set(w, name)
			inbox.Send(w, name+"y")
		}), "laps of 2 steps by [p] add [{Pod 1 0}], the last Pod axxxxy, shown false"},
		{"all are looked at", receives(func(w *plain.World, name string) {
			_ = f.All(w)
			f.Named(name).Set(w, "here")
			inbox.Send(w, longer(name))
		}), "laps of 1 steps by [p] add [{Pod 1 0}], the last Pod axxxx, shown true"},
		{"another value each time", receives(func(w *plain.World, name string) {
			last.Set(w, name)
			inbox.Send(w, longer(name))
		}), "nothing"},
	} {
		system, err := test.model.System()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Workers: 1, Run: behavior.Limits{Deadline: time.Second, Calls: 100}, Logger: hclog.NewNullLogger(), Memo: NewMemo()}
		ctx, end := context.WithCancel(t.Context())
		g := &growth{context: ctx, system: system, options: o}
		got := "nothing"
		if found := g.look(); found != nil {
			got = fmt.Sprintf("laps of %d steps by %v add %v, the last %s, shown %t", found.Lap, found.Controllers(), found.Adds, found.Last, found.Shown)
			if found.Laps < alike || found.Space == nil || found != g.look() {
				t.Errorf("%s: there are %d laps", test.name, found.Laps)
			}
			// It can be told although the search has ended.
			end()
			trace, err := found.Space.Trace(t.Context(), found.Run[0].From, found.Run, nil)
			if err != nil || len(trace.Steps) != len(found.Run) || found.Space.executor.Listener != nil {
				t.Errorf("%s: %d steps of %d are told, and the error is %v", test.name, len(trace.Steps), len(found.Run), err)
			}
		}
		if got != test.want || g.unexpected != nil || !g.looked {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
		end()
	}
}

// TestGrowthIsTold has a search that is not complete tell of growth, and one that is complete, or was interrupted, not look for it.
func TestGrowthIsTold(t *testing.T) {
	f, inbox := plain.NewFamily[string]("Pod"), plain.NewInbox[string]("p")
	grows := grid(3, 3) // so that there are many states before there are many objects
	grows.Processes = append(grows.Processes, plain.Process{
		Name: "p", Messages: inbox.Holding("ax"), Receive: inbox.Receive(func(w *plain.World, name string) {
			f.Named(name).Set(w, "here")
			inbox.Send(w, name+"x")
		}),
	})
	if g := searchModel(t, grows, Options{Bounds: Bounds{States: 30}}).Growth(); g == nil || g.Lap != 1 {
		t.Errorf("%+v is reported of what grows", g)
	}
	space := searchModel(t, grows, Options{})
	if space.Growth() == nil || space.States() > 2*suspect || len(space.Reasons()) != 1 || !strings.Contains(space.Reasons()[0], "grows without end") {
		t.Errorf("of what grows without a bound, %d states are searched: %v", space.States(), space.Reasons())
	}
	if g := searchModel(t, grid(2, 1), Options{}).Growth(); g != nil {
		t.Errorf("%+v is reported of a grid", g)
	}
	if g := searchModel(t, grid(9, 9), Options{Bounds: Bounds{States: 30}}).Growth(); g != nil {
		t.Errorf("%+v is reported of a part of a grid", g)
	}
}

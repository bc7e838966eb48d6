package reduction_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
)

// symmetric returns the system of a seed, with the namespaces or the names of its objects declared to be
// interchangeable, whether they are or not.
func symmetric(t *testing.T, seed uint64) (*core.System, explore.Options) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	system, err := random.Loose(seed)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	system.Scenario = core.Scenario{}
	system.Properties = slices.Concat(system.Properties, properties.Conduct())
	if r.IntN(3) > 0 {
		system.Properties = append(system.Properties, properties.Convergent()...)
	}
	names := []string{"n0", "n1", "n2"}[:2+r.IntN(2)]
	system.Interchangeable = [][]string{names}
	if r.IntN(10) > 0 {
		for i := range system.Initial {
			system.Initial[i] = alike(system.Initial[i], names)
		}
	}
	o := options()
	o.Bounds.States = *largest
	if r.IntN(4) == 0 {
		o.Order = explore.DepthFirst
	}
	return system, o
}

// alike returns an initial state with the same objects in all of some namespaces: those of the first.
func alike(initial core.Initial, namespaces []string) core.Initial {
	var same core.Initial
	for _, o := range initial.Objects {
		if !slices.Contains(namespaces, o.Key.Namespace) {
			same.Objects = append(same.Objects, o)
		}
		if o.Key.Namespace == namespaces[0] {
			for _, namespace := range namespaces {
				o.Key.Namespace = namespace
				same.Objects = append(same.Objects, o)
			}
		}
	}
	return same
}

// TestMergedFindsWhatFullFinds compares searches by symmetry with full ones, of random systems whose names are
// interchangeable or not.
func TestMergedFindsWhatFullFinds(t *testing.T) {
	n := 2 * *systems
	if testing.Short() {
		n /= 10
	}
	merged, full, part := 0, 0, 0
	for seed := *firstSeed; n > 0; seed++ {
		system, o := symmetric(t, seed)
		want, whole, ok := find(t, system, o)
		if !ok {
			continue
		}
		n--
		o.Bounds.States, o.Merge = 0, true
		got, space, _ := find(t, system, o)
		if difference := differ(got, want); difference != "" {
			t.Errorf("seed %d: %s", seed, difference)
		}
		if isMerged, _ := space.Merged(); isMerged {
			merged++
			full += whole.States()
			part += space.States()
		}
	}
	if merged == 0 || part >= full {
		t.Errorf("%d systems were merged, from %d states to %d", merged, full, part)
	}
	t.Logf("%d systems were merged, from %d states to %d", merged, full, part)
}

// TestNamesThatAreNotAlike checks that states are merged only where controllers treat names alike, in whatever way they
// do not.
func TestNamesThatAreNotAlike(t *testing.T) {
	names := []string{"a", "b"}
	at := plain.NewFamily[bool]("at")
	done := plain.NewFamily[string]("done")
	other := plain.NewVar[bool]("other")
	first := plain.NewVar[string]("first")
	// each has a process for each name.
	each := func(do func(w *plain.World, name string)) []plain.Process {
		var processes []plain.Process
		for _, name := range names {
			processes = append(processes, plain.Process{Name: name, Actions: []plain.Action{{Name: "act", Do: func(w *plain.World) {
				w.Require(!at.Named(name).Get(w))
				do(w, name)
				at.Named(name).Set(w, true)
			}}}})
		}
		return processes
	}
	free := []core.Object{at.Named("a").Is(false), at.Named("b").Is(false), other.Is(false), first.Is("")}
	never := func(is func(core.State) bool) []core.Property {
		return []core.Property{{Name: "never", Invariant: func(s core.State) error {
			if is(s) {
				return errors.New("now")
			}
			return nil
		}}}
	}
	for _, test := range []struct {
		name       string
		processes  []plain.Process
		start      []core.Object
		merged     bool
		states     int
		properties []core.Property
	}{
		{"nothing but flags", each(func(*plain.World, string) {}), free, true, 3, nil},
		{"who is first is said", each(func(w *plain.World, name string) {
			if first.Get(w) == "" {
				first.Set(w, name)
			}
		}), free, true, 0, nil},
		{"one name is special", each(func(w *plain.World, name string) {
			if name == "a" {
				done.Named("x").Set(w, "")
			}
		}), free, false, 0, nil},
		{"the first of a list is special", each(func(w *plain.World, name string) {
			if at.All(w)[0].Name == name {
				done.Named("x").Set(w, "")
			}
		}), free, false, 0, nil},
		{"a value is special that is rarely looked at", append(each(func(w *plain.World, name string) {
			// That b looks at the other variable matters only once that is set.
			if name == "b" && other.Get(w) {
				done.Named("x").Set(w, "")
			}
		}), plain.Process{Name: "setter", Actions: []plain.Action{{Name: "set", Do: func(w *plain.World) {
			w.Require(!other.Get(w))
			other.Set(w, true)
		}}}}), free, false, 0, nil},
		{"the start is not alike", each(func(*plain.World, string) {}), []core.Object{at.Named("a").Is(false), at.Named("b").Is(true), other.Is(false)}, false, 0, nil},
		{"one has no process", each(func(*plain.World, string) {})[:1], free, false, 0, nil},
		{"one name is looked at", each(func(*plain.World, string) {}), free, false, 0, never(func(s core.State) bool { return at.Named("a").Get(s) && !at.Named("b").Get(s) })},
		{"both are looked at", each(func(*plain.World, string) {}), free, true, 3, never(func(s core.State) bool {
			return at.Named("a").Get(s) && at.Named("b").Get(s) && other.Get(s)
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			system, err := plain.Model{
				Name: test.name, Initial: []core.Initial{plain.Start(test.start...)}, Processes: test.processes,
				Interchangeable: [][]string{names}, Properties: test.properties,
			}.System()
			if err != nil {
				t.Fatal(err)
			}
			o := options()
			want, _, _ := find(t, system, o)
			o.Merge = true
			got, space, _ := find(t, system, o)
			if difference := differ(got, want); difference != "" {
				t.Error(difference)
			}
			merged, why := space.Merged()
			if merged != test.merged || merged == (why != "") || merged && test.states > 0 && space.States() != test.states {
				t.Errorf("merged: %t, %q, %d states", merged, why, space.States())
			}
			t.Log(why)
		})
	}
}

// TestConcurrentCallsAreNotMerged: which of two concurrent calls comes first cannot be told in the same state with
// names exchanged.
func TestConcurrentCallsAreNotMerged(t *testing.T) {
	last := plain.NewVar[int]("last")
	system, err := plain.Model{
		Name: "races", Initial: []core.Initial{plain.Start(last.Is(0))}, Interchangeable: [][]string{{"a", "b"}},
		Controllers: []plain.Controller{{
			Name: "writes", Requests: []core.Request{"a", "b"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				var both sync.WaitGroup
				both.Go(func() { last.Set(w, 1) })
				both.Go(func() { last.Set(w, 2) })
				both.Wait()
				return core.Result{}
			},
		}},
	}.System()
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Merge = true
	_, space, _ := find(t, system, o)
	if merged, why := space.Merged(); merged || !strings.Contains(why, "writes makes concurrent calls whose order matters") {
		t.Errorf("merged: %t, %q", merged, why)
	}
}

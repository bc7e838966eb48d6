package reduction_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/reduction"
)

var (
	systems   = flag.Int("systems", 500, "how many random systems to compare")
	firstSeed = flag.Uint64("first-seed", 1, "the seed of the first random system")
)

// largest is how many states a random system may have.
const largest = 3000

func options() explore.Options {
	return explore.Options{
		Workers: 1,
		Bounds:  explore.Bounds{States: largest},
		Run:     behavior.Limits{Deadline: 10 * time.Second, Calls: 1000},
	}
}

// findings is all that a reduced search must find as a full one does.
type findings struct {
	ends      []string
	violated  bool
	restless  []string
	deadlocks []string
}

func find(t *testing.T, system *core.System, o explore.Options) (findings, *explore.Space, bool) {
	t.Helper()
	space, err := explore.Search(context.Background(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(space.Reasons()) > 0 {
		return findings{}, nil, false // too large
	}
	var f findings
	for _, id := range space.Quiescent() {
		state := space.State(id)
		end := fmt.Sprint(objects(state), state.Timers(), state.Work())
		f.ends = append(f.ends, end)
		if len(space.Edges(id)) == 0 {
			f.deadlocks = append(f.deadlocks, end)
		}
	}
	for _, p := range system.Properties {
		_, broken := space.Broken(p.Name)
		f.violated = f.violated || broken != nil
	}
	violations, err := properties.StableConvergence().Judge(context.Background(), space)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		kind, _, _ := strings.Cut(v.Summary, ":")
		_ = kind
		f.restless = []string{"restless"}
	}
	slices.Sort(f.ends)
	slices.Sort(f.deadlocks)
	f.ends, f.deadlocks = slices.Compact(f.ends), slices.Compact(f.deadlocks)
	return f, space, true
}

func objects(s core.State) string {
	var b strings.Builder
	for _, kind := range random.Kinds() {
		for _, o := range s.List(kind, "") {
			fmt.Fprintf(&b, "%s=%s ", o.Key, o.Content.Canonical())
		}
	}
	return b.String()
}

// TestReducedFindsWhatFullFinds compares reduced searches of random systems with full ones.
func TestReducedFindsWhatFullFinds(t *testing.T) {
	full, few := 0, 0
	n := *systems
	for seed := *firstSeed; n > 0; seed++ {
		system, err := random.System(seed)
		if err != nil {
			t.Fatal(err)
		}
		want, whole, ok := find(t, system, options())
		if !ok {
			continue
		}
		n--
		o := options()
		o.Reducer = reduction.Stubborn{}
		o.Bounds.States = 0
		got, part, _ := find(t, system, o)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: a reduced search of %d states finds\n%+v\na full one of %d states\n%+v", seed, part.States(), got, whole.States(), want)
		}
		full += whole.States()
		few += part.States()
	}
	t.Logf("%d states in full, %d reduced", full, few)
}

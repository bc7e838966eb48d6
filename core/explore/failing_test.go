package explore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

var errSetUp = errors.New("there is no such kind")

// setUps counts those of all controllers, and has the first one fail from some number on. What is looked for beforehand
// in a single run is no matter: what goes wrong there is for the search to find.
type setUps struct {
	made, failing int
	failed        bool
}

// failing is a strategy of which a set-up may fail.
type failing struct {
	core.Strategy
	all *setUps
}

func (f failing) New() (core.Instance, error) {
	f.all.made++
	if f.all.failing > 0 && f.all.made >= f.all.failing && !f.all.failed && !looksForGrowth() {
		f.all.failed = true
		return nil, errSetUp
	}
	return f.Strategy.New()
}

// looksForGrowth reports whether somebody is about to. The goroutine of a set-up is another one.
func looksForGrowth() bool {
	stacks := make([]byte, 1<<16)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*growth).look(")
}

// Each of these tests has one set-up of a controller fail, the first, the second, or any later one: whatever the search
// wanted to find out with the instance, it ends with the error, as it does not know now.

func TestSetUpsWithMemoryFail(t *testing.T)          { setUpsFail(t, random.Mindful) }
func TestSetUpsWithBackgroundFail(t *testing.T)      { setUpsFail(t, random.Restless) }
func TestSetUpsWithDeadlinesFail(t *testing.T)       { setUpsFail(t, random.Dated) }
func TestSetUpsWithDrawsFail(t *testing.T)           { setUpsFail(t, random.Drawing) }
func TestSetUpsWithConcurrentCallsFail(t *testing.T) { setUpsFail(t, random.Concurrent) }

func setUpsFail(t *testing.T, generate func(uint64) (*core.System, error)) {
	const most = 3_000 // set-ups in one search
	n, tried := 2, 30
	if testing.Short() {
		n, tried = 1, 20
	}
	for seed, left := *firstSeed, n; left > 0; seed++ {
		search := func(all *setUps) error {
			system, err := generate(seed)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
			for i, strategy := range system.Strategies {
				system.Strategies[i] = failing{strategy, all}
			}
			o := options(1)
			o.Conditions, o.Conditions.Deadlines, o.Bounds.States = c, 1, 300
			_, err = explore.Search(context.Background(), system, o)
			return err
		}
		var all setUps
		if err := search(&all); err != nil {
			t.Fatal(err)
		}
		if all.made > most {
			continue
		}
		left--
		for at := 1; at <= all.made; at += max(1, all.made/tried) {
			one := setUps{failing: at}
			if err := search(&one); one.failed && !errors.Is(err, errSetUp) {
				t.Errorf("of %d set-ups, number %d fails, and the error is %v\nagain with -run %s -first-seed %d", all.made, one.made, err, t.Name(), seed)
			}
		}
	}
}

// Each of these tests has one set-up of a controller fail while the trace of a run is rebuilt after a search: the run
// does not come out as if nothing had failed.

func TestSetUpsWithMemoryFailLater(t *testing.T)          { setUpsFailLater(t, random.Mindful, 4) }
func TestSetUpsWithBackgroundFailLater(t *testing.T)      { setUpsFailLater(t, random.Restless, 2) }
func TestSetUpsWithDrawsFailLater(t *testing.T)           { setUpsFailLater(t, random.Drawing, 2) }
func TestSetUpsWithConcurrentCallsFailLater(t *testing.T) { setUpsFailLater(t, random.Concurrent, 2) }

func setUpsFailLater(t *testing.T, generate func(uint64) (*core.System, error), n int) {
	if !testing.Short() {
		n *= 5
	}
	for seed := *firstSeed; n > 0; seed++ {
		system, err := generate(seed)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := conditionsOf(rand.New(rand.NewPCG(seed, 1)), system)
		c.Crashes = max(c.Crashes, 1)
		var all setUps
		for i, strategy := range system.Strategies {
			system.Strategies[i] = failing{strategy, &all}
		}
		o := options(1)
		o.Conditions, o.Bounds.States, o.Logs = c, 100, true
		space := search(t, system, o)
		if space.States() < 10 || slices.ContainsFunc(space.Incidents(), func(i core.Incident) bool { return i.Kind == core.Nondeterministic }) {
			continue
		}
		n--
		goal := core.StateID(space.States() - 1)
		run, _ := space.Shortest(func(id core.StateID) bool { return id == goal })
		tell := func() (core.Trace, error) { return space.Trace(context.Background(), start(run, goal), run, nil) }
		all = setUps{}
		want, err := tell()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		made := all.made
		for at := 1; at <= made; at += max(1, made/40) {
			all = setUps{failing: at}
			got, err := tell()
			if all.failed && err == nil && reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: of %d set-ups, number %d fails, and nothing is said of it\nagain with -run %s -first-seed %d", seed, made, at, t.Name(), seed)
			}
		}
	}
}

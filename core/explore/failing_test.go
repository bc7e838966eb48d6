package explore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
	"github.com/orrery-dev/orrery/internal/random"
)

var errSetUp = errors.New("there is no such kind")

// setUps counts those of all controllers, and has the first one fail from some number on. What is looked for beforehand in a single run is no matter: what goes wrong
// there is for the search to find.
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

// Each of these tests has one set-up of a controller fail, the first, the second, or any later one: whatever the search wanted to find out with the instance, it
// ends with the error, as it does not know now.

func TestSetUpsWithMemoryFail(t *testing.T)          { setUpsFail(t, random.Mindful) }
func TestSetUpsWithBackgroundFail(t *testing.T)      { setUpsFail(t, random.Restless) }
func TestSetUpsWithDeadlinesFail(t *testing.T)       { setUpsFail(t, random.Dated) }
func TestSetUpsWithDrawsFail(t *testing.T)           { setUpsFail(t, random.Drawing) }
func TestSetUpsWithConcurrentCallsFail(t *testing.T) { setUpsFail(t, random.Concurrent) }

func setUpsFail(t *testing.T, generate func(uint64) (*core.System, error)) {
	const most = 3_000 // set-ups in one search
	n, tried := 4, 60
	if testing.Short() {
		n, tried = 2, 30
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

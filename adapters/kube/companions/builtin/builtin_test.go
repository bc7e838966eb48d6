package builtin

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/go-logr/logr"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

var (
	scenarios = flag.Int("scenarios", 40, "random scenarios for each companion")
	seed      = flag.Uint64("seed", 1, "seed of the first scenario")
)

// TestMain leaves out what the real controllers log. Their handlers of errors wait for a time that is in no bubble.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// random runs a test for each of the random scenarios.
func random(t *testing.T, run func(*testing.T, *rand.Rand)) {
	for n := range *scenarios {
		t.Run(fmt.Sprint(*seed+uint64(n)), func(t *testing.T) { run(t, rand.New(rand.NewPCG(*seed+uint64(n), 0))) })
	}
}

// scenario has a step to begin with, and a number of random ones after it, some of them together.
func scenario(random *rand.Rand, first step, next func() step) []step {
	steps := []step{first}
	for range 4 + random.IntN(12) {
		s := next()
		if random.IntN(4) == 0 {
			s = together(s, next())
		}
		steps = append(steps, s)
	}
	return steps
}

// pick is one of several values, each as likely as the others.
func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

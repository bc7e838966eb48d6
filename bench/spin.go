package bench

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
)

// spin makes verifiers with SPIN.
type spin struct{}

// recipe implements [checker]. A verifier gets a stack that is deep enough, or else there is an error, a hash table
// with a slot for each state, and lists nothing of what was not reached.
func (spin) recipe(n, k int, t Trial) recipe {
	compile := []string{compiler, "-O2", "-DSAFETY"}
	states := n*k + 1
	if t.Reduction == full {
		compile = append(compile, "-DNOREDUCE")
		states = 1
		for range n {
			states *= k + 1
		}
	}
	return recipe{
		files:    map[string]string{"model.pml": promela(n, k)},
		generate: []string{Spin, "-a", "model.pml"},
		compile:  append(compile, "-o", "pan", "pan.c"),
		verify:   []string{"./pan", fmt.Sprintf("-m%d", 2*n*k+100), fmt.Sprintf("-w%d", max(10, bits.Len(uint(states)))), "-b", "-n"},
	}
}

// promela returns the model of n counters from 0 to k in the language of SPIN. A counter
// is a process with a variable that nobody else can see. To look at it and to count is one step, as
// in the model of the catalog, so that both have the same states: (k+1)^n.
func promela(n, k int) string {
	return fmt.Sprintf(`active [%d] proctype counter()
{
	byte x;

end:	do
	:: atomic { x < %d -> x++ }
	od
}
`, n, k)
}

// What a verifier of SPIN says at its end.
var (
	panErrors  = regexp.MustCompile(`errors: (\d+)`)
	panStates  = regexp.MustCompile(`(?m)^\s*(\S+) states, stored`)
	panSteps   = regexp.MustCompile(`(?m)^\s*(\S+) transitions`)
	panMemory  = regexp.MustCompile(`(?m)^\s*(\S+)\s+total actual memory usage`)
	panSeconds = regexp.MustCompile(`elapsed time (\S+) seconds`)
)

// sample implements [checker]. The megabytes of SPIN are of 1,048,576 bytes, and its transitions
// count the start as one.
func (spin) sample(said string, _ float64) (Sample, error) {
	var states, steps, memory, seconds, found float64
	err := errors.Join(
		scan(said, panErrors, &found),
		scan(said, panStates, &states),
		scan(said, panSteps, &steps),
		scan(said, panMemory, &memory),
		scan(said, panSeconds, &seconds),
	)
	if err != nil {
		return Sample{}, err
	}
	if found > 0 {
		return Sample{}, errFound
	}
	return Sample{
		States:      int(states),
		Transitions: int(steps) - 1,
		Seconds:     seconds,
		PeakBytes:   int64(memory * (1 << 20)),
	}, nil
}

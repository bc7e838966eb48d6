package reduction_test

import (
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/reduction"
)

// TestSameEachTime searches random systems several times: whatever is found, and whatever is a reason not to conclude,
// is the same each time. What the order of a map decides is something else in one of them.
func TestSameEachTime(t *testing.T) {
	n := uint64(*systems / 8)
	if testing.Short() {
		n /= 3
	}
	for i := range n {
		seed := []uint64{0, ledgers, later, errands, settledUsers, staged}[i%6] + *firstSeed + i
		first := ""
		for range 4 {
			system, o := draw(t, seed)
			if i%2 == 1 {
				o.Reducer = reduction.Stubborn{}
			}
			found, space, _ := find(t, system, o)
			all := fmt.Sprintf("%d states, %d steps, %q, %+v", space.States(), space.Stats.Transitions, space.Reasons(), found)
			if first == "" {
				first = all
			} else if all != first {
				t.Errorf("seed %d: at first\n\t%.400s\nand then\n\t%.400s", seed, first, all)
				break
			}
		}
	}
}

// chancy is before the seeds of systems whose controllers do one thing or another by chance.
const chancy = 1 << 37

// TestReducedFindsWhatFullFindsByChance compares reduced searches with full ones where controllers leave something to
// chance.
func TestReducedFindsWhatFullFindsByChance(t *testing.T) { findsInFull(t, chancy) }

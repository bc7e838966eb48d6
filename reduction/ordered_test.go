package reduction_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/explore"
)

// TestComparedVersions searches systems whose controllers may compare versions, with names that say nothing of their
// age and with names that do from the start on: it must find out which of them do.
func TestComparedVersions(t *testing.T) {
	n, compared := *systems*2, 0
	if testing.Short() {
		n /= 5
	}
	for seed := ledgers + *firstSeed; n > 0; seed++ {
		system, o := draw(t, seed)
		known := *system
		known.Store = system.Store.(core.Ordering).Ordered()
		found, err := explore.Search(t.Context(), system, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := explore.Search(t.Context(), &known, o)
		if err != nil {
			t.Fatal(err)
		}
		if found.States() >= o.Bounds.States || want.States() >= o.Bounds.States {
			continue
		}
		n--
		if all, known := shapes(found), shapes(want); !maps.Equal(all, known) {
			t.Errorf("seed %d: %d states look as %d, and %d as %d where versions are in order", seed, found.States(), len(all), want.States(), len(known))
		}
		if found.Ordered() {
			compared++
		}
	}
	t.Logf("in %d of them versions were compared", compared)
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// shapes returns how the states of a space look, but for the names of versions, and for what is counted: what objects
// are, and who has something to do.
func shapes(s *explore.Space) map[string]bool {
	all := map[string]bool{}
	for id := range s.States() {
		state := s.State(core.StateID(id))
		var text strings.Builder
		fmt.Fprintln(&text, s.Outcome(core.StateID(id))) // in the order of keys
		fmt.Fprintln(&text, state.Work(), state.InFlight(), state.Timers())
		all[text.String()] = true
	}
	return all
}

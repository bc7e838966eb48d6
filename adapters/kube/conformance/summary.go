package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String tells what was measured: the totals, what is not modelled, which acceptances were
// met, and what differs besides.
func (f *Fidelity) String() string {
	var b strings.Builder
	total := f.Tally.Total()
	fmt.Fprintf(&b, "%d seeds from %d on, %d requests with each\n", f.Seeds, f.Seed, f.Requests)
	for _, side := range []struct {
		name  string
		score Score
	}{{"the simulated server", total.Simulated}, {"the fake client", total.Fake}} {
		fmt.Fprintf(&b, "%s: %d compared, %d with the same outcome, %d the same in full; %d unsupported\n",
			side.name, side.score.Asked, side.score.SameOutcome, side.score.Same, side.score.Unsupported)
	}
	for _, missing := range slices.Sorted(maps.Keys(f.Unsupported)) {
		fmt.Fprintf(&b, "not modelled: %s (%s)\n", missing, times(f.Unsupported[missing]))
	}
	for _, a := range Accepted() {
		if finding := f.Accepted[a.Name]; finding != nil {
			fmt.Fprintf(&b, "accepted: %s (%s), for example\n    %s\n", a.Name, times(finding.Count), finding.Example)
		} else {
			fmt.Fprintf(&b, "accepted, and never met: %s\n", a.Name)
		}
	}
	for _, signature := range slices.Sorted(maps.Keys(f.Findings)) {
		fmt.Fprintf(&b, "different: %s (%s), for example\n    %s\n", signature, times(f.Findings[signature].Count), f.Findings[signature].Example)
	}
	return b.String()
}

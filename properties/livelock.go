package properties

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// livelocks tells of the livelocks that go on in a component: of each part of the cycle that would go on by itself, and
// of the items that fail whenever they are run meanwhile.
func (c *component) livelocks(cycle core.Run) []account {
	culprits, others := c.culprits(cycle)
	var accounts []account
	writes := map[core.Item]bool{}
	for _, s := range culprits {
		accounts = append(accounts, s.account(cycle, others))
		for _, item := range s.items {
			writes[item] = true
		}
	}
	return append(accounts, retries(cycle, func(e core.Edge) bool {
		return e.Failed != "" && !writes[e.Step.Item] && c.neverSucceeds(e.Step.Item)
	})...)
}

// neverSucceeds tells whether all runs of an item inside the component fail.
func (c *component) neverSucceeds(item core.Item) bool {
	return !c.any(func(e core.Edge) bool { return e.Step.Item == item && e.Failed == "" })
}

// account says what goes round, and who does it.
func (s suspect) account(cycle core.Run, others []round) account {
	controllers := controllersOf(cycle, func(e core.Edge) bool { return e.Wrote && slices.Contains(s.items, e.Step.Item) })
	v := core.Violation{Controllers: controllers}
	who := enumerate(controllers)
	doing, also := "never stop undoing each other's work on", ", and on "
	if len(controllers) == 1 {
		doing, also = "never stops changing", ", and "
	}
	if len(s.rounds) == 0 {
		v.Summary = fmt.Sprintf("%s %s objects", who, doing)
		v.Details = []string{"What is written is taken back in the same step, and it is noticed all the same."}
		return account{causeOf(append([]string{livelock}, controllers...)...), s.items[0].String(), v}
	}
	s.rounds = slices.Clone(s.rounds)
	// What is fought over comes first: the rest may follow from it.
	slices.SortStableFunc(s.rounds, func(a, b round) int { return min(b.controllers(), 2) - min(a.controllers(), 2) })
	first := s.rounds[0]
	v.Fields = namesOf(slices.Concat(fieldsIn(s.rounds), fieldsIn(others)))
	v.Summary = fmt.Sprintf("%s %s %s, which %s", who, doing, first.field, first.goes())
	if n := len(s.rounds) - 1; n > 0 {
		v.Summary += also + counted(n, "more field", "more fields")
	}
	const most = 8
	for _, r := range s.rounds[:min(len(s.rounds), most)] {
		v.Details = append(v.Details, r.String())
	}
	if n := len(s.rounds) - most; n > 0 {
		v.Details = append(v.Details, counted(n, "more field goes", "more fields go")+" round.")
	}
	if len(others) > 0 {
		v.Details = append(v.Details, fmt.Sprintf("What follows from it goes round, too: %s.", briefly(namesOf(fieldsIn(others)), "more field", "more fields")))
	}
	for _, e := range cycle {
		if e.Failed != "" && slices.Contains(s.items, e.Step.Item) {
			v.Details = append(v.Details, fmt.Sprintf("%s, which writes, ends with an error: %s", e.Step.Item, e.Failed))
			break
		}
	}
	why := causeOf(livelock, enumerate(slices.Sorted(slices.Values(controllers))), patterns(fieldsIn(s.rounds)))
	return account{why, first.key.String(), v}
}

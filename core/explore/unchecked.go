package explore

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// Unchecked returns the fields that are set in some version of an object that the search met
// and that the store did not check (see [core.Doubtful]), by kind and what can be done about it, in order.
func (s *Space) Unchecked() []core.Unchecked {
	type group struct {
		kind   core.Kind
		remedy string
	}
	found := map[group]map[string]bool{}
	v := s.machine.vocabulary
	for c := range state.Cell(v.Cells()) {
		key, isObject := v.Key(c)
		if !isObject {
			continue
		}
		for value := range v.Values(c) {
			content, ok := v.Content(c, state.Value(value)).(core.Doubtful)
			if !ok {
				continue
			}
			fields, remedy := content.Unchecked()
			for _, name := range fields {
				g := group{key.Kind, remedy}
				if found[g] == nil {
					found[g] = map[string]bool{}
				}
				found[g][name] = true
			}
		}
	}
	all := make([]core.Unchecked, 0, len(found))
	for g, fields := range found {
		all = append(all, core.Unchecked{Kind: g.kind, Fields: slices.Sorted(maps.Keys(fields)), Remedy: g.remedy})
	}
	slices.SortFunc(all, func(a, b core.Unchecked) int {
		if a.Kind != b.Kind {
			return slices.Compare([]core.Kind{a.Kind}, []core.Kind{b.Kind})
		}
		return slices.Compare([]string{a.Remedy}, []string{b.Remedy})
	})
	return all
}

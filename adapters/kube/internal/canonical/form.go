package canonical

import (
	"fmt"
	"maps"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// Form brings the objects of the kinds in a registry, and outcomes, into canonical form.
type Form struct {
	registry *kinds.Registry
	// places are those of the fields of the kinds, and unordered the paths of lists whose order the user says means
	// nothing.
	places    *kindPlaces
	unordered map[core.Kind]map[string]bool
	// counting are the kinds whose generations stay as the server has counted them.
	counting map[core.Kind]bool
	// clock knows the times that were read off it.
	clock *Clock
	// Ordered tells that the names of versions are in the order of their age.
	Ordered bool
}

// NewForm returns the form for the kinds of a registry, in which the order of some lists means nothing, the generations
// of some kinds stay as they are, and it means nothing when something was written by a clock. It returns an error for a
// list that no object can have, and for a kind that nobody serves.
func NewForm(registry *kinds.Registry, unordered []List, counting []core.Kind, clock *Clock) (*Form, error) {
	f := &Form{registry: registry, places: new(kindPlaces), clock: clock, counting: map[core.Kind]bool{}}
	for _, kind := range counting {
		if registry.Named(kind) == nil {
			return nil, fmt.Errorf("%s, whose generations are to stay as they are counted: the API server has no such kind: it serves %s", kind, f.kindsLike(kind))
		}
		f.counting[kind] = true
	}
	var err error
	f.unordered, err = f.unorderedLists(unordered)
	return f, err
}

// Counting returns the form in which the generations of some more kinds stay as they are.
func (f *Form) Counting(kinds []core.Kind) *Form {
	other := *f
	other.counting = maps.Clone(f.counting)
	for _, kind := range kinds {
		other.counting[kind] = true
	}
	return &other
}

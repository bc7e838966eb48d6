package canonical

import (
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// Form brings the objects of the kinds in a registry, and outcomes, into canonical form.
type Form struct {
	registry *kinds.Registry
	// places are those of the fields of the kinds, and unordered the paths of lists whose order the user says means nothing.
	places    *kindPlaces
	unordered map[core.Kind]map[string]bool
	// clock knows the times that were read off it.
	clock *Clock
	// Ordered tells that the names of versions are in the order of their age.
	Ordered bool
}

// NewForm returns the form for the kinds of a registry, in which the order of some lists means nothing, nor when something was written by a clock. It returns an error
// for a list that no object can have.
func NewForm(registry *kinds.Registry, unordered []List, clock *Clock) (*Form, error) {
	f := &Form{registry: registry, places: new(kindPlaces), clock: clock}
	var err error
	f.unordered, err = f.unorderedLists(unordered)
	return f, err
}

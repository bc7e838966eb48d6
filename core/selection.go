package core

// Selection is a condition on the objects of a kind, such as a label selector.
type Selection interface {
	// Identity tells the selection apart: selections with equal identities select the same objects.
	Identity() string

	// Selects reports whether an object is selected. It must be a function of the object.
	Selects(Object) bool
}

// Selective is a [Snapshot] that knows what it shows when less than all objects of a kind are looked at, so
// that what is not selected does not count as read.
type Selective interface {
	Snapshot

	// Select returns the selected objects of a kind in the order of their keys. An empty namespace
	// means all namespaces.
	Select(kind Kind, namespace string, selection Selection) []Object
}

// Select returns the selected objects of a kind in the order of their keys. An empty namespace
// means all namespaces.
func Select(s Snapshot, kind Kind, namespace string, selection Selection) []Object {
	if selective, ok := s.(Selective); ok {
		return selective.Select(kind, namespace, selection)
	}
	var selected []Object
	for _, o := range s.List(kind, namespace) {
		if selection.Selects(o) {
			selected = append(selected, o)
		}
	}
	return selected
}

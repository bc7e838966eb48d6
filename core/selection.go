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

// Projection is a part of objects: all that somebody looks at of them, such as who owns them.
type Projection interface {
	// Identity tells the projection apart: projections with equal identities show the same of every object.
	Identity() string

	// Project returns the part of an object, never nil. It must be a function of the object.
	Project(Object) Content
}

// Projecting is a [Snapshot] that knows what it shows when only a part of an object is looked at, so that the rest does
// not count as read.
type Projecting interface {
	Snapshot

	// Project returns the part of an object, nil if there is no such object.
	Project(Key, Projection) Content
}

// Project returns the part of an object, nil if there is no such object.
func Project(s Snapshot, key Key, projection Projection) Content {
	if projecting, ok := s.(Projecting); ok {
		return projecting.Project(key, projection)
	}
	if content := s.Get(key); content != nil {
		return projection.Project(Object{Key: key, Content: content})
	}
	return nil
}

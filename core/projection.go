package core

// Projection is a part of objects: all that somebody looks at of them, such as who owns them.
type Projection interface {
	// Identity tells the projection apart: projections with equal identities show the same of every object.
	Identity() string

	// Project returns the part of an object, never nil. It must be a function of the object.
	Project(Object) Content
}

// Projecting is a [Snapshot] that knows what it shows when only a part of an object is looked at, so that the rest does not count as read.
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

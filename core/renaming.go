package core

// Renaming returns a text with names in it exchanged for others.
type Renaming func(text string) string

// Renamer is a [Store] whose objects can be renamed. Where names are declared to be interchangeable (see [System]),
// states that differ only in which is which are brought to one form by it.
type Renamer interface {
	Store

	// Rename returns an object as it would be if names had been exchanged from the start: in its key, wherever its
	// content mentions them, and in what is derived from them, such as a number that names the object for good. What is
	// not renamed as the controllers would have done it makes the names count as different. What is renamed must become
	// what it was if the names are exchanged back; if it does not, no states are merged.
	Rename(Object, Renaming) Object
}

package core

// Randomness sets the random values that code draws, as far as their source can be set. A run that draws some is then a function of a seed as well, and the
// search chooses seeds so that what a run has put into the world is never drawn again.
//
// It is for code that makes names. Values that decide what code does are found out, and are left to chance.
type Randomness interface {
	// Set lets the values that are drawn from now on follow from a seed. Nobody else can set them until that is over: another call waits.
	Set(seed uint64) Draw
}

// Draw is a while in which random values follow from a seed.
type Draw interface {
	// End ends it, and reports whether any value was drawn. It is called once.
	End() bool

	// Stands reports whether all that was drawn are words that stand in some texts. It is called after the end. Whoever compares outcomes may take note of the
	// words: they are names that somebody chose at random.
	Stands(texts []string) bool
}

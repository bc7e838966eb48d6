package core

// Verdict is what a search can say. There are three: not having found anything is
// not the same as there being nothing.
type Verdict string

const (
	// Holds means that everything was searched, nothing was cut, and nothing wrong was found.
	Holds Verdict = "holds"
	// Violated means that something wrong was found, and how to get there.
	Violated Verdict = "violated"
	// Inconclusive means that nothing wrong was found in what was searched, but that not all
	// of it was.
	Inconclusive Verdict = "inconclusive"
)

package conformance

import (
	"fmt"
	"strings"
)

// AcceptedField is a difference in single fields that is left as it is. It must be as
// narrow as it can be. All patterns must fit the whole text; an empty one fits everything.
type AcceptedField struct {
	// Name says what differs.
	Name string
	// Kind, Path and Verb are those of the requests.
	Kind, Path, Verb string
	// Class is that of the difference.
	Class Class
	// Change fits every change in what is stored.
	Change string
	// Real and Ours fit what the servers say.
	Real, Ours string
	// Reason says why it may stay.
	Reason string
}

func (a AcceptedField) accepts(d FieldDifference) bool {
	for _, change := range d.Changes {
		if !fits(a.Change, change) {
			return false
		}
	}
	return (a.Class == "" || a.Class == d.Class) && fits(a.Kind, d.Kind) && fits(a.Path, d.Path) && fits(a.Verb, d.Verb) &&
		fits(a.Real, d.Real) && fits(a.Ours, d.Ours)
}

// AcceptedFields returns all the differences in single fields that are accepted.
func AcceptedFields() []AcceptedField {
	return []AcceptedField{
		{
			Name:   "an empty list where no list may be",
			Kind:   "Pod",
			Path:   `spec\.resources\.claims`,
			Class:  Accepts,
			Ours:   "done",
			Reason: "The server's admission takes a Pod as JSON, which leaves empty lists out. So do clients that send Go types.",
		},
		{
			Name:   "a default PriorityClass that is just gone",
			Kind:   "PriorityClass",
			Path:   "globalDefault",
			Verb:   "update",
			Class:  Accepts,
			Real:   `403 Forbidden: .* PriorityClass m\d+-run is already marked as default\. Only one default can exist`,
			Reason: "The admission plugin looks into a cache, which for a moment has the class that was made and removed before this request.",
		},
	}
}

// acceptedField returns the name of the acceptance that a difference falls under, empty if
// there is none.
func acceptedField(d FieldDifference) string {
	for _, a := range AcceptedFields() {
		if a.accepts(d) {
			return a.Name
		}
	}
	return ""
}

// String says what was counted, on one line.
func (t *FieldTally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d fields, %d values, %d requests, %d refused by the real server", t.Paths, t.Mutations, t.Requests, t.Refused)
	for _, class := range []Class{Accepts, Refuses, Stored, Managers, Unmodelled, Client, Code, Causes, FewerCauses, Message} {
		if n := t.Differences[class]; n > 0 {
			fmt.Fprintf(&b, "; %s: %d", class, n)
		}
	}
	return b.String()
}

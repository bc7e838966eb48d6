package conformance

import (
	"fmt"
	"slices"
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
	// OwnRules tells that only the rules of package kube differ so, and not those of a real server.
	OwnRules bool
	// Race tells that the real server answers either way, so that a run need not show it.
	Race bool
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
			Name:   "an empty list or map where none may be",
			Kind:   "Pod",
			Path:   `spec\.(resources\.claims|overhead)`,
			Class:  Accepts,
			Ours:   "done",
			Reason: "The server's admission takes a Pod as JSON, which leaves empty lists and maps out. So do clients that send Go types.",
		},
		{
			Name:     "an empty bundle of certificates",
			Kind:     "(Mutating|Validating)WebhookConfiguration",
			Path:     `webhooks\[0\]\.clientConfig\.caBundle`,
			Verb:     "update",
			Class:    Stored,
			Change:   "metadata.generation: 2 → 1",
			OwnRules: true,
			Reason: "A real server stores that it was sent, shows nothing of it, and counts a generation when that is new. " +
				"Clients that send Go types leave it out.",
		},
		{
			Name:   "a default PriorityClass that is just gone",
			Kind:   "PriorityClass",
			Path:   "globalDefault",
			Verb:   "update",
			Class:  Accepts,
			Real:   `403 Forbidden: .* PriorityClass m\d+-run is already marked as default\. Only one default can exist`,
			Race:   true,
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

// Unmet returns the names of the acceptances that no difference fell under, although one
// has to: they are about kinds that were compared, by a server with its own rules or those of a real one.
func (t *FieldTally) Unmet(ownRules bool) []string {
	var names []string
	for _, a := range AcceptedFields() {
		compared := slices.ContainsFunc(t.Kinds, func(kind string) bool { return fits(a.Kind, kind) })
		if compared && !a.Race && (ownRules || !a.OwnRules) && t.Accepted[a.Name] == 0 {
			names = append(names, a.Name)
		}
	}
	return names
}

// String says what was counted, on one line.
func (t *FieldTally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d fields, %d values, %d requests, %d refused by the real server", t.Paths, t.Mutations, t.Requests, t.Refused)
	left := 0
	for _, n := range t.Accepted {
		left += n
	}
	if left > 0 {
		fmt.Fprintf(&b, "; in the list of accepted differences: %d", left)
	}
	for _, class := range []Class{Accepts, Refuses, Stored, Managers, Unmodelled, Client, Code, Causes, FewerCauses, Message} {
		if n := t.Differences[class]; n > 0 {
			fmt.Fprintf(&b, "; %s: %d", class, n)
		}
	}
	return b.String()
}

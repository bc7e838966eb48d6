package conformance

import (
	"fmt"
	"regexp"
	"slices"
)

// Acceptance is a way of differing from the real server that is left as it is, since no
// controller can run into it. It must be as narrow as it can be: it has to fit every
// difference that a request leads to.
type Acceptance struct {
	// Name says what differs.
	Name string
	// Verbs are those of the requests; none means all.
	Verbs []Verb
	// Feature is what is special about the requests: a pattern, as are all below. An empty
	// pattern fits everything, others must fit the whole text.
	Feature string
	// Subject is the kind that the requests are about.
	Subject string
	// Where is "outcome", or the place and the path of what differs.
	Where string
	// Real and Simulated are the values on each side.
	Real, Simulated string
	// Reason says why no controller runs into it.
	Reason string
}

// accepts reports whether a difference is of this kind.
func (a Acceptance) accepts(d Difference) bool {
	where := d.Place
	if d.Change.Path != "" {
		where += " " + d.Change.Path
	}
	return (len(a.Verbs) == 0 || slices.Contains(a.Verbs, d.Action.Verb)) &&
		fits(a.Feature, d.Action.Feature) && fits(a.Subject, d.Action.Subject) && fits(a.Where, where) &&
		fits(a.Real, fmt.Sprint(d.Change.From)) && fits(a.Simulated, fmt.Sprint(d.Change.To))
}

func fits(pattern, text string) bool {
	return pattern == "" || regexp.MustCompile(`^(?s:`+pattern+`)$`).MatchString(text)
}

// Accepted returns all the differences that are accepted.
func Accepted() []Acceptance {
	const finalizer = `foregroundDeletion|orphan|example\.com/\w+`
	return []Acceptance{
		{
			Name:      "the order of the finalizers of a Namespace that is being deleted",
			Where:     `stored Namespace \S+ metadata\.finalizers\[\d+\]`,
			Real:      finalizer,
			Simulated: finalizer,
			Reason:    "A real server puts them in the order of a Go map, which is another one each time. The simulated order is one of these.",
		},
		{
			Name:      "that order in an answer",
			Subject:   "Namespace",
			Where:     `answer object\.(items\[\d+\]\.)?metadata\.finalizers\[\d+\]`,
			Real:      finalizer,
			Simulated: finalizer,
			Reason:    "As above.",
		},
		{
			Name:      "a limit that is no number",
			Verbs:     []Verb{Raw},
			Feature:   "malformed parameter",
			Where:     `answer refused\.message`,
			Real:      `strconv\.ParseInt: parsing "x": invalid syntax`,
			Simulated: `limit "x" is not a number`,
			Reason:    "Client libraries write numbers. Code and reason are the same.",
		},
		{
			Name:      "a continue token that no server has made",
			Verbs:     []Verb{Raw},
			Feature:   "malformed parameter",
			Where:     `answer refused\.message`,
			Real:      `invalid continue token: continue key is not valid: .*`,
			Simulated: `continue key is not valid`,
			Reason:    "Tokens are the server's own. Code and reason are the same.",
		},
		{
			Name:    "a kind of resource that nobody has defined",
			Verbs:   []Verb{Raw},
			Feature: "unknown subresource",
			Subject: "Namespace",
			Where:   `answer refused\.(message|details\.(causes|kind))`,
			Reason:  "The path is that of a resource in a namespace. Clients find no such resource to ask for. Code and reason are the same.",
		},
		{
			Name:    "a new custom resource that says it is of another kind",
			Verbs:   []Verb{Raw},
			Feature: "another kind",
			Subject: `Widget(\.v1beta1)?`,
			Where:   `answer refused\.(message|details\.causes\[\d+\])`,
			Reason: "The path and the body of a request come from the same object. A real server also validates the object, " +
				"without the defaults of its kind, and adds what it finds.",
		},
	}
}

// acceptance returns the name of the acceptance that a difference falls under, empty if
// there is none.
func acceptance(d Difference) string {
	for _, a := range Accepted() {
		if a.accepts(d) {
			return a.Name
		}
	}
	return ""
}

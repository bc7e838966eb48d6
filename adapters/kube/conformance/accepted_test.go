package conformance

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// TestAcceptancesAreNarrow shows that the same difference of another request, or of
// another field, is not accepted.
func TestAcceptancesAreNarrow(t *testing.T) {
	change := core.FieldChange{Path: "refused.message", From: `strconv.ParseInt: parsing "x": invalid syntax`, To: `limit "x" is not a number`}
	raw := Action{Verb: Raw, Subject: "Pod", Feature: "malformed parameter"}
	for _, test := range []struct {
		name string
		d    Difference
		want string
	}{
		{"as it is listed", Difference{Action: raw, Place: "answer", Change: change}, "a limit that is no number"},
		{"another verb", Difference{Action: Action{Verb: List, Subject: "Pod", Feature: "malformed parameter"}, Place: "answer", Change: change}, ""},
		{"another feature", Difference{Action: Action{Verb: Raw, Subject: "Pod", Feature: "truncated body"}, Place: "answer", Change: change}, ""},
		{"another outcome", Difference{Action: raw, Place: "outcome", Change: core.FieldChange{From: change.From, To: change.To}}, ""},
		{"another field", Difference{Action: raw, Place: "answer", Change: core.FieldChange{Path: "refused.code", From: change.From, To: change.To}}, ""},
		{"another message", Difference{Action: raw, Place: "answer", Change: core.FieldChange{Path: "refused.message", From: change.From, To: "no"}}, ""},
	} {
		if got := acceptance(test.d); got != test.want {
			t.Errorf("%s: accepted as %q, want %q", test.name, got, test.want)
		}
	}
	names := map[string]bool{}
	for _, a := range Accepted() {
		if names[a.Name] || a.Name == "" || a.Reason == "" {
			t.Errorf("%q needs a name of its own and a reason", a.Name)
		}
		names[a.Name] = true
	}
}

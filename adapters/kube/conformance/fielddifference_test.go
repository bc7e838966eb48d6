package conformance

import "testing"

func refusal(code int64, causes ...any) Answer {
	return Answer{Refused: tree{"code": code, "reason": "Invalid", "details": tree{"causes": causes}}}
}

func TestClasses(t *testing.T) {
	cause := func(reason, field, message string) tree {
		return tree{"reason": reason, "field": field, "message": message}
	}
	one, two := cause("FieldValueInvalid", "spec.a", "no"), cause("FieldValueRequired", "spec.b", "no")
	done := func(value string, managers ...any) Answer {
		return Answer{Object: tree{"spec": tree{"a": value}, "metadata": tree{"managedFields": managers}}}
	}
	for _, test := range []struct {
		name       string
		real, ours Answer
		unmodelled string
		want       Class
	}{
		{"the same object", done("x"), done("x"), "", ""},
		{"another object", done("x"), done("y"), "", Stored},
		{"other managers", done("x"), done("x", "m"), "", Managers},
		{"the same refusal", refusal(422, one), refusal(422, one), "", ""},
		{"accepted", refusal(422, one), done("x"), "", Accepts},
		{"refused", done("x"), refusal(422, one), "", Refuses},
		{"another code", refusal(422, one), refusal(400, one), "", Code},
		{"a cause is missing", refusal(422, one, two), refusal(422, one), "", FewerCauses},
		{"another cause", refusal(422, one), refusal(422, two), "", Causes},
		{"other words", refusal(422, one), refusal(422, cause("FieldValueInvalid", "spec.a", "never")), "", Message},
		{"not modelled", refusal(422, one), Answer{}, "reviews are not stored", Unmodelled},
		{"the client fails", done("x"), Answer{Failed: "no"}, "", Client},
	} {
		if got := newFieldDifference(FieldRequest{}, test.real, test.ours, test.unmodelled).Class; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestFieldAcceptances shows that every accepted difference is told why, and that none of
// them fits everything.
func TestFieldAcceptances(t *testing.T) {
	names := map[string]bool{}
	for _, a := range AcceptedFields() {
		if names[a.Name] || a.Name == "" || a.Reason == "" {
			t.Errorf("%q needs a name of its own and a reason", a.Name)
		}
		names[a.Name] = true
		if a.accepts(FieldDifference{Class: a.Class, Changes: []string{"spec.any: 1 -> 2"}}) {
			t.Errorf("%q accepts any difference", a.Name)
		}
	}
}

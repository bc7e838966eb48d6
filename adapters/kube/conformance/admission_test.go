package conformance

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSubjectsAreAccepted shows that what can be sent is not refused for a reason that nobody
// has thought of: then all servers would agree about nothing. The first body of each subject
// is accepted, and so is each edit that is not listed as wrong.
func TestSubjectsAreAccepted(t *testing.T) {
	l := newLaboratory(t)
	admissions, err := l.Admissions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range admissions {
		s := l.Subjects[i]
		if len(a.Bodies) == 0 || a.Bodies[0] != 0 {
			t.Errorf("%s: the first body is refused", s.Name)
		}
		checkEdits(t, s, "edit", s.Edits, a.Edits)
		checkEdits(t, s, "edit of the status", s.StatusEdits, a.StatusEdits)
	}
}

// checkEdits holds the edits that are accepted against those that are listed as wrong.
func checkEdits(t *testing.T, s Subject, what string, edits []json.RawMessage, accepted []int) {
	t.Helper()
	for i, edit := range edits {
		wrong := s.isWrong(edit)
		switch done := slices.Contains(accepted, i); {
		case done && wrong:
			t.Errorf("%s: this %s is accepted, and listed as wrong: %s", s.Name, what, edit)
		case !done && !wrong:
			t.Errorf("%s: this %s is never accepted: mend it, or list it as wrong: %s", s.Name, what, edit)
		}
	}
}

// TestWrongEditsAreEdits finds what is listed as wrong and is never sent.
func TestWrongEditsAreEdits(t *testing.T) {
	for _, s := range subjects(t) {
		for _, wrong := range s.Wrong {
			if !slices.ContainsFunc(slices.Concat(s.Edits, s.StatusEdits), func(edit json.RawMessage) bool { return string(edit) == string(wrong) }) {
				t.Errorf("%s: no edit is %s", s.Name, wrong)
			}
		}
	}
}

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Admission says what a real server makes of what can be sent for a subject.
type Admission struct {
	Subject string
	// Bodies are the bodies that are accepted, by their position.
	Bodies []int
	// Edits are those of the edits and of the edits of the status that are accepted for an
	// object that was made of one of these bodies, or of one of them with another edit.
	Edits, StatusEdits []int
}

// Admissions tries everything that can be sent for each subject on the real server.
func (l *Laboratory) Admissions(ctx context.Context) ([]Admission, error) {
	var all []Admission
	for _, s := range l.Subjects {
		side, err := l.Real.Begin(ctx)
		if err != nil {
			return nil, err
		}
		t := &admissionTrial{side: side, subject: s}
		if s.Namespaced {
			t.namespace = namespaces[0]
		}
		found := Admission{Subject: s.Name}
		for i, body := range s.Bodies {
			if t.accepted(ctx, Create, body, "") {
				found.Bodies = append(found.Bodies, i)
			}
		}
		first := slices.Concat(t.with(s.Edits, ""), t.with(s.StatusEdits, "status"))
		found.Edits = t.edits(ctx, found.Bodies, t.with(s.Edits, ""), first)
		found.StatusEdits = t.edits(ctx, found.Bodies, t.with(s.StatusEdits, "status"), first)
		all = append(all, found)
		if err := l.Real.end(ctx, side, []Subject{s}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// admissionTrial tries what can be sent for one subject.
type admissionTrial struct {
	side      *Side
	subject   Subject
	namespace string
	made      int
}

// accepted sends an object or, to the object that was made last, an edit.
func (t *admissionTrial) accepted(ctx context.Context, verb Verb, content json.RawMessage, subresource string) bool {
	a := Action{Verb: verb, Subject: t.subject.Name, Namespace: t.namespace, Subresource: subresource}
	if verb == Create {
		t.made++
		a.Object = content
	} else {
		a.Edit = content
	}
	a.Name = fmt.Sprintf("o%d-run", t.made)
	reply := t.side.Do(ctx, a)
	return reply.Refused == nil && reply.Failed == ""
}

// edit is an edit of a part of an object.
type edit struct {
	content     json.RawMessage
	subresource string
}

func (t *admissionTrial) with(contents []json.RawMessage, subresource string) []edit {
	var edits []edit
	for _, content := range contents {
		edits = append(edits, edit{content, subresource})
	}
	return edits
}

// edits returns which of some edits are accepted, to an object as it was made of a body or,
// unless the edit is listed as wrong, after one that may come first.
func (t *admissionTrial) edits(ctx context.Context, bodies []int, edits, first []edit) []int {
	var accepted []int
	for i, e := range edits {
		found := t.edited(ctx, bodies, e)
		if !found && !t.subject.isWrong(e.content) {
			found = slices.ContainsFunc(first, func(f edit) bool { return t.edited(ctx, bodies, f, e) })
		}
		if found {
			accepted = append(accepted, i)
		}
	}
	return accepted
}

// edited reports whether the last of some edits is accepted after the others, for any body.
func (t *admissionTrial) edited(ctx context.Context, bodies []int, edits ...edit) bool {
	for _, body := range bodies {
		done := t.accepted(ctx, Create, t.subject.Bodies[body], "")
		for _, e := range edits {
			done = t.accepted(ctx, Update, e.content, e.subresource)
		}
		if done {
			return true
		}
	}
	return false
}

// isWrong reports whether an edit is listed as wrong.
func (s Subject) isWrong(content json.RawMessage) bool {
	return slices.ContainsFunc(s.Wrong, func(wrong json.RawMessage) bool { return string(wrong) == string(content) })
}

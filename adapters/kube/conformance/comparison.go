package conformance

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Observation is what one side shows after an action: the answer to the client, and
// all that is stored.
type Observation struct {
	// Unsupported says what the side does not model of the request. Then nothing was
	// done, and the rest is empty.
	Unsupported string
	Answer      Answer
	// Stored are the objects by kind, namespace and name.
	Stored tree
}

// observer takes actions on a side and tells what can be seen of that.
type observer struct {
	side     *Side
	renaming *renaming
	// cast are the kinds whose objects are looked at.
	cast []Subject
}

// observe takes an action and looks at what came of it.
func (o *observer) observe(ctx context.Context, a Action) (Observation, error) {
	return o.look(ctx, a, o.side.Do(ctx, a))
}

// look tells what can be seen after an action that got a reply.
func (o *observer) look(ctx context.Context, a Action, reply Reply) (Observation, error) {
	if reply.Unsupported != "" {
		return Observation{Unsupported: reply.Unsupported}, nil
	}
	seen := Observation{Answer: o.renaming.answer(o.side.subject(a.Subject).Kind().Kind, reply), Stored: tree{}}
	objects, err := o.side.stored(ctx, o.cast)
	if err != nil {
		return Observation{}, err
	}
	// Generated names sort at random; the uids have been seen in the order of creation.
	slices.SortStableFunc(objects, func(a, b tree) int { return cmp.Compare(o.renaming.seen(a), o.renaming.seen(b)) })
	for _, object := range objects {
		kind, _ := object["kind"].(string)
		renamed := o.renaming.object(kind, object)
		key := kind + " " + strings.TrimPrefix(objectName(renamed), "/")
		for seen.Stored[key] != nil {
			key += "+" // Generated names have the same word.
		}
		seen.Stored[key] = renamed
	}
	return seen, nil
}

// Difference is one way in which a side answers or stores other than the real server.
type Difference struct {
	Action Action
	// Place is "answer" or the stored object.
	Place string
	// Change leads from the real server's value to that of the other side.
	Change core.FieldChange
}

// String says the difference on one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s (%s): %s: %s", d.Action.Verb, d.Action.Subject, d.Action.Feature, d.Place, d.Change)
}

// positions are those in lists, and keys of objects are names.
var positions = regexp.MustCompile(`\[\d+\]`)

// Signature is what differences have in common that are likely to have one cause.
func (d Difference) Signature() string {
	place, _, _ := strings.Cut(d.Place, " ")
	subject, _, _ := strings.Cut(d.Action.Subject, ".")
	return fmt.Sprintf("%s %s %s %s", d.Action.Verb, subject, place, positions.ReplaceAllString(d.Change.Path, "[]"))
}

// compare returns how a side differs from the real one after an action. Where the
// outcome is another one, nothing else is told. What differs in the answer is not told
// again of the store.
func compare(a Action, real, other Observation) []Difference {
	if !sameOutcome(real.Answer, other.Answer) {
		return []Difference{{Action: a, Place: "outcome", Change: core.FieldChange{From: real.Answer.outcome(), To: other.Answer.outcome()}}}
	}
	var differences []Difference
	add := func(place string, changes []core.FieldChange) {
		for _, change := range changes {
			differences = append(differences, Difference{Action: a, Place: place, Change: change})
		}
	}
	answer := core.DiffFields(real.Answer.fields(), other.Answer.fields())
	add("answer", answer)
	all := maps.Clone(real.Stored)
	maps.Copy(all, other.Stored)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		changes := core.DiffFields(real.Stored[key], other.Stored[key])
		add("stored "+key, slices.DeleteFunc(changes, func(c core.FieldChange) bool {
			return slices.ContainsFunc(answer, func(told core.FieldChange) bool {
				return strings.HasSuffix(told.Path, "."+c.Path) && told.String() == strings.TrimSuffix(told.Path, c.Path)+c.String()
			})
		}))
	}
	return differences
}

// sameOutcome reports whether two answers are of the same kind: done, or refused with the
// same code and reason.
func sameOutcome(a, b Answer) bool {
	if a.Refused == nil || b.Refused == nil {
		return (a.Refused == nil) == (b.Refused == nil) && (a.Failed == "") == (b.Failed == "")
	}
	return a.Refused["code"] == b.Refused["code"] && a.Refused["reason"] == b.Refused["reason"]
}

// outcome is the answer in a few words.
func (a Answer) outcome() string {
	switch {
	case a.Refused != nil:
		return fmt.Sprintf("%v %v: %v", a.Refused["code"], a.Refused["reason"], a.Refused["message"])
	case a.Failed != "":
		return "failed: " + a.Failed
	}
	return "done"
}

func (a Answer) fields() tree {
	fields := tree{}
	if a.Refused != nil {
		fields["refused"] = a.Refused
	}
	if a.Object != nil {
		fields["object"] = a.Object
	}
	if a.Failed != "" {
		fields["failed"] = a.Failed
	}
	return fields
}

package conformance

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
	"github.com/orrery-dev/orrery/core"
)

// Class says in which way two servers differ about one field.
type Class string

// The classes. The first group changes what a controller can get to see; the rest is what a
// refusal says.
const (
	// Accepts: the simulated server accepts what the real one refuses.
	Accepts Class = "accepts"
	// Refuses: the simulated server refuses what the real one accepts.
	Refuses Class = "refuses"
	// Stored: both accept it, and something else is stored.
	Stored Class = "stored"
	// Managers: the same is stored, but for who manages which fields.
	Managers Class = "managers"
	// Unmodelled: the simulated server says that it cannot answer.
	Unmodelled Class = "unmodelled"
	// Client: the client library fails with one of the answers.
	Client Class = "client"
	// Code: both refuse it, with another code or reason.
	Code Class = "code"

	// FewerCauses: what the simulated server says is true, but it does not say all.
	FewerCauses Class = "fewer causes"
	// Causes: the simulated server tells other causes.
	Causes Class = "causes"
	// Message: the same causes in other words.
	Message Class = "message"
)

// Decides reports whether a difference of the class is one in what is accepted, or in what is
// stored.
func (c Class) Decides() bool { return c != "" && c != FewerCauses && c != Causes && c != Message }

// FieldRequest is the request that sets one field to a value.
type FieldRequest struct {
	Kind string
	// Base numbers the object that was changed among the [FieldBases].
	Base int
	// Verb is "create", "update", or "update status".
	Verb  string
	Path  string
	Value any
	Guess mutation.Guess
	// Conflict tells that other members of a union are there as well.
	Conflict bool `json:",omitempty"`
}

// FieldDifference is how the servers differ about a field.
type FieldDifference struct {
	FieldRequest
	Class Class
	// Real and Ours say what the servers did, in short.
	Real, Ours string
	// Changes lead from what the real server stores to what the simulated one does.
	Changes []string `json:",omitempty"`
	// Causes are the reasons and fields of the real refusal, and OurCauses those of the
	// simulated one; Messages are what the real one says of each.
	Causes, OurCauses, Messages []string `json:",omitempty"`
}

// String says the difference on one line.
func (d FieldDifference) String() string {
	text := fmt.Sprintf("%s: %s %s, %s = %v", d.Class, d.Verb, d.Kind, d.Path, d.Value)
	if len(d.Changes) > 0 {
		return fmt.Sprintf("%s: %v", text, d.Changes)
	}
	return fmt.Sprintf("%s\n\treal: %s\n\tours: %s", text, d.Real, d.Ours)
}

// newFieldDifference compares two answers. The class is empty if they are the same.
func newFieldDifference(request FieldRequest, real, ours Answer, unmodelled string) FieldDifference {
	d := FieldDifference{
		FieldRequest: request,
		Real:         real.outcome(),
		Ours:         ours.outcome(),
		Causes:       causes(real, "reason", "field"),
		OurCauses:    causes(ours, "reason", "field"),
		Messages:     causes(real, "field", "message"),
	}
	switch {
	case unmodelled != "":
		d.Class, d.Ours = Unmodelled, unmodelled
	case real.Failed != "" || ours.Failed != "":
		if real.Failed != ours.Failed {
			d.Class = Client
		}
	case real.Refused != nil && ours.Refused != nil:
		d.Class = d.compareRefusals(real.Refused, ours.Refused)
	case real.Refused != nil:
		d.Class = Accepts
	case ours.Refused != nil:
		d.Class = Refuses
	default:
		d.compareObjects(real.Object, ours.Object)
	}
	return d
}

func (d *FieldDifference) compareRefusals(real, ours tree) Class {
	unknown := func(cause string) bool { return !slices.Contains(d.Causes, cause) }
	switch {
	case real["code"] != ours["code"] || real["reason"] != ours["reason"]:
		return Code
	case slices.Equal(d.Causes, d.OurCauses):
		if fmt.Sprint(real) != fmt.Sprint(ours) {
			return Message
		}
		return ""
	case len(d.OurCauses) > 0 && !slices.ContainsFunc(d.OurCauses, unknown):
		return FewerCauses
	}
	return Causes
}

func (d *FieldDifference) compareObjects(real, ours tree) {
	d.Class = Stored
	changes := core.DiffFields(unmanaged(real), unmanaged(ours))
	if len(changes) == 0 {
		d.Class = Managers
		changes = core.DiffFields(real, ours)
	}
	if len(changes) == 0 {
		d.Class = ""
	}
	for _, change := range changes {
		d.Changes = append(d.Changes, change.String())
	}
}

// unmanaged is an object without the record of who manages its fields.
func unmanaged(object tree) tree {
	object = runtime.DeepCopyJSON(object)
	if metadata, ok := object["metadata"].(tree); ok {
		delete(metadata, "managedFields")
	}
	return object
}

// causes are two parts of each cause of a refusal, in order and without duplicates.
func causes(a Answer, one, two string) []string {
	details, _ := a.Refused["details"].(tree)
	list, _ := details["causes"].([]any)
	var all []string
	for _, item := range list {
		if cause, ok := item.(tree); ok {
			all = append(all, fmt.Sprintf("%v: %v", cause[one], cause[two]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

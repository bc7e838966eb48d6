package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Verb is what a client asks for, in the words of [client.Client].
type Verb string

// The verbs of the client, and Raw for an HTTP request of the action's own making.
const (
	Get         Verb = "get"
	List        Verb = "list"
	Create      Verb = "create"
	Update      Verb = "update"
	Patch       Verb = "patch"
	Apply       Verb = "apply"
	Delete      Verb = "delete"
	DeleteAllOf Verb = "deleteAllOf"
	Raw         Verb = "raw"
)

// Action is one thing that a client does. It says nothing that only one of the sides
// could know, such as a uid: it refers to the copies that the client has, each of
// which is the last that the client was sent of an object. So the same actions can be
// taken on every side, and actions can be left out.
//
// Everywhere in an action, and in nothing else, the text "-run" stands for a suffix
// that tells the runs on one server apart, "{{uid KIND NAME}}" for the uid of the object
// of that kind and name that was seen last, and "{{bytes N}}" for a text of N bytes.
type Action struct {
	// Feature says what is special about the action, in a few words.
	Feature string `json:"feature"`
	// Client numbers the clients from 0. Each has its own copies.
	Client int  `json:"client,omitempty"`
	Verb   Verb `json:"verb"`
	// Subject is the name of the kind among the [Subject]s.
	Subject     string `json:"subject"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	Subresource string `json:"subresource,omitempty"`

	// Typed sends and receives Go types where there are some, and not trees.
	Typed bool `json:"typed,omitempty"`
	// MetadataOnly asks a get or list for metadata alone.
	MetadataOnly bool `json:"metadataOnly,omitempty"`

	// Object is what is created or applied, and what an update sends if there is no
	// copy of the object.
	Object json.RawMessage `json:"object,omitempty"`
	// Edit is the JSON merge patch that an update makes to its copy.
	Edit json.RawMessage `json:"edit,omitempty"`

	// PatchType is the content type of a patch, or of what is sent raw.
	PatchType string `json:"patchType,omitempty"`
	// Body is a patch, or what is sent raw. It need not be JSON.
	Body string `json:"body,omitempty"`
	// Locked adds the resource version of the copy to a merge patch.
	Locked bool `json:"locked,omitempty"`
	// Method is that of a raw request.
	Method string `json:"method,omitempty"`
	// Query is that of a raw request.
	Query string `json:"query,omitempty"`

	Owner  string `json:"owner,omitempty"`
	Force  bool   `json:"force,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`

	// SameUID and SameVersion make a delete ask for the uid and the resource version
	// of the copy.
	SameUID     bool   `json:"sameUID,omitempty"`
	SameVersion bool   `json:"sameVersion,omitempty"`
	Propagation string `json:"propagation,omitempty"`
	Grace       *int64 `json:"grace,omitempty"`

	Labels string `json:"labels,omitempty"`
	Fields string `json:"fields,omitempty"`
	Limit  int64  `json:"limit,omitempty"`
	// Continue goes on where the client's last list of the kind has ended.
	Continue bool `json:"continue,omitempty"`
}

// String says the action on one line.
func (a Action) String() string {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Sprintf("%s %s: %v", a.Verb, a.Subject, err)
	}
	return string(text)
}

// Sequence is what happens in one run, after its namespaces "one-run" and "two-run"
// were created.
type Sequence []Action

// String says the sequence in one line for each action.
func (s Sequence) String() string {
	var b strings.Builder
	for _, a := range s {
		b.WriteString(a.String())
		b.WriteByte('\n')
	}
	return b.String()
}

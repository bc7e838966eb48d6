package kube

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// Verb is what a request asks of the API server.
type Verb string

// The verbs of the API server.
const (
	Get              Verb = "get"
	List             Verb = "list"
	Create           Verb = "create"
	Update           Verb = "update"
	Patch            Verb = "patch"
	Delete           Verb = "delete"
	DeleteCollection Verb = "deletecollection"
)

// Request is one request to the simulated API server. It implements [core.Call]
// and must not be changed once it was handed over.
type Request struct {
	Verb Verb
	// Kind is the kind of the object, or of the items of a list ("Pod", not
	// "PodList").
	Kind schema.GroupVersionKind
	// Subresource is empty for the object itself.
	Subresource string
	// Container is the container whose log is asked for, empty if the only one of the Pod is meant.
	Container string `json:",omitempty"`
	// Namespace is empty for cluster-scoped kinds, and for lists over all
	// namespaces.
	Namespace string
	// Name may be empty for a create: the body then has the name, or a
	// generateName.
	Name string

	// FromCache marks a get or list that the caller's informer cache serves.
	FromCache bool
	// OtherCache tells that the cache is not the one whose events the caller gets, see [core.Beside].
	OtherCache bool `json:",omitempty"`

	// Body is the object of a create or update, or the patch of a patch, as JSON.
	Body []byte
	// PatchType says what kind of patch Body is.
	PatchType types.PatchType

	// LabelSelector and FieldSelector restrict a list or a deletecollection; they
	// are written as in a URL ("app=x,tier!=db"). The fields of a list from a cache are its
	// indexes, see [FieldIndex].
	LabelSelector string
	FieldSelector string
	// ControlledBy, if not empty, is the uid of the controller that the objects of a list have. No client can ask for
	// it, but the caches of Kubernetes' own controllers have an index of it. It is for those who play a part of
	// Kubernetes.
	ControlledBy string `json:",omitempty"`
	// Limit is the largest number of items of a list; 0 means all of them.
	Limit int64
	// Continue is the token of the list response that this list continues.
	Continue string

	// PreconditionUID and PreconditionResourceVersion, if not empty, must be those
	// of the object that a delete finds.
	PreconditionUID             string
	PreconditionResourceVersion string
	// Propagation is the propagation policy of a delete: empty (the default of the
	// kind), "Background", "Foreground" or "Orphan".
	Propagation string
	// GracePeriodSeconds is the grace period of a delete, nil for the default.
	GracePeriodSeconds *int64

	// MetadataOnly asks for an answer with nothing but the metadata of objects: as
	// PartialObjectMetadata, or a list of those.
	MetadataOnly bool

	// LifetimeOnly asks for an answer with nothing but what decides how long the object of a get lives: its uid,
	// owners, finalizers, and when it was deleted. No client can ask for so little. It is for those who play a part of
	// Kubernetes, of whom less is searched then.
	LifetimeOnly bool `json:",omitempty"`

	// DryRun asks for the answer without the writes.
	DryRun bool
	// FieldManager names the writer in the record of who manages which fields; empty is
	// "unknown". A server-side apply needs one.
	FieldManager string
	// Force lets a server-side apply take over fields of other managers.
	Force bool
}

var _ core.Call = (*Request)(nil)

// Identity implements [core.Call]: all the fields, as JSON.
func (r *Request) Identity() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic("kube: a request cannot be written as JSON: " + err.Error())
	}
	return string(text)
}

// Aim implements [core.Aimed]: all but the body, and the name in it.
func (r *Request) Aim() string {
	if r.Verb == Get || r.Verb == List {
		return r.Identity()
	}
	aim := *r
	aim.Body = nil
	return aim.Identity() + r.nameInWords()
}

// Contents implements [core.Aimed]. What is encoded is in plain letters there.
func (r *Request) Contents() string { return plaintext.Of(string(r.Body)) }

// Source implements [core.Call].
func (r *Request) Source() core.Source {
	if r.FromCache {
		return core.Cached
	}
	return core.Live
}

var _ core.Beside = (*Request)(nil)

// Beside implements [core.Beside].
func (r *Request) Beside() bool { return r.OtherCache }

// String says the request in a few words, for example "get Widget default/a",
// "list Pod in default with app=x" or "patch (merge) Widget default/a (status)".
func (r *Request) String() string {
	var b strings.Builder
	if r.DryRun {
		b.WriteString("dry-run ")
	}
	b.WriteString(string(r.Verb))
	if r.Verb == Patch {
		fmt.Fprintf(&b, " (%s)", patchWord(r.PatchType))
	}
	b.WriteString(" " + r.Kind.Kind)
	switch r.Verb {
	case List, DeleteCollection:
		if r.Namespace != "" {
			b.WriteString(" in " + r.Namespace)
		}
		if r.LabelSelector != "" {
			b.WriteString(" with " + r.LabelSelector)
		}
		if r.FieldSelector != "" {
			b.WriteString(" where " + r.FieldSelector)
		}
		if r.ControlledBy != "" {
			b.WriteString(" controlled by " + r.ControlledBy)
		}
		if r.Limit > 0 {
			fmt.Fprintf(&b, " (at most %d)", r.Limit)
		}
	default:
		b.WriteByte(' ')
		if r.Namespace != "" {
			b.WriteString(r.Namespace + "/")
		}
		b.WriteString(r.nameInWords())
	}
	if r.Subresource != "" {
		fmt.Fprintf(&b, " (%s)", r.Subresource)
	}
	if r.LifetimeOnly {
		b.WriteString(" (owners, finalizers and deletion)")
	}
	return b.String()
}

// nameInWords is the name of the object, taken from the body where a create
// leaves it there.
func (r *Request) nameInWords() string {
	if r.Name != "" || r.Verb != Create {
		return r.Name
	}
	var body struct {
		Metadata struct{ Name, GenerateName string }
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return "(unreadable body)"
	}
	if body.Metadata.Name == "" && body.Metadata.GenerateName != "" {
		return body.Metadata.GenerateName + "*"
	}
	return body.Metadata.Name
}

// patchWord is the short name of a patch type.
func patchWord(t types.PatchType) string {
	switch t {
	case types.JSONPatchType:
		return "json"
	case types.MergePatchType:
		return "merge"
	case types.StrategicMergePatchType:
		return "strategic"
	case types.ApplyPatchType, types.ApplyCBORPatchType:
		return "apply"
	}
	return string(t)
}

// Enqueue is a call by which a run of a controller puts an item into a work queue, other than the one that it works on:
// its own queue, if the item has no strategy. It is no request to an API server, but like one it takes effect at once.
// It implements [core.Call].
type Enqueue struct {
	Item core.Item
	// Later tells that a timer is set for the item, and that it is in the queue once that fires.
	Later bool
}

var _ core.Call = (*Enqueue)(nil)

// Identity implements [core.Call].
func (e *Enqueue) Identity() string { return fmt.Sprintf("%s %t", e, e.Later) }

// String implements [core.Call].
func (e *Enqueue) String() string {
	text := "enqueue " + e.Item.String()
	if e.Item.Strategy == "" {
		text = "enqueue " + string(e.Item.Request)
	}
	if e.Later {
		text += " later"
	}
	return text
}

// Source implements [core.Call].
func (e *Enqueue) Source() core.Source { return core.Live }

// Unmodelled is a call for a request to an API server that cannot be written as a
// [Request]. A [Server] answers it with [core.Unsupported], so a check that meets it
// is inconclusive. It implements [core.Call].
type Unmodelled struct {
	// Asked is the request in a few words, such as its HTTP method and its path.
	Asked string
	// Reason says what of it is not modelled, and what the user can do instead.
	Reason string
}

var _ core.Call = (*Unmodelled)(nil)

// Identity implements [core.Call].
func (u *Unmodelled) Identity() string { return "unmodelled " + u.String() }

// String implements [core.Call].
func (u *Unmodelled) String() string { return u.Asked + " (" + u.Reason + ")" }

// Source implements [core.Call].
func (u *Unmodelled) Source() core.Source { return core.Live }

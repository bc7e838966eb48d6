package conformance

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Rewrite is a reason for which a server makes a version in which nothing has changed that
// can be compared.
type Rewrite string

// The reasons.
const (
	// InTime is the time at which a manager last wrote.
	InTime Rewrite = "in time"
	// Unshown are empty lists and maps in the metadata of an applied custom resource, which
	// a server stores and does not show. They are gone with the next write.
	Unshown Rewrite = "not shown"
)

// stamp is what tells the versions of an object apart.
type stamp struct {
	version string
	// content is the object without the version, in words that are the same at all times.
	content string
	// times are those in the record of managers.
	times []*metav1.Time
}

// stamp takes note of a stored object and of the words for it.
func (o *observer) stamp(object, renamed tree) {
	u := unstructured.Unstructured{Object: object}
	words := unstructured.Unstructured{Object: runtime.DeepCopyJSON(renamed)}
	words.SetResourceVersion("")
	now := stamp{version: u.GetResourceVersion(), content: fmt.Sprint(words.Object)}
	for _, entry := range u.GetManagedFields() {
		now.times = append(now.times, entry.Time)
	}
	before, known := o.stamps[u.GetUID()]
	if known && before.version != now.version && before.content == now.content {
		same := slices.EqualFunc(before.times, now.times, func(a, b *metav1.Time) bool { return a.Equal(b) })
		switch {
		case !same:
			o.rewritten = InTime
		case o.emptied:
			o.rewritten = Unshown
		}
	}
	if o.stamps == nil {
		o.stamps = map[types.UID]stamp{}
	}
	o.stamps[u.GetUID()] = now
}

// appliesEmpty tells whether an action applies a custom resource with something empty in
// its metadata.
func appliesEmpty(s Subject, a Action) bool {
	if a.Verb != Apply || !s.Custom() || a.Subresource == "scale" {
		return false
	}
	var object struct {
		Metadata map[string]any `json:"metadata"`
	}
	mustDecode(a.Object, &object)
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if value, found := object.Metadata[name]; found && isEmpty(value) {
			return true
		}
	}
	return false
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case tree:
		return len(v) == 0
	}
	return false
}

package conformance

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
		o.ticked = o.ticked || !slices.EqualFunc(before.times, now.times, func(a, b *metav1.Time) bool { return a.Equal(b) })
	}
	if o.stamps == nil {
		o.stamps = map[types.UID]stamp{}
	}
	o.stamps[u.GetUID()] = now
}

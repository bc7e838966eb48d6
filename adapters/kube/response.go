package kube

import (
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/randomness"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Response is the server's answer to a [Request]. Exactly one of its two forms is
// there: the request was done and Object is what the server sends back, or it was
// refused and Status says why.
type Response struct {
	// Object is the object, or the list, as canonical JSON, in the version that
	// was asked for and with its resourceVersion. It is nil when the request was
	// refused, and for delete and deletecollection, of whose answers clients see
	// only the error. It must not be changed.
	Object json.RawMessage
	// Status is the refusal, nil if the request was done.
	Status *metav1.Status

	// items is how many items a list has; -1 if Object is no list.
	items int
	// versions are the versions of objects that Object shows.
	versions []core.Object
	// backwards tells that a list is in the opposite order.
	backwards bool
}

var _ core.Versioned = (*Response)(nil)

// Versions implements [core.Versioned].
func (r *Response) Versions() []core.Object { return r.versions }

var _ core.Listing = (*Response)(nil)

// Backwards implements [core.Listing].
func (r *Response) Backwards() core.Response {
	var shown map[string]any
	if r.items < 2 || utiljson.Unmarshal(r.Object, &shown) != nil {
		return nil
	}
	items, _ := shown["items"].([]any)
	slices.Reverse(items)
	other := *r
	other.Object, other.backwards, other.versions = jsontree.Canonical(shown), !r.backwards, slices.Clone(r.versions)
	slices.Reverse(other.versions)
	return &other
}

// Retagged implements [core.Versioned].
func (r *Response) Retagged(names *core.Retagging) core.Response {
	other := *r
	other.Object = json.RawMessage(names.In(string(r.Object)))
	if r.Status != nil {
		other.Status = r.Status.DeepCopy()
		other.Status.Message = names.In(r.Status.Message)
	}
	if !names.OnlyNoted() {
		return &other
	}
	own := map[core.Key]string{}
	for _, object := range r.versions {
		own[object.Key] = storage.Of(object.Content).Version
	}
	return other.shown(func(key core.Key, tree map[string]any) map[string]any {
		if metadata, _ := tree["metadata"].(map[string]any); metadata["resourceVersion"] != nil {
			jsontree.Set(tree, own[key], "metadata", "resourceVersion")
		}
		return tree
	})
}

// Earlier implements [core.Versioned].
func (r *Response) Earlier(by map[core.Key]map[string]int) core.Response {
	other := *r.shown(func(key core.Key, tree map[string]any) map[string]any { return storage.Predated(tree, by[key]) })
	other.versions = core.EarlierObjects(r.versions, by)
	return &other
}

// shown returns the response as clients see it if what is shown of each object is what a function returns. It shows the
// same versions.
func (r *Response) shown(as func(key core.Key, tree map[string]any) map[string]any) *Response {
	var shown map[string]any
	if len(r.versions) == 0 || r.items < 0 && len(r.versions) != 1 || utiljson.Unmarshal(r.Object, &shown) != nil {
		return r
	}
	other := *r
	if r.items < 0 {
		other.Object = jsontree.Canonical(as(r.versions[0].Key, shown))
		return &other
	}
	items, _ := shown["items"].([]any)
	if len(items) != len(r.versions) {
		return r
	}
	for i, item := range items {
		if tree, ok := item.(map[string]any); ok {
			items[i] = as(r.versions[i].Key, tree)
		}
	}
	other.Object = jsontree.Canonical(shown)
	return &other
}

// Err returns the refusal as the error that a client returns for it (see
// [apierrors.IsConflict] and the like), nil if the request was done.
func (r *Response) Err() error {
	if r.Status == nil {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *r.Status.DeepCopy()}
}

// Identity implements [core.Response]: the whole answer.
func (r *Response) Identity() string {
	if r.Status == nil {
		return string(r.Object)
	}
	text, err := json.Marshal(r.Status)
	if err != nil {
		panic("kube: a status cannot be written as JSON: " + err.Error())
	}
	return string(text)
}

// String says the response in a few words: "ok", "3 items" or
// "409 Conflict: " with the server's message.
func (r *Response) String() string {
	switch {
	case r.Status != nil:
		return fmt.Sprintf("%d %s: %s", r.Status.Code, r.Status.Reason, r.Status.Message)
	case r.items == 1:
		return "1 item"
	case r.backwards:
		return fmt.Sprintf("%d items, in the opposite order", r.items)
	case r.items >= 0:
		return fmt.Sprintf("%d items", r.items)
	}
	return "ok"
}

// done is the answer to a request that sends back one object, or nothing.
func done(object json.RawMessage) *Response { return &Response{Object: object, items: -1} }

// refused is the answer to a request that the server refuses.
func refused(err *apierrors.StatusError) *Response {
	status := err.ErrStatus
	return &Response{Status: &status, items: -1}
}

// Done is the response of some server that has done a request, with the object that
// it sends back as JSON, nil if it sends none that matters.
func Done(object json.RawMessage) *Response { return done(object) }

// DoneList is the response of some server with a list of so many items, as JSON.
func DoneList(list json.RawMessage, items int) *Response {
	return &Response{Object: list, items: items}
}

// Refused is the response of some server that refuses a request.
func Refused(status *metav1.Status) *Response { return &Response{Status: status, items: -1} }

// chance is what controllers draw.
type chance struct{ *randomness.Source }

var _ core.Randomness = chance{}

// Other implements [core.Randomness].
func (c chance) Other(answer core.Response, variation int, only ...string) (other core.Response, whole bool) {
	response, ok := answer.(*Response)
	if !ok {
		return answer, true
	}
	if response.Status != nil {
		return answer, !c.Has(response.Status.Message)
	}
	whole = true
	varied, ok := response.spelled(func(text string) string {
		if len(only) > 0 && !slices.Contains(only, text) {
			return text
		}
		other, known := c.Source.Other(text, variation)
		whole = whole && known
		return other
	})
	return varied, whole && (ok || len(response.Object) == 0)
}

// Texts implements [core.Randomness].
func (c chance) Texts(answer core.Response) []string {
	var texts []string
	if response, ok := answer.(*Response); ok && response.Status == nil {
		_, _ = response.spelled(func(text string) string {
			if other, known := c.Source.Other(text, 1); known && other != text && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
			return text
		})
	}
	slices.Sort(texts)
	return texts
}

// Echo implements [core.Randomness].
func (c chance) Echo(answer core.Response, recorded, observed []string) core.Response {
	response, ok := answer.(*Response)
	if !ok || response.Status != nil {
		return answer
	}
	echoes := randomness.Echoes(recorded, observed)
	if len(echoes) == 0 {
		return answer
	}
	echo, _ := response.spelled(func(text string) string {
		if other, said := echoes[text]; said {
			return other
		}
		return text
	})
	return echo
}

// spelled returns the response with other texts in it, itself if they are the same, and whether it is JSON.
func (r *Response) spelled(as func(text string) string) (*Response, bool) {
	var object any
	if utiljson.Unmarshal(r.Object, &object) != nil {
		return r, false
	}
	same := true
	object = jsontree.Texts(object, func(text string, _ bool) string {
		other := as(text)
		same = same && other == text
		return other
	})
	if same {
		return r, true
	}
	varied := *r
	varied.Object = jsontree.Canonical(object)
	return &varied, true
}

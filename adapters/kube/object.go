package kube

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// Object is one version of a stored object: an immutable tree of JSON values, in
// the storage version of its kind. It implements [core.Content].
//
// The tree has no metadata.resourceVersion: the server derives that from the
// content whenever it shows the object.
type Object struct {
	tree map[string]any
	// text is the tree as canonical JSON.
	text []byte
	// mark is the ordinal of the write within its run, until the run has settled.
	mark int
	// canonical is text with the mark.
	canonical string
	// version is the resource version that clients are shown: a decimal number that
	// names the content.
	version string
	// sent is what clients are sent, made when it is first asked for.
	sent func() json.RawMessage
}

var _ core.Content = (*Object)(nil)

// newObject takes the tree over: nobody may change it afterwards.
func newObject(tree map[string]any, mark int) *Object {
	o := &Object{tree: tree, text: canonicalJSON(tree), mark: mark}
	o.canonical = string(o.text)
	if mark > 0 {
		o.canonical += " written as number " + strconv.Itoa(mark)
	}
	o.version = versionOf(o.canonical)
	o.sent = sync.OnceValue(func() json.RawMessage {
		apiVersion, _ := tree["apiVersion"].(string)
		return canonicalJSON(o.shown(apiVersion, o.version))
	})
	return o
}

// Canonical implements [core.Content].
func (o *Object) Canonical() string { return o.canonical }

// Fields implements [core.Content]: the tree as in unstructured objects.
func (o *Object) Fields() any { return o.tree }

// copy returns a tree that may be changed.
func (o *Object) copy() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.tree)}
}

// meta gives read access to the metadata.
func (o *Object) meta() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.tree}
}

// shown returns the tree as clients see it: in the given apiVersion, with the
// resource version if there is one. It shares what it does not change.
func (o *Object) shown(apiVersion, resourceVersion string) map[string]any {
	tree := maps.Clone(o.tree)
	tree["apiVersion"] = apiVersion
	if resourceVersion != "" {
		metadata, _ := tree["metadata"].(map[string]any)
		metadata = maps.Clone(metadata)
		metadata["resourceVersion"] = resourceVersion
		tree["metadata"] = metadata
	}
	return tree
}

// versionOf derives a resource version from a text: below 2^53, so that every JSON
// reader can hold it, and never 0.
func versionOf(text string) string {
	const bits = 53
	sum := sha256.Sum256([]byte(text))
	number := binary.BigEndian.Uint64(sum[:8]) >> (64 - bits)
	return strconv.FormatUint(max(number, 1), 10)
}

// canonicalJSON writes a tree with sorted keys.
func canonicalJSON(tree any) []byte {
	text, err := json.Marshal(tree)
	if err != nil {
		panic("kube: a tree of JSON values cannot be written as JSON: " + err.Error())
	}
	return text
}

// encode is the object as clients are sent it: in an apiVersion, and with the resource
// version if there is one.
func (o *Object) encode(apiVersion, resourceVersion string) json.RawMessage {
	if resourceVersion == o.version && apiVersion == o.tree["apiVersion"] {
		return o.sent()
	}
	return canonicalJSON(o.shown(apiVersion, resourceVersion))
}

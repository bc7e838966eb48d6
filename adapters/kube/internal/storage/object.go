package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// Object is one version of a stored object: an immutable tree of JSON values, in
// the storage version of its kind. It implements [core.Content].
//
// The tree has no metadata.resourceVersion: the server derives that from the
// content whenever it shows the object.
type Object struct {
	Tree map[string]any
	// Unshown names the fields that are empty in the store, which nobody is shown: an applied
	// custom resource has none of them for those who read it, a Job has the labels of its
	// Pods, and a new claim is pending. The next write stores what is shown.
	Unshown []string
	// Text is the tree as canonical JSON, with what is not shown.
	Text string
	// Again tells versions apart: how many with equal trees somebody could still refer
	// to when this one was written, or how many at all if their order is shown.
	Again int
	// canonical is text with again.
	canonical string
	// Version is the resource version that clients are shown: a decimal number that
	// names the content, and is larger the larger Again is.
	Version string
	// Coverage knows which fields the server checks, nil if it checks them all.
	Coverage *fieldrules.Coverage
	// sent is what clients are sent, made when it is first asked for.
	sent func() json.RawMessage
	// notes are the uids and generated names of others that it has noted, looked for when they are first asked for.
	notes func() map[string]any
	// written are the times that it shows, by their places, looked for when they are first asked for.
	written func() map[string]string
}

var (
	_ core.Doubtful   = (*Object)(nil)
	_ core.Tagged     = (*Object)(nil)
	_ core.Aged       = (*Object)(nil)
	_ core.Identified = (*Object)(nil)
)

// New takes the tree over: nobody may change it afterwards.
func New(tree map[string]any, again int, unshown ...string) *Object {
	o := &Object{Tree: tree, Text: string(jsontree.Canonical(tree)), Again: again, Unshown: unshown}
	if len(unshown) > 0 {
		o.Text += " with empty " + strings.Join(unshown, ", ")
	}
	o.canonical = o.Text
	if again > 0 {
		o.canonical += " again, number " + strconv.Itoa(again)
	}
	o.Version = strconv.FormatUint(uint64(again)<<bitsOfText|1<<(bitsOfText-1)|hashed(o.canonical, bitsOfText), 10)
	o.sent = sync.OnceValue(func() json.RawMessage {
		apiVersion, _ := tree["apiVersion"].(string)
		return jsontree.Canonical(Readable(o.Shown(apiVersion, o.Version)))
	})
	o.notes = sync.OnceValue(func() map[string]any { return noted(o) })
	o.written = sync.OnceValue(func() map[string]string { return written(tree) })
	return o
}

// Canonical implements [core.Content].
func (o *Object) Canonical() string { return o.canonical }

// Chosen implements [core.Identified].
func (o *Object) Chosen() string { return string(o.Meta().GetUID()) }

// Identities implements [core.Identified].
func (o *Object) Identities() []string {
	meta := o.Meta()
	var names []string
	if uid := o.Chosen(); uid != "" {
		names = append(names, uid)
	}
	if _, generated := GeneratedFrom(meta.GetName(), meta.GetGenerateName()); generated {
		names = append(names, meta.GetName())
	}
	return names
}

// Tag implements [core.Tagged].
func (o *Object) Tag() string { return o.Version }

// Retagged implements [core.Tagged].
func (o *Object) Retagged(names *core.Retagging) core.Content {
	tree, _ := jsontree.Texts(o.Tree, func(text string, _ bool) string { return names.In(text) }).(map[string]any)
	other := New(tree, o.Again, o.Unshown...).From(o)
	other.Version = names.Tag(o.Version)
	return other
}

// ShownAs returns the object as it would be shown with another tree. It keeps its resource version.
func (o *Object) ShownAs(tree map[string]any) *Object {
	other := New(tree, o.Again, o.Unshown...).From(o)
	other.Version = o.Version
	return other
}

// Fields implements [core.Content]: the tree as in unstructured objects.
func (o *Object) Fields() any { return o.Tree }

// Unchecked implements [core.Doubtful]: a server knows most of what a real one wants of the fields
// of Kubernetes' own kinds, and not all.
func (o *Object) Unchecked() (fields []string, remedy string) {
	return o.Coverage.Unchecked(o.Tree), "import github.com/orrery-dev/orrery/adapters/kube/upstream and pass its option to the API server"
}

// From makes an object that takes the place of another one.
func (o *Object) From(other *Object) *Object {
	o.Coverage = other.Coverage
	return o
}

// Copy returns a tree that may be changed.
func (o *Object) Copy() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Tree)}
}

// Live returns the object as a write finds it: with its resource version. Its metadata
// may be given other fields; all the rest is shared, and nobody may change it.
func (o *Object) Live() *unstructured.Unstructured {
	apiVersion, _ := o.Tree["apiVersion"].(string)
	return &unstructured.Unstructured{Object: o.Shown(apiVersion, o.Version)}
}

// Meta gives read access to the metadata.
func (o *Object) Meta() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.Tree}
}

// Shown returns the tree as clients see it: in the given apiVersion, with the
// resource version if there is one. It shares what it does not change.
func (o *Object) Shown(apiVersion, resourceVersion string) map[string]any {
	tree := maps.Clone(o.Tree)
	tree["apiVersion"] = apiVersion
	if resourceVersion != "" {
		metadata, _ := tree["metadata"].(map[string]any)
		metadata = maps.Clone(metadata)
		metadata["resourceVersion"] = resourceVersion
		tree["metadata"] = metadata
	}
	return tree
}

// bitsOfText are those of a resource version that come from a text, of which the first is 1, so that the number is long
// enough not to stand in other texts by chance. Before them is what counts versions.
const bitsOfText = 48

// VersionLength is how many digits a resource version has at least.
const VersionLength = 15

// VersionOf derives a resource version from a text: below 2^53, so that every JSON
// reader can hold it, and never 0.
func VersionOf(text string) string {
	const bits = 53
	return strconv.FormatUint(hashed(text, bits), 10)
}

// hashed returns a number of so many bits that names a text. It is never 0.
func hashed(text string, bits int) uint64 {
	sum := sha256.Sum256([]byte(text))
	return max(1, binary.BigEndian.Uint64(sum[:8])>>(64-bits))
}

// Encode is the object as clients are sent it: in an apiVersion, and with the resource
// version if there is one.
func (o *Object) Encode(apiVersion, resourceVersion string) json.RawMessage {
	if resourceVersion == o.Version && apiVersion == o.Tree["apiVersion"] {
		return o.sent()
	}
	return jsontree.Canonical(Readable(o.Shown(apiVersion, resourceVersion)))
}

// Readable returns a tree without what is stored and left out whenever it is read: a
// policy for traffic inside of the cluster, of a Service that is outside.
func Readable(tree map[string]any) map[string]any {
	spec, _ := tree["spec"].(map[string]any)
	if tree["kind"] != string(kinds.Service) || tree["apiVersion"] != "v1" || spec["type"] != string(corev1.ServiceTypeExternalName) || spec["internalTrafficPolicy"] == nil {
		return tree
	}
	tree = maps.Clone(tree)
	tree["spec"] = jsontree.Without(spec, "internalTrafficPolicy")
	return tree
}

// Now is what the server's clock shows at the start. It moves only where a long time passes: a clock that
// moved with every step would make each state a new one.
func Now() metav1.Time {
	return metav1.NewTime(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// Of is the content as what the server itself once wrote.
func Of(content core.Content) *Object {
	object, ok := content.(*Object)
	if !ok {
		panic(fmt.Sprintf("kube: the store holds a %T, which the API server did not write", content))
	}
	return object
}

// Waits reports whether an object is being deleted and kept by a finalizer.
func Waits(object *unstructured.Unstructured, finalizer string) bool {
	return object.GetDeletionTimestamp() != nil && slices.Contains(object.GetFinalizers(), finalizer)
}

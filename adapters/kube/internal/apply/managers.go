package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// Managers are the library's views on who manages what. They hold
// nothing of any object, and are made when they are first needed.
type Managers struct {
	mu   sync.Mutex
	made map[fieldManagerKey]*managedfields.FieldManager
}

// fieldManagerKey names a view by the kind, with its version, and the subresource of
// requests. resets tells that nobody comes to manage fields that the subresource cannot
// set.
type fieldManagerKey struct {
	kind        schema.GroupVersionKind
	subresource string
	resets      bool
}

// Of returns the library's view on who manages what of a kind in a version, for requests for a
// subresource.
func (known *Managers) Of(r *kinds.Resource, kind schema.GroupVersionKind, subresource string, resets bool) (*managedfields.FieldManager, error) {
	known.mu.Lock()
	defer known.mu.Unlock()
	key := fieldManagerKey{kind: kind, subresource: subresource, resets: resets}
	if made := known.made[key]; made != nil {
		return made, nil
	}
	made, err := newFieldManager(r, key)
	if err != nil {
		return nil, err
	}
	if known.made == nil {
		known.made = map[fieldManagerKey]*managedfields.FieldManager{}
	}
	known.made[key] = made
	return made, nil
}

func newFieldManager(r *kinds.Resource, key fieldManagerKey) (*managedfields.FieldManager, error) {
	types, err := r.Types()
	if err == nil {
		_, err = types.ObjectToTyped(kinds.EmptyOf(key.kind))
	}
	if err != nil {
		return nil, fmt.Errorf("who manages which fields of %s is not modelled, since the types of its fields are not known: let the controller update or patch it in the check instead of applying it, and leave kube.ManagedFields out", r.Name)
	}
	var reset map[fieldpath.APIVersion]*fieldpath.Set
	if key.resets {
		reset = resetFields(r, key.subresource)
	}
	hub := schema.GroupVersion{Group: r.Group, Version: r.Storage}
	none := NoConversion{Resource: r}
	return managedfields.NewDefaultCRDFieldManager(types, none, none, none, key.kind, hub, key.subresource,
		fieldpath.NewExcludeFilterSetMap(reset))
}

// resetFields are the fields that a request for a subresource cannot set, so that it
// does not come to manage them.
func resetFields(r *kinds.Resource, subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	var paths []fieldpath.Path
	for _, path := range resetPaths(r, subresource) {
		var steps fieldpath.Path
		for _, name := range path {
			steps = append(steps, fieldpath.PathElement{FieldName: &name})
		}
		paths = append(paths, steps)
	}
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range r.Served {
		apiVersion := schema.GroupVersion{Group: r.Group, Version: version}.String()
		sets[fieldpath.APIVersion(apiVersion)] = fieldpath.NewSet(paths...)
	}
	return sets
}

// resetPaths are the paths of those fields.
func resetPaths(r *kinds.Resource, subresource string) [][]string {
	switch {
	case !r.Status:
		return nil
	case r.Name == kinds.SigningRequest:
		return resetPathsOfSigningRequest(subresource)
	case subresource != kinds.StatusSubresource:
		return [][]string{{"status"}}
	case r.Custom:
		return [][]string{{"spec"}, {"metadata"}}
	}
	switch r.Name {
	case "Deployment.apps":
		return [][]string{{"spec"}, {"metadata", "labels"}}
	case kinds.Pod:
		return [][]string{{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}
	}
	return [][]string{{"spec"}}
}

// resetPathsOfSigningRequest are those paths of a request for a certificate, which nobody but
// its author sets.
func resetPathsOfSigningRequest(subresource string) [][]string {
	switch subresource {
	case kinds.StatusSubresource:
		return [][]string{{"spec"}, {"status", "conditions"}}
	case kinds.ApprovalSubresource:
		return [][]string{{"spec"}, {"status", "certificate"}}
	}
	return [][]string{{"spec"}, {"status"}}
}

// SettleManagers takes the real time from the record of managers, which the library has
// just written, and orders it as the library does.
func SettleManagers(object *unstructured.Unstructured) {
	entries := RecordOf(object)
	if len(entries) == 0 {
		object.SetManagedFields(nil)
		return
	}
	now := storage.Now().Format(time.RFC3339)
	for _, entry := range entries {
		if fields := entry.(map[string]any); fields["time"] != nil {
			fields["time"] = now
		}
	}
	sortManagers(entries)
}

// sortManagers orders a record of managers.
func sortManagers(entries []any) {
	slices.SortFunc(entries, func(a, b any) int {
		for _, name := range []string{"operation", "time", "manager", "apiVersion", "subresource"} {
			one, _ := a.(map[string]any)[name].(string)
			other, _ := b.(map[string]any)[name].(string)
			if order := cmp.Compare(one, other); order != 0 {
				return order
			}
		}
		return 0
	})
}

// RecordOf is the record of managers, as it is in the tree.
func RecordOf(object *unstructured.Unstructured) []any {
	return jsontree.ListAt(object, "metadata", "managedFields")
}

// NoConversion is the conversion between versions whose objects look the same.
type NoConversion struct{ Resource *kinds.Resource }

// ConvertToVersion implements [runtime.ObjectConvertor]. It copies no more than it
// changes.
func (c NoConversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	object, ok := in.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T is not a tree of fields", in)
	}
	kind := object.GroupVersionKind()
	into, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{kind})
	if !ok || !slices.Contains(c.Resource.Served, into.Version) && into.Version != c.Resource.Storage {
		return nil, runtime.NewNotRegisteredErrForTarget(string(c.Resource.Name), nil, target)
	}
	if into == kind {
		return object, nil
	}
	tree := maps.Clone(object.Object)
	tree["apiVersion"] = into.GroupVersion().String()
	return &unstructured.Unstructured{Object: tree}, nil
}

// Convert implements [runtime.ObjectConvertor].
func (c NoConversion) Convert(any, any, any) error {
	return fmt.Errorf("objects of %s are converted to a version only", c.Resource.Name)
}

// ConvertFieldLabel implements [runtime.ObjectConvertor].
func (c NoConversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements [runtime.ObjectDefaulter]. Defaults are set when the outcome is
// decoded.
func (c NoConversion) Default(runtime.Object) {}

// New implements [runtime.ObjectCreater].
func (c NoConversion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return kinds.EmptyOf(kind), nil
}

// Mistyped returns what a server says about an applied object that has no place in
// the types of its kind, nil if it has. Where several things are wrong with it, the
// library tells some of them, in any order. So that the answer is always the same,
// fields are left out as long as something is wrong with the others.
func Mistyped(r *kinds.Resource, wanted *unstructured.Unstructured) error {
	types, err := r.Types()
	if err != nil {
		return err
	}
	check := func(tree map[string]any) error {
		_, err := types.ObjectToTyped(&unstructured.Unstructured{Object: tree})
		return err
	}
	if check(wanted.Object) == nil {
		return nil
	}
	tree := runtime.DeepCopyJSON(wanted.Object)
	reduce(tree, func() bool {
		err := check(tree)
		// An item of a list cannot do without what tells it from the others.
		return err != nil && !strings.Contains(err.Error(), "omits key field")
	}, "apiVersion", "kind")
	return fmt.Errorf("failed to create typed patch object (%s/%s; %s): %w",
		wanted.GetNamespace(), wanted.GetName(), wanted.GroupVersionKind(), check(tree))
}

// reduce leaves out fields, at any depth and other than those to keep, without which
// something is still wrong: the last ones in order first.
func reduce(value any, wrong func() bool, keep ...string) {
	switch value := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		slices.Reverse(names)
		for _, name := range names {
			if slices.Contains(keep, name) {
				continue
			}
			below := value[name]
			delete(value, name)
			if !wrong() {
				value[name] = below
				reduce(below, wrong)
			}
		}
	case []any:
		for _, item := range value {
			reduce(item, wrong)
		}
	}
}

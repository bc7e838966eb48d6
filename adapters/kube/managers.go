package kube

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

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// Who manages which fields of an object is recorded in its metadata.managedFields, by
// the real server's own library. An object gets the record with its first server-side
// apply, which finds the fields that are there in the hands of "before-first-apply";
// with [ManagedFields] it has one from the start. From then on every write keeps it.

// recordManagers brings the record of managers in an object that was sent up to date
// with the change that it makes to the live one. A record that is sent with an update
// replaces the one that is there.
func (op *operation) recordManagers(live, object *unstructured.Unstructured) error {
	known := live.GetUID() != "" && op.request.Subresource == "" && jsontree.At(object, "metadata", "managedFields") != nil
	if !known && !op.server.managedFields && len(recordOf(live)) == 0 {
		object.SetManagedFields(nil)
		return nil
	}
	manager, err := op.fieldManager(true)
	if err != nil {
		return err
	}
	unlabelled := op.resource.Name == kinds.Job && len(object.GetLabels()) == 0
	if unlabelled {
		// To whoever sends a Job, a real server also ascribes the labels that it gets from its template.
		builtin.LabelJob(object)
	}
	_, err = manager.Update(live, object, op.request.FieldManager)
	if unlabelled {
		object.SetLabels(nil)
	}
	if err == nil {
		settleManagers(object)
		return nil
	}
	// The real server gives up the record as well.
	object.SetManagedFields(nil)
	return nil
}

// recordFirst starts the record of a live object that has none: somebody wrote all
// that is there, other than what the server sets.
func (op *operation) recordFirst(live *unstructured.Unstructured) error {
	if op.server.managedFields || len(recordOf(live)) > 0 {
		return nil // It was there, and somebody has removed it: the library sees to that.
	}
	manager, err := op.fieldManager(false)
	if err != nil {
		return err
	}
	written := live.DeepCopy()
	if isNew := builtin.NewStatus(op.resource, live); isNew != nil && jsontree.Same(live.Object["status"], isNew) {
		// The server itself has set it.
		delete(written.Object, "status")
	}
	if _, err := manager.Update(kinds.EmptyOf(op.request.Kind), written, "before-first-apply"); err != nil {
		return builtin.InternalError(err.Error())
	}
	entries := written.GetManagedFields()
	for i := range entries {
		entries[i].Subresource = ""
	}
	live.SetManagedFields(entries)
	return nil
}

// fieldManagers are the library's views on who manages what. They hold
// nothing of any object, and are made when they are first needed.
type fieldManagers struct {
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

// fieldManager returns the library's view on who manages what, for the version and
// the subresource of the request.
func (op *operation) fieldManager(resets bool) (*managedfields.FieldManager, error) {
	known := op.server.managers
	known.mu.Lock()
	defer known.mu.Unlock()
	key := fieldManagerKey{kind: op.request.Kind, subresource: op.request.Subresource, resets: resets}
	if made := known.made[key]; made != nil {
		return made, nil
	}
	made, err := newFieldManager(op.resource, key)
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
	none := noConversion{resource: r}
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

// settleManagers takes the real time from the record of managers, which the library has
// just written, and orders it as the library does.
func settleManagers(object *unstructured.Unstructured) {
	entries := recordOf(object)
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

// recordOf is the record of managers, as it is in the tree.
func recordOf(object *unstructured.Unstructured) []any {
	return jsontree.ListAt(object, "metadata", "managedFields")
}

// noConversion is the conversion between versions whose objects look the same.
type noConversion struct{ resource *kinds.Resource }

var (
	_ runtime.ObjectConvertor = noConversion{}
	_ runtime.ObjectDefaulter = noConversion{}
	_ runtime.ObjectCreater   = noConversion{}
)

// ConvertToVersion implements [runtime.ObjectConvertor]. It copies no more than it
// changes.
func (c noConversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	object, ok := in.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T is not a tree of fields", in)
	}
	kind := object.GroupVersionKind()
	into, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{kind})
	if !ok || !slices.Contains(c.resource.Served, into.Version) && into.Version != c.resource.Storage {
		return nil, runtime.NewNotRegisteredErrForTarget(string(c.resource.Name), nil, target)
	}
	if into == kind {
		return object, nil
	}
	tree := maps.Clone(object.Object)
	tree["apiVersion"] = into.GroupVersion().String()
	return &unstructured.Unstructured{Object: tree}, nil
}

// Convert implements [runtime.ObjectConvertor].
func (c noConversion) Convert(any, any, any) error {
	return fmt.Errorf("objects of %s are converted to a version only", c.resource.Name)
}

// ConvertFieldLabel implements [runtime.ObjectConvertor].
func (c noConversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements [runtime.ObjectDefaulter]. Defaults are set when the outcome is
// decoded.
func (c noConversion) Default(runtime.Object) {}

// New implements [runtime.ObjectCreater].
func (c noConversion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return kinds.EmptyOf(kind), nil
}

// mistyped returns what a server says about an applied object that has no place in
// the types of its kind, nil if it has. Where several things are wrong with it, the
// library tells some of them, in any order. So that the answer is always the same,
// fields are left out as long as something is wrong with the others.
func mistyped(r *kinds.Resource, wanted *unstructured.Unstructured) error {
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

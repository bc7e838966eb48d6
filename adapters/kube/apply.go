package kube

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/apply"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// apply is server-side apply: the body says what the caller wants of an object, which
// is made if it is not there. What the caller wanted before, does not want any more,
// and nobody else manages, is removed.
func (op *operation) apply() (*Response, error) {
	wanted, err := op.appliedBody()
	if err != nil {
		return nil, err
	}
	from := op.find(op.key(op.request.Name))
	if from == nil {
		return op.applyNew(wanted)
	}
	live := from.Live()
	if err := op.recordFirst(live); err != nil {
		return nil, err
	}
	object, err := op.merge(live, wanted)
	if err != nil {
		return nil, err
	}
	if len(apply.RecordOf(from.Meta())) == 0 && !op.server.managedFields && !applied(object) {
		// Who wants nothing starts no record.
		object.SetManagedFields(nil)
	}
	return op.replaceManaged(from, object)
}

// appliedBody is what the caller of an apply wants.
func (op *operation) appliedBody() (*unstructured.Unstructured, error) {
	if tree := jsontree.PlainYAML(op.request.Body); tree != nil {
		return &unstructured.Unstructured{Object: tree}, nil
	}
	encoded, err := yaml.YAMLToJSON(op.request.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	wanted := &unstructured.Unstructured{}
	if err := jsontree.Decode(encoded, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if wanted.Object == nil {
		wanted.Object = map[string]any{}
	}
	return wanted, nil
}

// applied reports whether somebody manages fields of an object by apply.
func applied(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(apply.RecordOf(object), func(entry any) bool {
		return entry.(map[string]any)["operation"] == string(metav1.ManagedFieldsOperationApply)
	})
}

// applyNew makes an object of what is wanted of it.
func (op *operation) applyNew(wanted *unstructured.Unstructured) (*Response, error) {
	if op.request.Subresource != "" && !op.createdByUpdate() {
		return nil, op.notFound()
	}
	object, err := op.merge(kinds.EmptyOf(op.request.Kind), wanted)
	if err != nil {
		return nil, err
	}
	if uid := object.GetUID(); uid != "" {
		return nil, op.conflict(op.request.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	return op.createManaged(object)
}

// merge returns the live object as it is wanted, with the record of who manages what.
func (op *operation) merge(live, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	tree := op.plainApply().Merge(live, wanted)
	if tree == nil {
		var err error
		if tree, err = op.applyOdd(live, wanted); err != nil {
			return nil, err
		}
	}
	return op.readAgain(tree)
}

// plainApply is the apply of the request, as one that may be plain.
func (op *operation) plainApply() apply.Plain {
	return apply.Plain{Resource: op.resource, Kind: op.request.Kind, Subresource: op.request.Subresource, Manager: op.request.FieldManager}
}

// readAgain returns the outcome of a merge as a server reads it, for its defaults, in the
// version of the store.
func (op *operation) readAgain(tree *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	op.unshown = emptyMetadata(op.resource, tree)
	managers := apply.RecordOf(tree)
	stored := apply.NoConversion{Resource: op.resource}
	versioned, err := stored.ConvertToVersion(tree, op.request.Kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	fields := jsontree.Unrecorded(versioned.(*unstructured.Unstructured).Object)
	object := op.resource.PlainFields(fields, op.request.Kind)
	if object == nil {
		if object, err = op.decode(jsontree.Canonical(fields)); err != nil {
			return nil, err
		}
	}
	if op.resource.Custom {
		op.unshown = append(op.unshown, vanished("", fields, object.Object)...)
	}
	if len(managers) > 0 {
		jsontree.Set(object.Object, managers, "metadata", "managedFields")
	}
	return object, op.matchRequest(object)
}

// applyOdd merges what is wanted into the live object, whatever it is.
func (op *operation) applyOdd(live, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	manager, err := op.fieldManager(true)
	if err != nil {
		return nil, err
	}
	merged, err := manager.Apply(live, wanted, op.request.FieldManager, op.request.Force)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, inOrder(status)
	case err != nil:
		if mistyped := apply.Mistyped(op.resource, wanted); mistyped != nil {
			err = mistyped
		}
		return nil, builtin.InternalError(err.Error())
	}
	tree, ok := merged.(*unstructured.Unstructured)
	if !ok {
		panic(fmt.Sprintf("kube: an apply gives a %T", merged))
	}
	apply.SettleManagers(tree)
	return tree, nil
}

// emptyMetadata names the fields of the metadata of an applied custom resource that are
// there and empty. A server stores them, since it does not read the outcome of an apply
// again, and drops them whenever it reads the object: so the next write is one even if it
// changes nothing else.
func emptyMetadata(r *kinds.Resource, object *unstructured.Unstructured) []string {
	if !r.Custom {
		return nil
	}
	metadata, _ := object.Object["metadata"].(map[string]any)
	var names []string
	for _, name := range []string{"annotations", "finalizers", "labels", "ownerReferences"} {
		value, found := metadata[name]
		list, _ := value.([]any)
		fields, _ := value.(map[string]any)
		if found && len(list)+len(fields) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// vanished names the fields that are null in the outcome of an apply and are not any more when it is read, in order. A
// server stores them, too.
func vanished(path string, merged, read any) []string {
	var names []string
	switch merged := merged.(type) {
	case map[string]any:
		read, _ := read.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(merged)) {
			below, found := read[name]
			switch {
			case path == "" && name == "metadata":
			case merged[name] != nil:
				names = append(names, vanished(path+"."+name, merged[name], below)...)
			case !found || below != nil:
				names = append(names, path+"."+name)
			}
		}
	case []any:
		read, _ := read.([]any)
		for i := range min(len(merged), len(read)) {
			names = append(names, vanished(path+"."+strconv.Itoa(i), merged[i], read[i])...)
		}
	}
	return names
}

// inOrder sorts the causes of a conflict, which the library finds in any order.
func inOrder(conflict *apierrors.StatusError) error {
	if details := conflict.ErrStatus.Details; details != nil {
		slices.SortFunc(details.Causes, func(a, b metav1.StatusCause) int {
			return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Field, b.Field))
		})
	}
	return conflict
}

// Who manages which fields of an object is recorded in its metadata.managedFields, by
// the real server's own library. An object gets the record with its first server-side
// apply, which finds the fields that are there in the hands of "before-first-apply";
// with [ManagedFields] it has one from the start. From then on every write keeps it.

// recordManagers brings the record of managers in an object that was sent up to date
// with the change that it makes to the live one. A record that is sent with an update
// replaces the one that is there.
func (op *operation) recordManagers(live, object *unstructured.Unstructured) error {
	known := live.GetUID() != "" && op.request.Subresource == "" && jsontree.At(object, "metadata", "managedFields") != nil
	if !known && !op.server.managedFields && len(apply.RecordOf(live)) == 0 {
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
		apply.SettleManagers(object)
		return nil
	}
	// The real server gives up the record as well.
	object.SetManagedFields(nil)
	return nil
}

// recordFirst starts the record of a live object that has none: somebody wrote all
// that is there, other than what the server sets.
func (op *operation) recordFirst(live *unstructured.Unstructured) error {
	if op.server.managedFields || len(apply.RecordOf(live)) > 0 {
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

var (
	_ runtime.ObjectConvertor = apply.NoConversion{}
	_ runtime.ObjectDefaulter = apply.NoConversion{}
	_ runtime.ObjectCreater   = apply.NoConversion{}
)

// fieldManager returns the library's view on who manages what, for the version and
// the subresource of the request.
func (op *operation) fieldManager(resets bool) (*managedfields.FieldManager, error) {
	return op.server.managers.Of(op.resource, op.request.Kind, op.request.Subresource, resets)
}

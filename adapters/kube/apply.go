package kube

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
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
	if len(recordOf(from.Meta())) == 0 && !op.server.managedFields && !applied(object) {
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

// applied tells whether somebody manages fields of an object by apply.
func applied(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(recordOf(object), func(entry any) bool {
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
	tree := op.applyPlain(live, wanted)
	if tree == nil {
		var err error
		if tree, err = op.applyOdd(live, wanted); err != nil {
			return nil, err
		}
	}
	return op.readAgain(tree)
}

// readAgain returns the outcome of a merge as a server reads it, for its defaults, in the
// version of the store.
func (op *operation) readAgain(tree *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	op.unshown = emptyMetadata(op.resource, tree)
	managers := recordOf(tree)
	stored := noConversion{resource: op.resource}
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
		if mistyped := mistyped(op.resource, wanted); mistyped != nil {
			err = mistyped
		}
		return nil, builtin.InternalError(err.Error())
	}
	tree, ok := merged.(*unstructured.Unstructured)
	if !ok {
		panic(fmt.Sprintf("kube: an apply gives a %T", merged))
	}
	settleManagers(tree)
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

// vanished names the fields that are null in the outcome of an apply and are not any more when it is read, in order. A server
// stores them, too.
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

// Controllers mostly apply the same fields again, with other values in few of them. Then
// there is nothing to remove, and nobody else manages what changes: of the record, only
// the caller's entry is another one. All of that can be read off what is wanted, without
// the library, which goes through the whole object several times.

// applyPlain merges what is wanted into the live object, if nothing is removed by that and
// nothing changes that others manage. It returns nil for any other apply.
func (op *operation) applyPlain(live, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	if op.request.Subresource == kinds.ScaleSubresource || op.request.FieldManager == clientSideApplier || wanted.GroupVersionKind() != op.request.Kind {
		return nil
	}
	metadata, _ := wanted.Object["metadata"].(map[string]any)
	if _, recorded := metadata["managedFields"]; recorded {
		return nil
	}
	types, err := op.resource.Types()
	if err != nil {
		return nil
	}
	of, err := types.ObjectToTyped(kinds.EmptyOf(op.request.Kind))
	if err != nil {
		return nil
	}
	known := &unstructured.Unstructured{Object: jsontree.Unrecorded(live.Object)}
	if version := wanted.Object["apiVersion"]; known.Object["apiVersion"] != version {
		known.Object = maps.Clone(known.Object)
		known.Object["apiVersion"] = version
	}
	if op.resource.Custom {
		// Others are as their Go types say.
		if _, err := types.ObjectToTyped(known, typed.AllowDuplicates); err != nil {
			return nil
		}
	}
	m := &merger{types: of.Schema()}
	outcome := m.merge(of.TypeRef(), known.Object, true, wanted.Object)
	if m.odd {
		return nil
	}
	entries := op.recordPlain(live, m, of.TypeRef(), outcome)
	if entries == nil {
		return nil
	}
	object := &unstructured.Unstructured{Object: outcome.value.(map[string]any)}
	jsontree.Set(object.Object, entries, "metadata", "managedFields")
	return object
}

// clientSideApplier is the manager for whom an apply also looks at what clients noted of
// applies that they made themselves.
const clientSideApplier = "kubectl"

// recordPlain is the record of a live object after a merge, nil if that is not plain.
func (op *operation) recordPlain(live *unstructured.Unstructured, m *merger, of schema.TypeRef, outcome merged) []any {
	entries := slices.Clone(recordOf(live))
	if len(entries) == 0 && live.GetUID() != "" {
		return nil
	}
	mine := map[string]any{
		"apiVersion": op.request.Kind.GroupVersion().String(),
		"fieldsType": fieldsType,
		"manager":    op.request.FieldManager,
		"operation":  string(metav1.ManagedFieldsOperationApply),
	}
	if op.request.Subresource != "" {
		mine["subresource"] = op.request.Subresource
	}
	last := slices.IndexFunc(entries, func(entry any) bool { return sameManager(entry, mine) })
	for i, entry := range entries {
		if !plainEntry(entry, mine["apiVersion"]) || slices.ContainsFunc(entries[:i], func(other any) bool { return sameManager(entry, other) }) {
			return nil
		}
		if i == last {
			continue
		}
		if fields := fieldsOf(entry); !m.canonical(of, fields) || fields.meets(outcome.changed) {
			return nil
		}
	}
	fields := op.managed(outcome.wanted)
	if len(fields) == 0 {
		return nil
	}
	mine["fieldsV1"] = map[string]any(fields)
	var before any
	if last >= 0 {
		if !fields.covers(fieldsOf(entries[last])) {
			return nil
		}
		before = entries[last].(map[string]any)["time"]
	}
	switch {
	case m.certain || before != nil:
		mine["time"] = storage.Now().Format(time.RFC3339)
	case outcome.changed != nil:
		return nil
	}
	if last < 0 {
		entries = append(entries, mine)
	} else {
		entries[last] = mine
	}
	sortManagers(entries)
	return entries
}

// fieldsType says how the fields of a record are written.
const fieldsType = "FieldsV1"

// managed are those of the wanted fields that the caller comes to manage: none that a
// request for the subresource cannot set, and none that the server sets itself.
func (op *operation) managed(wanted fieldSet) fieldSet {
	for _, path := range resetPaths(op.resource, op.request.Subresource) {
		steps := make([]string, len(path))
		for i, name := range path {
			steps[i] = toField + name
		}
		wanted = wanted.without(steps...)
	}
	for _, name := range []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "resourceVersion"} {
		wanted = wanted.without(toField+"metadata", toField+name)
	}
	wanted = wanted.without(toField + "apiVersion").without(toField + "kind")
	if metadata := wanted.below(toField + "metadata"); len(metadata) == 0 {
		wanted = wanted.without(toField + "metadata")
	}
	return wanted
}

// sameManager tells whether two entries of a record are for the same manager.
func sameManager(a, b any) bool {
	one, _ := a.(map[string]any)
	other, _ := b.(map[string]any)
	for _, name := range []string{"manager", "operation", "subresource"} {
		if one[name] != other[name] {
			return false
		}
	}
	return true
}

// fieldsOf are the fields of an entry of a record.
func fieldsOf(entry any) fieldSet {
	fields, _ := entry.(map[string]any)["fieldsV1"].(map[string]any)
	return fields
}

// plainEntry tells whether an entry of a record is about fields in a version, and written
// as the library would write it.
func plainEntry(entry, version any) bool {
	fields, _ := entry.(map[string]any)
	for name, value := range fields {
		switch name {
		case "apiVersion":
			if value != version {
				return false
			}
		case "fieldsType":
			if value != fieldsType {
				return false
			}
		case "fieldsV1":
		case "operation":
			if value != string(metav1.ManagedFieldsOperationApply) && value != string(metav1.ManagedFieldsOperationUpdate) {
				return false
			}
		case "manager", "subresource":
			if text, _ := value.(string); text == "" {
				return false
			}
		case "time":
			if value != storage.Now().Format(time.RFC3339) {
				return false
			}
		default:
			return false
		}
	}
	for _, name := range []string{"apiVersion", "fieldsType", "manager", "operation"} {
		if fields[name] == nil {
			return false
		}
	}
	return len(fieldsOf(entry)) > 0
}

// canonical tells whether a set of fields of a value is written as the library would write
// it, and fits the type.
func (m *merger) canonical(of schema.TypeRef, fields fieldSet) bool {
	atom, known := m.types.Resolve(of)
	if !known || fields == nil {
		return false
	}
	for step := range fields {
		below := fields.below(step)
		switch {
		case step == itself:
			if below == nil || len(below) > 0 || len(fields) == 1 {
				return false
			}
		case atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic:
			name, isField := strings.CutPrefix(step, toField)
			field, declared := atom.Map.FindField(name)
			if !declared {
				field.Type = atom.Map.ElementType
			}
			if !isField || !m.canonical(field.Type, below) {
				return false
			}
		case atom.List != nil && atom.List.ElementRelationship == schema.Associative:
			item, err := fieldpath.DeserializePathElement(step)
			if err != nil || item.FieldName != nil || item.Index != nil {
				return false
			}
			if again, err := fieldpath.SerializePathElement(item); err != nil || again != step || !m.canonical(atom.List.ElementType, below) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

package apply

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// Controllers mostly apply the same fields again, with other values in few of them. Then
// there is nothing to remove, and nobody else manages what changes: of the record, only
// the caller's entry is another one. All of that can be read off what is wanted, without
// the library, which goes through the whole object several times.

// Plain is a server-side apply that may be plain.
type Plain struct {
	Resource *kinds.Resource
	// Kind, Subresource and Manager are those of the request.
	Kind                 runtimeschema.GroupVersionKind
	Subresource, Manager string
}

// Merge merges what is wanted into the live object, if nothing is removed by that and
// nothing changes that others manage. It returns nil for any other apply.
func (p Plain) Merge(live, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	if p.Subresource == kinds.ScaleSubresource || p.Manager == clientSideApplier || wanted.GroupVersionKind() != p.Kind {
		return nil
	}
	metadata, _ := wanted.Object["metadata"].(map[string]any)
	if _, recorded := metadata["managedFields"]; recorded {
		return nil
	}
	types, err := p.Resource.Types()
	if err != nil {
		return nil
	}
	of, err := types.ObjectToTyped(kinds.EmptyOf(p.Kind))
	if err != nil {
		return nil
	}
	known := &unstructured.Unstructured{Object: jsontree.Unrecorded(live.Object)}
	if version := wanted.Object["apiVersion"]; known.Object["apiVersion"] != version {
		known.Object = maps.Clone(known.Object)
		known.Object["apiVersion"] = version
	}
	if p.Resource.Custom {
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
	entries := p.record(live, m, of.TypeRef(), outcome)
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

// record is the record of a live object after a merge, nil if that is not plain.
func (p Plain) record(live *unstructured.Unstructured, m *merger, of schema.TypeRef, outcome merged) []any {
	entries := slices.Clone(RecordOf(live))
	if len(entries) == 0 && live.GetUID() != "" {
		return nil
	}
	mine := map[string]any{
		"apiVersion": p.Kind.GroupVersion().String(),
		"fieldsType": fieldsType,
		"manager":    p.Manager,
		"operation":  string(metav1.ManagedFieldsOperationApply),
	}
	if p.Subresource != "" {
		mine["subresource"] = p.Subresource
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
	fields := p.managed(outcome.wanted)
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
func (p Plain) managed(wanted fieldSet) fieldSet {
	for _, path := range resetPaths(p.Resource, p.Subresource) {
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

// sameManager reports whether two entries of a record are for the same manager.
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

// plainEntry reports whether an entry of a record is about fields in a version, and written
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

// canonical reports whether a set of fields of a value is written as the library would write
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

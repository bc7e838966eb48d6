package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// Besides the objects, the store holds records that the server keeps for itself, so
// that it need not read all objects to answer a request. They follow from the
// objects, have no outcome, and no request can read them.

// isRecord tells whether a kind is that of records.
func isRecord(kind core.Kind) bool { return kind == referenceKind || kind == allocationKind }

// records are the keys of the records that an object gives rise to.
func records(key core.Key, o *Object) []core.Key {
	if o == nil {
		return nil
	}
	var keys []core.Key
	for _, uid := range owners(o) {
		keys = append(keys, referenceKey(uid, key))
	}
	for _, name := range allocations(key.Kind, o) {
		keys = append(keys, allocationKey(name))
	}
	return keys
}

// recordWrites brings the records up to date with a write.
func recordWrites(key core.Key, from, to *Object) []core.Write {
	before, after := records(key, from), records(key, to)
	var writes []core.Write
	for _, record := range before {
		if !slices.Contains(after, record) {
			writes = append(writes, core.Write{Key: record})
		}
	}
	if len(after) == 0 {
		return writes
	}
	said := saidByRecords(to)
	changed := len(before) > 0 && !jsontree.Same(saidByRecords(from), said)
	for _, record := range after {
		if changed || !slices.Contains(before, record) {
			writes = append(writes, core.Write{Key: record, Content: newObject(said, 0)})
		}
	}
	return writes
}

// saidByRecords is the content of the records that an object gives rise to: the part of the
// object from which their keys can be derived again, so that they can be renamed with it.
func saidByRecords(o *Object) map[string]any {
	whole, _ := o.tree["metadata"].(map[string]any)
	metadata := map[string]any{}
	for _, name := range []string{"name", "namespace", "generateName", "ownerReferences"} {
		if value, ok := whole[name]; ok {
			metadata[name] = value
		}
	}
	part := map[string]any{"apiVersion": o.tree["apiVersion"], "kind": o.tree["kind"], "metadata": metadata}
	return map[string]any{"of": part}
}

// recordedOf is the object that gave rise to a record, as far as the record says.
func recordedOf(record *Object) *unstructured.Unstructured {
	part, _ := record.tree["of"].(map[string]any)
	return &unstructured.Unstructured{Object: part}
}

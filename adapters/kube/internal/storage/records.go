package storage

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

// Besides the objects, the store holds records that the server keeps for itself, so
// that it need not read all objects to answer a request. They follow from the
// objects, have no outcome, and no request can read them.

// IsRecord reports whether a kind is that of records.
func IsRecord(kind core.Kind) bool { return kind == ReferenceKind || kind == AllocationKind }

// Records are the keys of the records that an object gives rise to.
func Records(key core.Key, o *Object) []core.Key {
	if o == nil {
		return nil
	}
	var keys []core.Key
	for _, uid := range Owners(o) {
		keys = append(keys, ReferenceKey(uid, key))
	}
	for _, name := range allocations(key.Kind, o) {
		keys = append(keys, AllocationKey(name))
	}
	return keys
}

// RecordWrites brings the records up to date with a write.
func RecordWrites(key core.Key, from, to *Object) []core.Write {
	before, after := Records(key, from), Records(key, to)
	var writes []core.Write
	for _, record := range before {
		if !slices.Contains(after, record) {
			writes = append(writes, core.Write{Key: record})
		}
	}
	if len(after) == 0 {
		return writes
	}
	said := SaidByRecords(to)
	changed := len(before) > 0 && !jsontree.Same(SaidByRecords(from), said)
	for _, record := range after {
		if changed || !slices.Contains(before, record) {
			writes = append(writes, core.Write{Key: record, Content: New(said, 0)})
		}
	}
	return writes
}

// SaidByRecords is the content of the records that an object gives rise to: the part of the
// object from which their keys can be derived again, so that they can be renamed with it.
func SaidByRecords(o *Object) map[string]any {
	whole, _ := o.Tree["metadata"].(map[string]any)
	metadata := map[string]any{}
	for _, name := range []string{"name", "namespace", "generateName", "ownerReferences"} {
		if value, ok := whole[name]; ok {
			metadata[name] = value
		}
	}
	part := map[string]any{"apiVersion": o.Tree["apiVersion"], "kind": o.Tree["kind"], "metadata": metadata}
	return map[string]any{"of": part}
}

// RecordedOf is the object that gave rise to a record, as far as the record says.
func RecordedOf(record *Object) *unstructured.Unstructured {
	part, _ := record.Tree["of"].(map[string]any)
	return &unstructured.Unstructured{Object: part}
}

// A uid is a function of the object's key and an ordinal: the smallest one such
// that no object in the store has an owner reference with that uid, and that nobody was
// shown who may still refer to it. So an object that is deleted and created again has the
// uid it had before, and loops of creation and deletion close, unless somebody still knows
// the one before.
//
// To find that out, there is a record of each owner reference: an object of the kind
// below, with the uid of the owner as its namespace and the key of the dependent as
// its name.
const ReferenceKind core.Kind = "owner reference"

// NewUID returns the uid of an object that is created now.
func NewUID(state core.Snapshot, key core.Key) types.UID {
	held := state.Held(key)
	for ordinal := 0; ; ordinal++ {
		uid := UID(key, ordinal)
		known := slices.ContainsFunc(held, func(c core.Content) bool { return Of(c).Meta().GetUID() == uid })
		if !known && len(state.List(ReferenceKind, string(uid))) == 0 {
			return uid
		}
	}
}

// Known reports whether somebody may still refer to an object of a key that is gone: a generated name does not come again as long as that is so.
func Known(state core.Snapshot, key core.Key) bool {
	return len(state.Held(key)) > 0 || len(state.List(ReferenceKind, string(UID(key, 0)))) > 0
}

// UID names an object in the form of a UUID.
func UID(key core.Key, ordinal int) types.UID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", key, ordinal))
	// The version and variant of a UUID that is not random (RFC 9562, version 8).
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// ReferenceKey is the key of the record that the dependent refers to the owner.
func ReferenceKey(owner types.UID, dependent core.Key) core.Key {
	return core.Key{Kind: ReferenceKind, Namespace: string(owner), Name: dependent.String()}
}

// Owners are the uids that an object refers to, each once.
func Owners(o *Object) []types.UID {
	if o == nil {
		return nil
	}
	var uids []types.UID
	for _, reference := range o.Meta().GetOwnerReferences() {
		if !slices.Contains(uids, reference.UID) {
			uids = append(uids, reference.UID)
		}
	}
	return uids
}

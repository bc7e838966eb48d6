package storage

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
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
		keys = append(keys, ReferenceKey(string(uid), key))
	}
	for _, identity := range slices.Sorted(maps.Keys(o.notes())) {
		keys = append(keys, ReferenceKey(identity, key))
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
	if notes := o.notes(); len(notes) > 0 {
		var references []any
		for _, identity := range slices.Sorted(maps.Keys(notes)) {
			references = append(references, notes[identity])
		}
		part["notes"] = references
	}
	return map[string]any{"of": part}
}

// RecordedOf is the object that gave rise to a record, as far as the record says.
func RecordedOf(record *Object) *unstructured.Unstructured {
	part, _ := record.Tree["of"].(map[string]any)
	return &unstructured.Unstructured{Object: part}
}

// A uid is a function of the object's key and an ordinal: the smallest one such
// that it stands in no other object of the store, as that of an owner or anywhere else, and that nobody was
// shown who may still refer to it, or remembers it. So an object that is deleted and created again has the
// uid it had before, and loops of creation and deletion close, unless somebody still knows
// the one before. It is the same with names that the server generates.
//
// To find that out, there is a record of each uid and each generated name that an object refers to: an object of the
// kind below, with that as its namespace and the key of the object as its name.
const ReferenceKind core.Kind = "reference"

// NewUID returns the uid of an object that is created now, in a cluster of a name.
func NewUID(state core.Snapshot, cluster string, key core.Key) types.UID {
	held := state.Held(key)
	for ordinal := 0; ; ordinal++ {
		uid := UID(cluster, key, ordinal)
		known := slices.ContainsFunc(held, func(c core.Content) bool { return Of(c).Meta().GetUID() == uid })
		if !known && !referred(state, string(uid)) && !referred(state, string(uid[:prefixLength])) {
			return uid
		}
	}
}

// Known reports whether somebody may still refer to an object of a key that is gone: a generated name does not come
// again as long as that is so.
func Known(state core.Snapshot, cluster string, key core.Key) bool {
	return len(state.Held(key)) > 0 || referred(state, string(UID(cluster, key, 0))) || referred(state, key.Name)
}

// referred reports whether an object of the cluster refers to a uid or a generated name, or somebody beside it.
func referred(state core.Snapshot, identity string) bool {
	if Refers(state, identity) {
		return true
	}
	beside, has := state.(core.Surrounded)
	return has && beside.NotedBeside(identity)
}

// Refers reports whether an object of the cluster refers to a uid or a generated name.
func Refers(state core.Snapshot, identity string) bool {
	return len(state.List(ReferenceKind, identity)) > 0
}

// UID names an object of a cluster in the form of a UUID. The first cluster has no name.
func UID(cluster string, key core.Key, ordinal int) types.UID {
	if cluster != "" {
		key.Kind += core.Kind("@" + cluster)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", key, ordinal))
	// The version and variant of a UUID that is not random (RFC 9562, version 8).
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// prefixLength is how long the first part of a uid is, which some take for all of it.
const prefixLength = 8

// identity matches what may be a uid, a generated name, which may begin as a uid does, or the first part of a uid.
var identity = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-z][-.0-9a-z]*` + generatedEnd + `\b|\b[0-9a-f]{8}\b`)

// noted returns the uids and the generated names of others that an object has noted besides those of its owners, each
// with as much of what it says about that object as it takes to rename it. Those in Events, which nobody takes for more
// than a message, do not count.
func noted(o *Object) map[string]any {
	if o.Tree["kind"] == "Event" {
		return nil
	}
	meta := o.Meta()
	beside := []string{string(meta.GetUID()), meta.GetName()}
	for _, owner := range meta.GetOwnerReferences() {
		beside = append(beside, string(owner.UID), owner.Name)
	}
	notes := map[string]any{}
	for _, found := range identity.FindAllString(o.Text, -1) {
		if !slices.Contains(beside, found) {
			notes[found] = map[string]any{"uid": found}
		}
	}
	if len(notes) > 0 {
		describe(notes, o.Tree)
	}
	return notes
}

// describe adds to uids what references in a tree say about their objects.
func describe(notes map[string]any, tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		if uid, ok := tree["uid"].(string); ok && notes[uid] != nil && tree["name"] != nil {
			reference := map[string]any{}
			for _, field := range []string{"apiVersion", "kind", "namespace", "name", "uid"} {
				if value, ok := tree[field].(string); ok {
					reference[field] = value
				}
			}
			notes[uid] = reference
		}
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			describe(notes, tree[name])
		}
	case []any:
		for _, below := range tree {
			describe(notes, below)
		}
	}
}

// ReferenceKey is the key of the record that an object refers to the one with a uid, or with a generated name.
func ReferenceKey(identity string, by core.Key) core.Key {
	return core.Key{Kind: ReferenceKind, Namespace: identity, Name: by.String()}
}

// Owners are the uids of the owners of an object, each once.
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

package kube

import (
	"slices"

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
	for _, record := range after {
		if !slices.Contains(before, record) {
			writes = append(writes, core.Write{Key: record, Content: newRecord(record, key)})
		}
	}
	return writes
}

// newRecord is the content of a record that an object gives rise to.
func newRecord(record, of core.Key) *Object {
	return newObject(map[string]any{"record": record.String(), "of": of.String()}, 0)
}

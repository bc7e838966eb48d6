package kube

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
)

// A uid is a function of the object's key and an ordinal: the smallest one such
// that no object in the store has an owner reference with that uid, and that nobody was
// shown who may still refer to it. So an object that is deleted and created again has the
// uid it had before, and loops of creation and deletion close, unless somebody still knows
// the one before.
//
// To find that out, there is a record of each owner reference: an object of the kind
// below, with the uid of the owner as its namespace and the key of the dependent as
// its name.
const referenceKind core.Kind = "owner reference"

// newUID returns the uid of an object that is created now.
func newUID(state core.Snapshot, key core.Key) types.UID {
	held := state.Held(key)
	for ordinal := 0; ; ordinal++ {
		uid := uidOf(key, ordinal)
		known := slices.ContainsFunc(held, func(c core.Content) bool { return stored(c).meta().GetUID() == uid })
		if !known && len(state.List(referenceKind, string(uid))) == 0 {
			return uid
		}
	}
}

// uidOf names an object in the form of a UUID.
func uidOf(key core.Key, ordinal int) types.UID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", key, ordinal))
	// The version and variant of a UUID that is not random (RFC 9562, version 8).
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// referenceKey is the key of the record that the dependent refers to the owner.
func referenceKey(owner types.UID, dependent core.Key) core.Key {
	return core.Key{Kind: referenceKind, Namespace: string(owner), Name: dependent.String()}
}

// owners are the uids that an object refers to, each once.
func owners(o *Object) []types.UID {
	if o == nil {
		return nil
	}
	var uids []types.UID
	for _, reference := range o.meta().GetOwnerReferences() {
		if !slices.Contains(uids, reference.UID) {
			uids = append(uids, reference.UID)
		}
	}
	return uids
}

package observe

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"hash/maphash"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// owned makes JSON of objects without looking at the lists of owned fields in them. These are JSON already, often half of what there is of an object, and hardly change from version to version; but
// package json goes through them letter by letter. So something else stands for them while the JSON is made, and they are put in its place.
type owned struct {
	mark  []byte
	entry metav1.FieldsV1 // that reads as the mark
	seed  maphash.Seed
	// sound are those that package json would leave as they are, by their sums.
	sound map[uint64]struct{}
	plain bytes.Buffer
}

// soundLimit bounds the memory for what is known to be sound.
const soundLimit = 4096

func newOwned() *owned {
	o := &owned{mark: strconv.AppendQuote(nil, rand.Text()), seed: maphash.MakeSeed(), sound: map[uint64]struct{}{}}
	_ = o.entry.UnmarshalJSON(o.mark) // it takes whatever it gets
	return o
}

// marshal writes an object as JSON to an empty buffer, and returns what that holds. Nobody else may have the object.
func (o *owned) marshal(out *bytes.Buffer, object runtime.Object) (json.RawMessage, error) {
	entries := o.entries(object)
	all := make([]*metav1.FieldsV1, len(entries))
	var fields [][]byte
	for i := range entries {
		all[i] = entries[i].FieldsV1
		if text := o.text(all[i]); text != nil {
			fields, entries[i].FieldsV1 = append(fields, text), &o.entry
		}
	}
	if len(fields) == 0 {
		return marshal(out, object)
	}
	o.plain.Reset()
	rest, err := marshal(&o.plain, object)
	for i := range entries {
		entries[i].FieldsV1 = all[i]
	}
	if err != nil {
		return nil, err
	}
	for _, text := range fields {
		before, after, found := bytes.Cut(rest, o.mark)
		if !found { // it writes its metadata in its own way
			out.Reset()
			return marshal(out, object)
		}
		out.Write(before)
		out.Write(text)
		rest = after
	}
	out.Write(rest)
	return out.Bytes(), nil
}

// entries returns the entries of an object that have owned fields.
func (o *owned) entries(object runtime.Object) []metav1.ManagedFieldsEntry {
	if _, is := object.(*unstructured.Unstructured); is {
		return nil // it has them as a tree
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil
	}
	return accessor.GetManagedFields()
}

// text returns owned fields as JSON, nil unless package json would write them just so.
func (o *owned) text(fields *metav1.FieldsV1) []byte {
	if fields == nil {
		return nil
	}
	text, err := fields.MarshalJSON()
	if err != nil || len(text) == 0 {
		return nil
	}
	sum := maphash.Bytes(o.seed, text)
	if _, known := o.sound[sum]; known {
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil || !bytes.Equal(compact.Bytes(), text) {
		return nil
	}
	if len(o.sound) >= soundLimit {
		clear(o.sound)
	}
	o.sound[sum] = struct{}{}
	return text
}

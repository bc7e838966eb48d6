package observe

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owned makes JSON of objects without looking at the lists of owned fields in them. These are JSON already, often half
// of what there is of an object, and hardly change from version to version; but package json goes through them letter
// by letter. So something else stands for them while the JSON is made, and they are put in its place.
type owned struct {
	mark  []byte
	entry metav1.FieldsV1 // that reads as the mark
	seed  maphash.Seed
	// sound are those that package json would leave as they are, by their sums.
	sound map[uint64]struct{}
	whole bytes.Buffer
}

// soundLimit bounds the memory for what is known to be sound.
const soundLimit = 4096

func newOwned() *owned {
	o := &owned{mark: strconv.AppendQuote(nil, rand.Text()), seed: maphash.MakeSeed(), sound: map[uint64]struct{}{}}
	_ = o.entry.UnmarshalJSON(o.mark) // it takes whatever it gets
	return o
}

// takeOut returns entries in which the mark stands for fields, and these fields as JSON.
func (o *owned) takeOut(entries []metav1.ManagedFieldsEntry) (marked []metav1.ManagedFieldsEntry, fields [][]byte) {
	for i := range entries {
		text := o.text(entries[i].FieldsV1)
		if text == nil {
			continue
		}
		if fields == nil {
			marked = slices.Clone(entries)
		}
		marked[i].FieldsV1, fields = &o.entry, append(fields, text)
	}
	if fields == nil {
		return entries, nil
	}
	return marked, fields
}

// putIn returns JSON with the fields in the places of the marks, nil if these are not all there. It is overwritten by
// the next.
func (o *owned) putIn(text []byte, fields [][]byte) []byte {
	o.whole.Reset()
	for _, field := range fields {
		before, after, found := bytes.Cut(text, o.mark)
		if !found {
			return nil
		}
		o.whole.Write(before)
		o.whole.Write(field)
		text = after
	}
	o.whole.Write(text)
	return o.whole.Bytes()
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

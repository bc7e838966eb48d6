package kube

import (
	"encoding/json"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// maxPatchCopies is how many bytes the copies of a JSON patch may amount to: what a real server has its library check
// (JSONPatchMaxCopyBytes of k8s.io/apiserver). Here the library is not told, as it would also check the patches that controllers
// apply in the same process.
const maxPatchCopies = 3 << 20

// applyOperations applies a JSON patch to a document. It returns an error of the library's if it does not apply, or copies too much.
func applyOperations(operations jsonpatch.Patch, document []byte) ([]byte, error) {
	if mayCopy(operations, len(document)) <= maxPatchCopies {
		return operations.Apply(document)
	}
	// Each copy by itself, as its size depends on all before it.
	copied := int64(0)
	for from := 0; from < len(operations); {
		to := from
		for to < len(operations) && operations[to].Kind() != "copy" {
			to++
		}
		var err error
		if to > from {
			if document, err = operations[from:to].Apply(document); err != nil {
				return nil, err
			}
		}
		if to < len(operations) {
			size := copySize(operations[to], document)
			// That there is nowhere to copy to is said first.
			if document, err = operations[to : to+1].Apply(document); err != nil {
				return nil, err
			}
			if copied += size; copied > maxPatchCopies {
				return nil, jsonpatch.NewAccumulatedCopySizeError(maxPatchCopies, copied)
			}
			to++
		}
		from = to
	}
	return document, nil
}

// mayCopy returns how many bytes the copies of a patch amount to at most: each may be of the whole document, which it may double. It stops counting
// where that is too much.
func mayCopy(operations jsonpatch.Patch, document int) int64 {
	const escaped = 6 // bytes that one byte may take
	size, copied := escaped*int64(document), int64(0)
	for _, o := range operations {
		for _, part := range o {
			if part != nil {
				size += escaped * int64(len(*part))
			}
		}
		if o.Kind() == "copy" {
			copied += size
			size *= 2
		}
		if copied > maxPatchCopies {
			break
		}
	}
	return copied
}

// copySize returns the bytes of what an operation copies, 0 if that is not there.
func copySize(o jsonpatch.Operation, document []byte) int64 {
	from, err := o.From()
	if err != nil {
		return 0
	}
	value := json.RawMessage(document)
	for _, part := range strings.Split(from, "/")[1:] {
		if value = member(value, strings.NewReplacer("~1", "/", "~0", "~").Replace(part)); value == nil {
			return 0
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return 0
	}
	return int64(len(text))
}

// member returns what an object or a list has at a key or an index, nil if nothing. Indexes below 0 count from the end.
func member(value json.RawMessage, key string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) == nil {
		return fields[key]
	}
	var items []json.RawMessage
	i, err := strconv.Atoi(key)
	if err != nil || json.Unmarshal(value, &items) != nil {
		return nil
	}
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil
	}
	return items[i]
}

package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// maxPatchOperations is the largest number of operations in a JSON patch.
const maxPatchOperations = 10000

func (op *operation) patch() (*Response, error) {
	if err := op.checkPatch(); err != nil {
		return nil, err
	}
	if op.request.PatchType == types.ApplyYAMLPatchType {
		return op.apply()
	}
	from := op.find(op.key(op.request.Name))
	if from == nil {
		return nil, op.notFound()
	}
	object := op.mergePlain(from)
	if object == nil {
		var err error
		if object, err = op.patched(from); err != nil {
			return nil, err
		}
	}
	if err := op.matchRequest(object); err != nil {
		return nil, err
	}
	return op.replace(from, object)
}

// patched returns an object as the patch of the request changes it.
func (op *operation) patched(from *storage.Object) (*unstructured.Unstructured, error) {
	patched, err := op.patchDocument(jsontree.Canonical(from.Shown(op.request.Kind.GroupVersion().String(), from.Version)), nil)
	if err != nil {
		return nil, err
	}
	object, err := op.resource.Decode(patched, op.request.Kind.Version)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(patched), err.Error()),
		})
	}
	return object, nil
}

// checkPatch refuses a patch of a type that the resource does not take, and options that
// do not fit it.
func (op *operation) checkPatch() error {
	switch op.request.PatchType {
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
	case types.StrategicMergePatchType:
		if op.resource.Custom {
			return op.unsupportedMediaType()
		}
	default:
		return op.unsupportedMediaType()
	}
	options := &metav1.PatchOptions{FieldManager: op.request.FieldManager}
	if op.request.Force {
		options.Force = &op.request.Force
	}
	if errs := metav1validation.ValidatePatchOptions(options, op.request.PatchType); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
	}
	return nil
}

// patchDocument returns the document as the patch of the request changes it. typed is an
// object of the document's Go type, nil if it is the resource itself.
func (op *operation) patchDocument(document []byte, typed runtime.Object) ([]byte, error) {
	patch := op.request.Body
	switch op.request.PatchType {
	case types.JSONPatchType:
		return applyJSONPatch(document, patch)
	case types.StrategicMergePatchType:
		return op.applyStrategicPatch(document, typed)
	}
	var fields map[string]any
	if err := jsontree.Decode(patch, &fields); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	patched, err := jsonpatch.MergePatch(document, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return patched, nil
}

func applyJSONPatch(document, patch []byte) ([]byte, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(patch, &list); err != nil {
		// The server's own words name a type of its own.
		message := strings.Replace(err.Error(), "[]json.RawMessage", "[]handlers.jsonPatchOp", 1)
		return nil, apierrors.NewBadRequest("error decoding patch: " + message)
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations)))
	}
	patched, err := applyOperations(operations, document)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return patched, nil
}

func (op *operation) applyStrategicPatch(document []byte, typed runtime.Object) ([]byte, error) {
	var fields, changes map[string]any
	if err := jsontree.Decode(op.request.Body, &changes); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := jsontree.Decode(document, &fields); err != nil {
		return nil, err
	}
	if typed == nil {
		var err error
		if typed, err = op.resource.NewTyped(); err != nil {
			return nil, err
		}
	}
	patched, err := strategicpatch.StrategicMergeMapPatch(fields, changes, typed)
	switch {
	case err == nil:
		if err := jsontree.Into(patched, typed); err != nil {
			return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
				field.Invalid(field.NewPath("patch"), fmt.Sprintf("%+v", changes), err.Error()),
			})
		}
		return json.Marshal(patched)
	case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
		errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
		errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return nil, apierrors.NewBadRequest(err.Error())
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return nil, builtin.InternalError(err.Error())
}

// unsupportedMediaType is the refusal of a patch of a type the resource does not take.
func (op *operation) unsupportedMediaType() error {
	message, details := "415: Unsupported Media Type", &metav1.StatusDetails{}
	if op.resource.Custom {
		details = nil
		message = "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: message,
		Details: details,
	}}
}

// mergePlain applies a merge patch that has nothing in it which the library for patches
// takes in its own way: fractions, large numbers, lists with nulls. It returns nil for any
// other, for any other type of patch, and if something is wrong with the outcome.
func (op *operation) mergePlain(from *storage.Object) *unstructured.Unstructured {
	var change map[string]any
	if op.request.PatchType != types.MergePatchType || jsontree.Decode(op.request.Body, &change) != nil || change == nil || !jsontree.IsPlain(change) {
		return nil
	}
	patched := mergeFields(from.Shown(op.request.Kind.GroupVersion().String(), from.Version), change)
	op.read = op.resource.DecodePlain(jsontree.Canonical(patched), op.request.Kind.Version)
	return op.read.Object
}

// mergeFields returns an object with a merge patch applied (RFC 7386). It shares what
// neither of them changes.
func mergeFields(fields, change map[string]any) map[string]any {
	merged := maps.Clone(fields)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range change {
		below, isObject := value.(map[string]any)
		old, wasObject := merged[name].(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isObject:
			merged[name] = mergeFields(old, below)
		case wasObject:
			// What takes the place of an object is stored as it is, nulls in lists included.
			merged[name] = value
		default:
			merged[name] = withoutNulls(value)
		}
	}
	return merged
}

// withoutNulls returns a value of a patch with the fields left out that are null, which
// are not to be there.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return mergeFields(nil, value)
	case []any:
		items := slices.Clone(value)
		for i, item := range items {
			items[i] = withoutNulls(item)
		}
		return items
	}
	return value
}

// maxPatchCopies is how many bytes the copies of a JSON patch may amount to: what a real server has its library check
// (JSONPatchMaxCopyBytes of k8s.io/apiserver). Here the library is not told, as it would also check the patches that
// controllers apply in the same process.
const maxPatchCopies = 3 << 20

// applyOperations applies a JSON patch to a document. It returns an error of the library's if it does not apply, or
// copies too much.
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

// mayCopy returns how many bytes the copies of a patch amount to at most: each may be of the whole document, which it
// may double. It stops counting where that is too much.
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

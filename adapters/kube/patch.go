package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
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

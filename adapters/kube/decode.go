package kube

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	structuralobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// decode reads an object that was sent in the version of the request, and returns
// it in the storage version. Unknown fields are dropped, and those with a default
// in the schema of a custom resource are set.
func (op *operation) decode(data []byte) (*unstructured.Unstructured, error) {
	version := op.request.Kind.Version
	if op.read = op.resource.decodePlain(data, version); op.read.object != nil {
		return op.read.object, nil
	}
	// A type of its own, as the server has it: the message of an error names it.
	var said struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	unrecognized := func(err error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", op.resource.kind, err, beginningOf(data)))
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, unrecognized(fmt.Errorf("couldn't get version/kind; json parse error: %w", err))
	}
	switch {
	case op.resource.schemas == nil:
	case said.Kind == "":
		return nil, unrecognized(runtime.NewMissingKindErr(string(data)))
	case said.APIVersion == "":
		return nil, unrecognized(runtime.NewMissingVersionErr(string(data)))
	}
	of := op.request.Kind
	if said.APIVersion != "" {
		of = schema.FromAPIVersionAndKind(said.APIVersion, of.Kind)
	}
	if said.Kind != "" {
		of.Kind = said.Kind
	}
	if op.resource.custom && of.GroupVersion() != op.request.Kind.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			of.GroupVersion(), op.request.Kind.GroupVersion()))
	}
	object, err := op.resource.decodeOdd(data, version)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", of.Kind, of.Version, op.resource.kind, err))
	}
	return object, nil
}

// beginningOf is how messages quote a body that cannot be read.
func beginningOf(data []byte) string {
	const enough = 30
	rest := ""
	if len(data) > enough {
		data, rest = data[:enough], " ..."
	}
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		return string(data) + rest
	}
	return hex.EncodeToString(data) + rest
}

// decode reads an object in one of the served versions.
func (r *resource) decode(data []byte, version string) (*unstructured.Unstructured, error) {
	if read := r.decodePlain(data, version); read.object != nil {
		return read.object, nil
	}
	return r.decodeOdd(data, version)
}

// decodeOdd reads an object that something may be wrong with.
func (r *resource) decodeOdd(data []byte, version string) (*unstructured.Unstructured, error) {
	var tree map[string]any
	if err := jsontree.Decode(data, &tree); err != nil {
		return nil, err
	}
	if tree == nil {
		return nil, errors.New("the body is not an object")
	}
	if err := r.checkType(tree, version); err != nil {
		return nil, err
	}
	if r.schemas != nil {
		if err := r.shape(tree, version); err != nil {
			return nil, err
		}
		return r.decoded(tree), nil
	}
	typed, err := r.newTyped()
	if err != nil {
		return nil, err
	}
	if err := jsontree.Decode(data, typed); err != nil {
		return nil, err
	}
	return r.decodeTyped(typed)
}

// decoded completes a tree that was read and brought into shape.
func (r *resource) decoded(tree map[string]any) *unstructured.Unstructured {
	tree["apiVersion"] = schema.GroupVersion{Group: r.group, Version: r.storage}.String()
	tree["kind"] = r.kind
	object := &unstructured.Unstructured{Object: tree}
	unstructured.RemoveNestedField(tree, "metadata", "selfLink")
	dropDuplicateOwners(object)
	return object
}

// checkType refuses a body that says that it is something else. What it does not
// say is filled in.
func (r *resource) checkType(tree map[string]any, version string) error {
	want := schema.GroupVersion{Group: r.group, Version: version}.String()
	if said := tree["apiVersion"]; said == nil || said == "" {
		tree["apiVersion"] = want
	}
	if said := tree["kind"]; said == nil || said == "" {
		tree["kind"] = r.kind
	}
	apiVersion, ok := tree["apiVersion"].(string)
	if !ok {
		return errors.New("apiVersion is not a string")
	}
	kind, ok := tree["kind"].(string)
	switch {
	case !ok:
		return errors.New("kind is not a string")
	case apiVersion != want && r.custom && !slices.Contains(r.served, versionOfAPI(apiVersion, r.group)):
		return r.wrongType(tree, "apiVersion", apiVersion, want)
	case kind != r.kind && r.custom:
		return r.wrongType(tree, "kind", kind, r.kind)
	case apiVersion != want && r.custom:
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, want))
	case apiVersion != want || kind != r.kind:
		return r.anotherKind(schema.FromAPIVersionAndKind(apiVersion, kind), want)
	}
	return nil
}

// schemeName is how messages of a real server name its own scheme.
const schemeName = "pkg/api/legacyscheme/scheme.go:30"

// anotherKind is the refusal of a body that says that it is of another kind than this one
// of Kubernetes' own, or of another version.
func (r *resource) anotherKind(said schema.GroupVersionKind, want string) error {
	switch {
	case !r.scheme.Recognizes(said):
		return runtime.NewNotRegisteredErrForKind(schemeName, said)
	case said.Kind == r.kind:
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", said.GroupVersion(), want))
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", said.Version, said.Kind, r.kind)
}

// versionOfAPI is the version in an apiVersion of the group, empty for one of another.
func versionOfAPI(apiVersion, group string) string {
	version, found := strings.CutPrefix(apiVersion, group+"/")
	if !found {
		return ""
	}
	return version
}

// wrongType is the refusal of a custom resource that says that it is something else.
func (r *resource) wrongType(tree map[string]any, name, said, want string) error {
	object := &unstructured.Unstructured{Object: tree}
	return apierrors.NewInvalid(object.GroupVersionKind().GroupKind(), object.GetName(), field.ErrorList{
		field.Invalid(field.NewPath(name), said, "must be "+want),
	})
}

// shape brings the tree of a custom resource into shape with its schema.
func (r *resource) shape(tree map[string]any, version string) error {
	metadata, found, err := structuralobjectmeta.GetObjectMeta(tree, false)
	if err != nil {
		return err
	}
	if found {
		if err := structuralobjectmeta.SetObjectMeta(tree, metadata); err != nil {
			return err
		}
	}
	return r.schemas[version].fill(tree)
}

// decodeTyped completes an object that was read into its Go type.
func (r *resource) decodeTyped(typed runtime.Object) (*unstructured.Unstructured, error) {
	if secret, ok := typed.(*corev1.Secret); ok {
		encodeStringData(secret)
	}
	typed, err := r.rules.Read(typed)
	if err != nil {
		return nil, err
	}
	tree, err := jsontree.Of(typed)
	if err != nil {
		return nil, err
	}
	if status, ok := tree["status"].(map[string]any); ok && r.custom && len(status) == 0 {
		// Go types have no way not to send one.
		delete(tree, "status")
	}
	if metadata, ok := typed.(metav1.Object); ok && !r.custom {
		if managers := metadata.GetManagedFields(); managers != nil && len(managers) == 0 {
			// A tree made of a Go type does not tell an empty list from none.
			jsontree.Set(tree, []any{}, "metadata", "managedFields")
		}
	}
	return r.decoded(tree), nil
}

// encodeStringData moves what is given as text in a Secret to where it is stored.
func encodeStringData(secret *corev1.Secret) {
	if secret.Data == nil && len(secret.StringData) > 0 {
		secret.Data = map[string][]byte{}
	}
	for name, text := range secret.StringData {
		secret.Data[name] = []byte(text)
	}
	secret.StringData = nil
}

// newTyped returns an empty object of the Go type.
func (r *resource) newTyped() (runtime.Object, error) {
	kind := schema.GroupVersionKind{Group: r.group, Version: r.storage, Kind: r.kind}
	typed, err := r.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("the scheme cannot make a %s: %w", kind, err)
	}
	return typed, nil
}

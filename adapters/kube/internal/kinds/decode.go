package kinds

import (
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

// Decode reads an object in one of the served versions.
func (r *Resource) Decode(data []byte, version string) (*unstructured.Unstructured, error) {
	if read := r.DecodePlain(data, version); read.Object != nil {
		return read.Object, nil
	}
	return r.DecodeOdd(data, version)
}

// DecodeOdd reads an object that something may be wrong with.
func (r *Resource) DecodeOdd(data []byte, version string) (*unstructured.Unstructured, error) {
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
	if r.Schemas != nil {
		if err := r.shape(tree, version); err != nil {
			return nil, err
		}
		return r.complete(tree), nil
	}
	typed, err := r.NewTyped()
	if err != nil {
		return nil, err
	}
	if err := jsontree.Decode(data, typed); err != nil {
		return nil, err
	}
	return r.decodeTyped(typed)
}

// complete completes a tree that was read and brought into shape.
func (r *Resource) complete(tree map[string]any) *unstructured.Unstructured {
	tree["apiVersion"] = schema.GroupVersion{Group: r.Group, Version: r.Storage}.String()
	tree["kind"] = r.Kind
	object := &unstructured.Unstructured{Object: tree}
	unstructured.RemoveNestedField(tree, "metadata", "selfLink")
	dropDuplicateOwners(object)
	return object
}

// checkType refuses a body that says that it is something else. What it does not
// say is filled in.
func (r *Resource) checkType(tree map[string]any, version string) error {
	want := schema.GroupVersion{Group: r.Group, Version: version}.String()
	if said := tree["apiVersion"]; said == nil || said == "" {
		tree["apiVersion"] = want
	}
	if said := tree["kind"]; said == nil || said == "" {
		tree["kind"] = r.Kind
	}
	apiVersion, ok := tree["apiVersion"].(string)
	if !ok {
		return errors.New("apiVersion is not a string")
	}
	kind, ok := tree["kind"].(string)
	switch {
	case !ok:
		return errors.New("kind is not a string")
	case apiVersion != want && r.Custom && !slices.Contains(r.Served, versionOfAPI(apiVersion, r.Group)):
		return r.wrongType(tree, "apiVersion", apiVersion, want)
	case kind != r.Kind && r.Custom:
		return r.wrongType(tree, "kind", kind, r.Kind)
	case apiVersion != want && r.Custom:
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, want))
	case apiVersion != want || kind != r.Kind:
		return r.anotherKind(schema.FromAPIVersionAndKind(apiVersion, kind), want)
	}
	return nil
}

// schemeName is how messages of a real server name its own scheme.
const schemeName = "pkg/api/legacyscheme/scheme.go:30"

// anotherKind is the refusal of a body that says that it is of another kind than this one
// of Kubernetes' own, or of another version.
func (r *Resource) anotherKind(said schema.GroupVersionKind, want string) error {
	switch {
	case !r.scheme.Recognizes(said):
		return runtime.NewNotRegisteredErrForKind(schemeName, said)
	case said.Kind == r.Kind:
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", said.GroupVersion(), want))
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", said.Version, said.Kind, r.Kind)
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
func (r *Resource) wrongType(tree map[string]any, name, said, want string) error {
	object := &unstructured.Unstructured{Object: tree}
	return apierrors.NewInvalid(object.GroupVersionKind().GroupKind(), object.GetName(), field.ErrorList{
		field.Invalid(field.NewPath(name), said, "must be "+want),
	})
}

// shape brings the tree of a custom resource into shape with its schema.
func (r *Resource) shape(tree map[string]any, version string) error {
	metadata, found, err := structuralobjectmeta.GetObjectMeta(tree, false)
	if err != nil {
		return err
	}
	if found {
		if err := structuralobjectmeta.SetObjectMeta(tree, metadata); err != nil {
			return err
		}
	}
	return r.Schemas[version].fill(tree)
}

// decodeTyped completes an object that was read into its Go type.
func (r *Resource) decodeTyped(typed runtime.Object) (*unstructured.Unstructured, error) {
	if secret, ok := typed.(*corev1.Secret); ok {
		encodeStringData(secret)
	}
	typed, err := r.Rules.Read(typed)
	if err != nil {
		return nil, err
	}
	tree, err := jsontree.Of(typed)
	if err != nil {
		return nil, err
	}
	if status, ok := tree["status"].(map[string]any); ok && r.Custom && len(status) == 0 {
		// Go types have no way not to send one.
		delete(tree, "status")
	}
	if metadata, ok := typed.(metav1.Object); ok && !r.Custom {
		if managers := metadata.GetManagedFields(); managers != nil && len(managers) == 0 {
			// A tree made of a Go type does not tell an empty list from none.
			jsontree.Set(tree, []any{}, "metadata", "managedFields")
		}
	}
	return r.complete(tree), nil
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

// NewTyped returns an empty object of the Go type.
func (r *Resource) NewTyped() (runtime.Object, error) {
	kind := schema.GroupVersionKind{Group: r.Group, Version: r.Storage, Kind: r.Kind}
	typed, err := r.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("the scheme cannot make a %s: %w", kind, err)
	}
	return typed, nil
}

// Decoded is an object that was read. Those who look into it mostly want its Go type, which
// costs as much to make of the tree again as it cost to read it.
type Decoded struct {
	Object *unstructured.Unstructured
	// Typed is the Go type that the tree was made of, nil if it was made of none.
	Typed runtime.Object
}

// dropDuplicateOwners keeps the first of owner references that are all the same.
func dropDuplicateOwners(object *unstructured.Unstructured) {
	metadata, _ := object.Object["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	seen := map[string]bool{}
	var kept []any
	for _, owner := range owners {
		text := string(jsontree.Canonical(owner))
		if !seen[text] {
			kept = append(kept, owner)
		}
		seen[text] = true
	}
	if len(kept) < len(owners) {
		metadata["ownerReferences"] = kept
	}
}

// EmptyOf is an object of which nothing but the kind is known.
func EmptyOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object
}

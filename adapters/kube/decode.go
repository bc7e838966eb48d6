package kube

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
)

// decode reads an object that was sent in the version of the request, and returns
// it in the storage version. Unknown fields are dropped, and those with a default
// in the schema of a custom resource are set.
func (op *operation) decode(data []byte) (*unstructured.Unstructured, error) {
	version := op.request.Kind.Version
	if op.read = op.resource.DecodePlain(data, version); op.read.Object != nil {
		return op.read.Object, nil
	}
	// A type of its own, as the server has it: the message of an error names it.
	var said struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	unrecognized := func(err error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", op.resource.Kind, err, beginningOf(data)))
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, unrecognized(fmt.Errorf("couldn't get version/kind; json parse error: %w", err))
	}
	switch {
	case op.resource.Schemas == nil:
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
	if op.resource.Custom && of.GroupVersion() != op.request.Kind.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			of.GroupVersion(), op.request.Kind.GroupVersion()))
	}
	object, err := op.resource.DecodeOdd(data, version)
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", of.Kind, of.Version, op.resource.Kind, err))
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

// asRead is the Go type that an object was made of, nil if it was not read from a body or if
// more than its metadata may have changed since.
func (op *operation) asRead(object *unstructured.Unstructured) runtime.Object {
	if op.read.Object != object || op.request.Subresource == kinds.ScaleSubresource {
		return nil
	}
	switch op.resource.Name {
	case kinds.Pod, kinds.Service, kinds.Node:
		return nil
	}
	return op.read.Typed
}

// rulesRequest is the request to the rules of a kind to write an object.
func (op *operation) rulesRequest(object, current *unstructured.Unstructured) kindrules.Request {
	request := kindrules.Request{
		Kind: op.resource.StorageKind(), Resource: op.resource.Plural, Subresource: op.request.Subresource,
		Namespace: op.namespace(), Name: object.GetName(), Now: storage.Now(), Object: object, Current: current,
		Typed: op.asRead(object), Version: op.request.Kind.Version,
	}
	if request.Subresource == kinds.ScaleSubresource {
		request.Subresource = ""
	}
	return request
}

package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// decoded is an object that was read. Those who look into it mostly want its Go type, which
// costs as much to make of the tree again as it cost to read it.
type decoded struct {
	object *unstructured.Unstructured
	// typed is the Go type that the tree was made of, nil if it was made of none.
	typed runtime.Object
}

// asRead is the Go type that an object was made of, nil if it was not read from a body or if
// more than its metadata may have changed since.
func (op *operation) asRead(object *unstructured.Unstructured) runtime.Object {
	if op.read.object != object || op.request.Subresource == scaleSubresource {
		return nil
	}
	switch op.resource.name {
	case kindPod, kindService, kindNode:
		return nil
	}
	return op.read.typed
}

// typed is what is wanted of an object as its Go type, nil if that is not known: if the
// object is not as it was read, or a server itself has a say in it.
func (op *operation) typed(object *unstructured.Unstructured) runtime.Object {
	if op.read.object != object || op.request.Subresource != "" {
		return nil
	}
	switch op.resource.name {
	case "ConfigMap", "Secret", "Lease.coordination.k8s.io", "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps":
		return op.read.typed
	}
	return nil
}

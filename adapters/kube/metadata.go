package kube

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wipeSystemFields drops what a client cannot choose when it creates an object.
func wipeSystemFields(object *unstructured.Unstructured) {
	object.SetUID("")
	object.SetCreationTimestamp(metav1.Time{})
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
}

// placeInNamespace makes the object's namespace that of the request, and refuses
// an object that names another one.
func (op *operation) placeInNamespace(object *unstructured.Unstructured) error {
	want := op.namespace()
	if have := object.GetNamespace(); have != "" && have != want && want != "" {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	object.SetNamespace(want)
	return nil
}

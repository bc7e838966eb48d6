package kube

import (
	"cmp"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// checkExpansion refuses a claim that asks for more than before, unless it is bound and its class
// allows that.
func (op *operation) checkExpansion(object, current *unstructured.Unstructured) error {
	if op.resource.Name != kinds.Claim || op.request.Subresource != "" || !grows(object, current) {
		return nil
	}
	refuse := func(reason string) error {
		return apierrors.NewForbidden(op.groupResource(), op.request.Name, errors.New(reason))
	}
	class := classOf(object)
	switch {
	case jsontree.At(current, "status", "phase") != string(corev1.ClaimBound):
		return refuse("Only bound persistent volume claims can be expanded")
	case class == "", class != classOf(current), !op.allowsExpansion(class):
		return refuse("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

// allowsExpansion tells whether a storage class says that volumes may grow.
func (op *operation) allowsExpansion(class string) bool {
	content := op.state.Get(core.Key{Kind: kinds.StorageClass, Name: class})
	return content != nil && storage.Of(content).Tree["allowVolumeExpansion"] == true
}

// grows tells whether a claim asks for more than before.
func grows(claim, before *unstructured.Unstructured) bool {
	size := storageOf(claim)
	return size.Cmp(storageOf(before)) > 0
}

// storageOf returns what a claim asks for.
func storageOf(claim *unstructured.Unstructured) apiresource.Quantity {
	text, _ := jsontree.At(claim, "spec", "resources", "requests", string(corev1.ResourceStorage)).(string)
	size, err := apiresource.ParseQuantity(text)
	if err != nil {
		return apiresource.Quantity{} // it says nothing
	}
	return size
}

// classOf returns the name of the storage class of a claim.
func classOf(claim *unstructured.Unstructured) string {
	name, _ := jsontree.At(claim, "spec", "storageClassName").(string)
	return cmp.Or(claim.GetAnnotations()[corev1.BetaStorageClassAnnotation], name)
}

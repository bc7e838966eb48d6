package kube

import (
	"cmp"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// ProtectsVolumes reports whether the server was made with [VolumeProtection].
func (s *Server) ProtectsVolumes() bool {
	claims := s.registry.Named(kinds.Claim)
	return claims != nil && claims.Protection != ""
}

// protectVolumes gives new claims and volumes their finalizers.
func protectVolumes(g *kinds.Registry) {
	if r := g.Named(kinds.Claim); r != nil {
		r.Protection = kinds.ClaimProtection
	}
	if r := g.Named(kinds.Volume); r != nil {
		r.Protection = kinds.VolumeProtection
	}
}

// checkUse says that a deletion is not modelled if only the protection of volumes, which this
// server does not do, would keep the object.
func (op *operation) checkUse(key core.Key, from *storage.Object) error {
	const advice = "and the server does not protect it as a real one does: switch that on with the option VolumeProtection() of the adapter"
	switch {
	case op.resource.Protection != "":
	case op.resource.Name == kinds.Volume && jsontree.At(from.Meta(), "status", "phase") == string(corev1.VolumeBound):
		return fmt.Errorf("the volume is bound, %s", advice)
	case op.resource.Name == kinds.Claim:
		for _, o := range op.state.List(kinds.Pod, key.Namespace) {
			if builtin.Uses(storage.Of(o.Content).Tree, from.Meta()) {
				return fmt.Errorf("the claim is used by Pod %s, %s", o.Key.Name, advice)
			}
		}
	}
	return nil
}

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

// allowsExpansion reports whether a storage class says that volumes may grow.
func (op *operation) allowsExpansion(class string) bool {
	content := op.state.Get(core.Key{Kind: kinds.StorageClass, Name: class})
	return content != nil && storage.Of(content).Tree["allowVolumeExpansion"] == true
}

// grows reports whether a claim asks for more than before.
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

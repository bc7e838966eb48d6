package builtin

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// This file holds the classes of a cluster that say how Pods run: what the server's own
// admission plugins make of the RuntimeClass of a Pod, and of the PriorityClass that is the
// default.

// CheckClasses refuses a valid object that the classes of the cluster do not allow.
func CheckClasses(state core.Snapshot, r *kinds.Resource, subresource string, object, current *unstructured.Unstructured) error {
	switch {
	case subresource != "":
		return nil
	case r.Name == kinds.PriorityClass:
		return checkDefaultPriority(state, object)
	case r.Name != kinds.Pod || current != nil || jsontree.At(object, "spec", "overhead") == nil:
		return nil
	}
	pod := &corev1.Pod{}
	if err := jsontree.Into(object.Object, pod); err != nil {
		return err
	}
	if class, err := runtimeClass(state, pod); err != nil || class != nil && class.Overhead != nil {
		return err
	}
	return podRejected(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
}

// checkDefaultPriority refuses a second PriorityClass that is the default.
func checkDefaultPriority(state core.Snapshot, object *unstructured.Unstructured) error {
	if jsontree.At(object, "globalDefault") != true {
		return nil
	}
	for _, o := range state.List(kinds.PriorityClass, "") {
		if o.Key.Name != object.GetName() && jsontree.At(&unstructured.Unstructured{Object: storage.Of(o.Content).Tree}, "globalDefault") == true {
			return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), object.GetName(),
				fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", o.Key.Name))
		}
	}
	return nil
}

// InternalError is how a real server answers with an error it has no reason for.
func InternalError(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Reason:  metav1.StatusReasonUnknown,
		Message: message,
	}}
}

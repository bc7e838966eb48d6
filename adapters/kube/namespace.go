package kube

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// removeNamespace marks a Namespace as terminating when it is first deleted. It goes
// away once it is finalized: that is for whoever plays the namespace controller.
func (op *operation) removeNamespace(key core.Key, from *storage.Object) error {
	switch key.Name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(op.groupResource(), key.Name, errors.New("this namespace may not be deleted"))
	}
	object := from.Copy()
	if object.GetDeletionTimestamp() != nil {
		if len(builtin.NamespaceFinalizers(object)) == 0 {
			op.removeChanged(key, from, object)
		}
		return nil
	}
	now := storage.Now()
	object.SetDeletionTimestamp(&now)
	jsontree.Set(object.Object, string(corev1.NamespaceTerminating), "status", "phase")
	if finalizers := op.deletionFinalizers(object.GetFinalizers()); !slices.Equal(finalizers, object.GetFinalizers()) {
		object.SetFinalizers(finalizers)
	}
	op.keep(key, from, object)
	return nil
}

// checkNamespacePreconditions is what is checked of any other kind, in other words.
func (op *operation) checkNamespacePreconditions(key core.Key, from *storage.Object) error {
	for _, condition := range []struct{ name, want, have string }{
		{"UID", op.request.PreconditionUID, string(from.Meta().GetUID())},
		{"ResourceVersion", op.request.PreconditionResourceVersion, from.Version},
	} {
		if condition.want != "" && condition.want != condition.have {
			return op.conflict(key.Name, fmt.Errorf("Precondition failed: %s in precondition: %s, %[1]s in object meta: %[3]s", //nolint:staticcheck // the server's words
				condition.name, condition.want, condition.have))
		}
	}
	return nil
}

package kube

import (
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

func (op *operation) delete() (*Response, error) {
	if err := op.checkDeleteOptions(); err != nil {
		return nil, err
	}
	key := op.key(op.request.Name)
	from := op.find(key)
	if from == nil {
		return nil, op.notFound()
	}
	if err := op.remove(key, from); err != nil {
		return nil, err
	}
	return done(nil), nil
}

// deleteCollection deletes what a list with the same selectors shows.
func (op *operation) deleteCollection() (*Response, error) {
	if err := op.checkDeleteOptions(); err != nil {
		return nil, err
	}
	objects, err := op.selected()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := op.remove(o.Key, storage.Of(o.Content)); err != nil {
			return nil, err
		}
	}
	return done(nil), nil
}

func (op *operation) checkDeleteOptions() error {
	switch metav1.DeletionPropagation(op.request.Propagation) {
	case "", metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan:
		return nil
	}
	policies := []string{string(metav1.DeletePropagationForeground), string(metav1.DeletePropagationBackground), string(metav1.DeletePropagationOrphan), "nil"}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{
		field.NotSupported(field.NewPath("propagationPolicy"), &op.request.Propagation, policies),
	})
}

// remove deletes an object at once, or marks it as being deleted if there are
// finalizers or a grace period to wait for.
func (op *operation) remove(key core.Key, from *storage.Object) error {
	if err := op.checkPreconditions(key, from); err != nil {
		return err
	}
	if err := op.reviewDeletion(key, from); err != nil {
		return err
	}
	if op.resource.Name == kinds.Namespace {
		return op.removeNamespace(key, from)
	}
	if err := op.checkUse(key, from); err != nil {
		return err
	}
	op.removeChanged(key, from, from.Copy())
	return nil
}

// reviewDeletion asks the webhooks, which cannot change what is being deleted.
func (op *operation) reviewDeletion(key core.Key, from *storage.Object) error {
	if len(op.server.webhooks) == 0 {
		return nil
	}
	review := op.review(admissionv1.Delete, key)
	old := from.Copy()
	old.SetResourceVersion(from.Version)
	if _, err := review.mutate(nil, old); err != nil {
		return err
	}
	return review.validate(nil, old)
}

// removeChanged deletes an object in the form that it has got meanwhile.
func (op *operation) removeChanged(key core.Key, from *storage.Object, object *unstructured.Unstructured) {
	if op.resource.Name == kinds.Pod {
		if op.pending(object) {
			op.keep(key, from, object)
			return
		}
		op.startGracePeriod(object)
	}
	finalizers := op.deletionFinalizers(object.GetFinalizers())
	if !slices.Equal(finalizers, object.GetFinalizers()) {
		object.SetFinalizers(finalizers)
	}
	grace := object.GetDeletionGracePeriodSeconds()
	switch {
	case grace != nil && *grace > 0:
		op.keep(key, from, object)
	case len(finalizers) > 0:
		markDeleted(object, op.server.now())
		op.keep(key, from, object)
	default:
		op.commit(key, from, nil)
	}
}

// keep stores an object that is being deleted, if it is not stored so already.
func (op *operation) keep(key core.Key, from *storage.Object, object *unstructured.Unstructured) {
	if to := op.next(key, object.Object); to.Text != from.Text {
		op.commit(key, from, to)
	}
}

func (op *operation) checkPreconditions(key core.Key, from *storage.Object) error {
	resource := schema.GroupResource{Group: op.resource.Group, Resource: op.resource.Kind}
	if op.resource.Name == kinds.Namespace {
		return op.checkNamespacePreconditions(key, from)
	}
	if want, have := op.request.PreconditionUID, string(from.Meta().GetUID()); want != "" && want != have {
		return apierrors.NewConflict(resource, key.Name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", want, have))
	}
	if want, have := op.request.PreconditionResourceVersion, from.Version; want != "" && want != have {
		return apierrors.NewConflict(resource, key.Name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", want, have))
	}
	return nil
}

// markDeleted marks an object as being deleted at a time, with no grace period.
func markDeleted(object *unstructured.Unstructured, now metav1.Time) {
	if object.GetDeletionTimestamp() == nil {
		nextGenerationOnDelete(object)
		object.SetDeletionTimestamp(&now)
	}
	none := int64(0)
	object.SetDeletionGracePeriodSeconds(&none)
}

// nextGenerationOnDelete counts the generation of an object up, if its kind has one.
func nextGenerationOnDelete(object *unstructured.Unstructured) {
	if generation := object.GetGeneration(); generation > 0 {
		object.SetGeneration(generation + 1)
	}
}

// deletionFinalizers returns the finalizers of an object that is deleted, with
// those of the garbage collector as the propagation policy wants them. A policy of
// the request overrides a finalizer that is there, and that the default of the kind. Kinds
// without garbage collection lose those that somebody gave them.
func (op *operation) deletionFinalizers(have []string) []string {
	policy := metav1.DeletionPropagation(op.request.Propagation)
	switch {
	case !op.resource.Collectable():
		policy = metav1.DeletePropagationBackground
	case policy == "":
		switch {
		case slices.Contains(have, metav1.FinalizerOrphanDependents):
			policy = metav1.DeletePropagationOrphan
		case slices.Contains(have, metav1.FinalizerDeleteDependents):
			policy = metav1.DeletePropagationForeground
		case op.resource.OrphansByDefault():
			policy = metav1.DeletePropagationOrphan
		}
	}
	var want []string
	for _, finalizer := range have {
		if finalizer != metav1.FinalizerOrphanDependents && finalizer != metav1.FinalizerDeleteDependents {
			want = append(want, finalizer)
		}
	}
	switch policy {
	case metav1.DeletePropagationOrphan:
		want = append(want, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		want = append(want, metav1.FinalizerDeleteDependents)
	}
	if len(want) == len(have) && !slices.ContainsFunc(want, func(f string) bool { return !slices.Contains(have, f) }) {
		return have
	}
	return want
}

// Pods are the one kind that is deleted gracefully: a Pod on a node stays, marked as
// being deleted, until somebody who plays the kubelet deletes it without grace.

// pending reports whether a Pod is being deleted already, with a grace period that
// the request does not shorten.
func (op *operation) pending(pod *unstructured.Unstructured) bool {
	left := pod.GetDeletionGracePeriodSeconds()
	if pod.GetDeletionTimestamp() == nil || left == nil || *left == 0 {
		return false
	}
	asked := op.request.GracePeriodSeconds
	return asked == nil || readPeriod(*asked) >= *left
}

// startGracePeriod marks a Pod as being deleted, with the time that its node has
// for stopping it, or shortens that time.
func (op *operation) startGracePeriod(pod *unstructured.Unstructured) {
	var period int64
	left := pod.GetDeletionGracePeriodSeconds()
	switch {
	case pod.GetDeletionTimestamp() == nil:
		period = op.gracePeriod(pod)
		nextGenerationOnDelete(pod)
	case left == nil || *left == 0:
		return
	default:
		period = readPeriod(*op.request.GracePeriodSeconds)
	}
	end := metav1.NewTime(op.server.now().Add(time.Duration(period) * time.Second))
	pod.SetDeletionTimestamp(&end)
	pod.SetDeletionGracePeriodSeconds(&period)
}

// gracePeriod is the number of seconds that a Pod gets: none if it runs nowhere.
func (op *operation) gracePeriod(pod *unstructured.Unstructured) int64 {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if node == "" || phase == string(corev1.PodFailed) || phase == string(corev1.PodSucceeded) {
		return 0
	}
	if asked := op.request.GracePeriodSeconds; asked != nil {
		return readPeriod(*asked)
	}
	if own, found, _ := unstructured.NestedInt64(pod.Object, "spec", "terminationGracePeriodSeconds"); found {
		return readPeriod(own)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// readPeriod reads a grace period as the server does: a negative one is one second.
func readPeriod(seconds int64) int64 {
	if seconds < 0 {
		return 1
	}
	return seconds
}

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
	now := op.server.now()
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

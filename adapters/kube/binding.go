package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// bind puts a Pod on a node.
func (op *operation) bind() (*Response, error) {
	binding := &corev1.Binding{}
	if err := jsontree.Decode(op.request.Body, binding); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	switch {
	case binding.Name != op.request.Name:
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	case binding.Target.Kind != "" && binding.Target.Kind != "Node":
		return nil, builtin.InternalError(fmt.Sprintf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, binding.Target.Kind))
	case binding.Target.Name == "":
		return nil, builtin.InternalError("target.name: Required value")
	}
	key := op.key(op.request.Name)
	from := op.find(key)
	if from == nil {
		return nil, op.notFound()
	}
	object := from.Copy()
	refuse := func(format string, args ...any) (*Response, error) {
		resource := op.groupResource()
		resource.Resource += "/binding"
		return nil, apierrors.NewConflict(resource, key.Name, fmt.Errorf(format, args...))
	}
	switch node := jsontree.At(object, "spec", "nodeName"); {
	case object.GetDeletionTimestamp() != nil:
		return refuse("pod %s is being deleted, cannot be assigned to a host", key.Name)
	case node != nil && node != "":
		return refuse("pod %v is already assigned to node %q", key.Name, node)
	case len(jsontree.ListAt(object, "spec", "schedulingGates")) > 0:
		return refuse("pod %v has non-empty .spec.schedulingGates", key.Name)
	}
	jsontree.Set(object.Object, binding.Target.Name, "spec", "nodeName")
	for name, value := range binding.Annotations {
		jsontree.Set(object.Object, value, "metadata", "annotations", name)
	}
	for name, value := range binding.Labels {
		jsontree.Set(object.Object, value, "metadata", "labels", name)
	}
	builtin.SetCondition(builtin.PodStatus(object), corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	op.commit(key, from, op.next(key, object.Object))
	return done(nil), nil
}

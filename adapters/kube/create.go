package kube

import (
	"cmp"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

func (op *operation) create() (*Response, error) {
	object, err := op.decode(op.request.Body)
	if err != nil {
		return nil, err
	}
	wipeSystemFields(object)
	return op.createObject(object)
}

// createObject stores an object that was decoded.
func (op *operation) createObject(object *unstructured.Unstructured) (*Response, error) {
	if err := op.recordManagers(kinds.EmptyOf(op.request.Kind), object); err != nil {
		return nil, err
	}
	return op.createManaged(object)
}

// createManaged stores a new object with the record of its managers.
func (op *operation) createManaged(object *unstructured.Unstructured) (*Response, error) {
	if err := op.placeInNamespace(object); err != nil {
		return nil, err
	}
	if err := op.admitToNamespace(object); err != nil {
		return nil, err
	}
	object, err := op.review(admissionv1.Create, op.key(object.GetName())).mutate(object, nil)
	if err != nil {
		return nil, err
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		name, err := op.generateName(object)
		if err != nil {
			return nil, err
		}
		object.SetName(name)
	}
	key := op.key(object.GetName())
	object.SetUID(storage.NewUID(op.state, op.server.cluster, key))
	at, err := op.created()
	if err != nil {
		return nil, err
	}
	object.SetCreationTimestamp(at)
	if err := builtin.Assign(op.resource, op.state, key, object, nil); err != nil {
		return nil, err
	}
	builtin.AdmitNew(op.resource, object)
	if object, err = op.resource.Rules.Create(op.rulesRequest(object, nil)); err != nil {
		return nil, err
	}
	if err := builtin.CheckClasses(op.state, op.resource, op.request.Subresource, object, nil); err != nil {
		return nil, err
	}
	if err := op.review(admissionv1.Create, key).validate(object, nil); err != nil {
		return nil, err
	}
	op.finish(object)
	if op.resource.Name == kinds.Claim {
		// The phase of a new claim is only filled in when it is read.
		op.unshown = append(op.unshown, "status.phase")
	}
	if object.GetResourceVersion() != "" && !op.request.DryRun {
		return nil, builtin.InternalError("resourceVersion should not be set on objects to be created")
	}
	given := object.GetResourceVersion()
	object.SetResourceVersion("")
	found := op.find(key)
	if found == nil && op.implied(key) {
		if found, err = op.server.impliedNamespace(key.Name); err != nil {
			return nil, err
		}
	}
	if found != nil {
		return nil, op.alreadyExists(found)
	}
	created := op.next(key, object.Object)
	op.commit(key, nil, created)
	if op.request.DryRun {
		return op.show(created, given), nil
	}
	return op.show(created, created.Version), nil
}

// alreadyExists is the refusal of a create where there is an object of that name.
func (op *operation) alreadyExists(found *storage.Object) error {
	err := apierrors.NewAlreadyExists(op.groupResource(), found.Meta().GetName())
	if found.Meta().GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// implied reports whether a Namespace is there although nobody has given it: objects are in it at the start, or every
// cluster has it.
func (op *operation) implied(key core.Key) bool {
	if key.Kind != kinds.Namespace || !op.presumes(key) {
		return false
	}
	switch key.Name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease:
		return true
	}
	return op.server.inhabited[key.Name]
}

// presumes reports whether a Namespace may be there although there is no object.
func (op *operation) presumes(namespace core.Key) bool {
	return !op.server.strictNamespaces && !op.server.namespaces[namespace.Name] && !slices.Contains(op.server.made, namespace)
}

// impliedNamespace returns a Namespace as it is where nobody has given or changed it.
func (s *Server) impliedNamespace(name string) (*storage.Object, error) {
	_, tree, err := s.admitInitial(&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: string(kinds.Namespace)}, ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil {
		return nil, err
	}
	return storage.New(tree.Object, 0), nil
}

// mustBeGiven is an error for a change of a Namespace that is implied: nothing can be kept of it.
func (op *operation) mustBeGiven() error {
	return fmt.Errorf("the Namespace %s is there, as in every cluster or as objects are in it, but it is not among the initial objects: add it to them, so that it can be changed", op.request.Name)
}

// admitToNamespace refuses what is created in a namespace that is going away, in one that was there at the start and is
// gone or that somebody makes, and, if the server is strict about it, in any that does not exist.
func (op *operation) admitToNamespace(object *unstructured.Unstructured) error {
	name := op.namespace()
	if name == "" {
		return nil
	}
	key := core.Key{Kind: kinds.Namespace, Name: name}
	namespace := op.find(key)
	if namespace == nil {
		switch {
		case !op.presumes(key):
			return apierrors.NewNotFound(corev1.Resource("namespaces"), name)
		case !op.implied(key):
			op.presumed = append(op.presumed, key)
		}
		return nil
	}
	if phase, _, _ := unstructured.NestedString(namespace.Tree, "status", "phase"); phase != string(corev1.NamespaceTerminating) {
		return nil
	}
	err := apierrors.NewForbidden(op.groupResource(), cmp.Or(object.GetName(), object.GetGenerateName()),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name),
		Field:   "metadata.namespace",
	})
	return err
}

// generateName returns a name for an object that has only a generateName.
func (op *operation) generateName(object *unstructured.Unstructured) (string, error) {
	base := storage.GeneratedBase(object.GetGenerateName())
	base += storage.OwnerLetters(base, object.GetOwnerReferences())
	for number := 1; ; number++ {
		name, left := storage.GeneratedName(base, number)
		if !left {
			return "", fmt.Errorf("there are %d objects with names generated from %q, and no more are modelled: see why the controller makes so many, or lower the bound on the depth", number-1, object.GetGenerateName())
		}
		if key := op.key(name); op.find(key) == nil && !storage.Known(op.state, op.server.cluster, key) {
			return name, nil
		}
	}
}

// finish does to an object what the server does when it reads what it has stored.
func (op *operation) finish(object *unstructured.Unstructured) {
	if op.resource.Name == kinds.Job && len(object.GetLabels()) == 0 {
		builtin.LabelJob(object)
		op.unshown = []string{"labels"}
	}
}

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

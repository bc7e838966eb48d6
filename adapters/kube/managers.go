package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/orrery-dev/orrery/adapters/kube/internal/apply"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// Who manages which fields of an object is recorded in its metadata.managedFields, by
// the real server's own library. An object gets the record with its first server-side
// apply, which finds the fields that are there in the hands of "before-first-apply";
// with [ManagedFields] it has one from the start. From then on every write keeps it.

// recordManagers brings the record of managers in an object that was sent up to date
// with the change that it makes to the live one. A record that is sent with an update
// replaces the one that is there.
func (op *operation) recordManagers(live, object *unstructured.Unstructured) error {
	known := live.GetUID() != "" && op.request.Subresource == "" && jsontree.At(object, "metadata", "managedFields") != nil
	if !known && !op.server.managedFields && len(apply.RecordOf(live)) == 0 {
		object.SetManagedFields(nil)
		return nil
	}
	manager, err := op.fieldManager(true)
	if err != nil {
		return err
	}
	unlabelled := op.resource.Name == kinds.Job && len(object.GetLabels()) == 0
	if unlabelled {
		// To whoever sends a Job, a real server also ascribes the labels that it gets from its template.
		builtin.LabelJob(object)
	}
	_, err = manager.Update(live, object, op.request.FieldManager)
	if unlabelled {
		object.SetLabels(nil)
	}
	if err == nil {
		apply.SettleManagers(object)
		return nil
	}
	// The real server gives up the record as well.
	object.SetManagedFields(nil)
	return nil
}

// recordFirst starts the record of a live object that has none: somebody wrote all
// that is there, other than what the server sets.
func (op *operation) recordFirst(live *unstructured.Unstructured) error {
	if op.server.managedFields || len(apply.RecordOf(live)) > 0 {
		return nil // It was there, and somebody has removed it: the library sees to that.
	}
	manager, err := op.fieldManager(false)
	if err != nil {
		return err
	}
	written := live.DeepCopy()
	if isNew := builtin.NewStatus(op.resource, live); isNew != nil && jsontree.Same(live.Object["status"], isNew) {
		// The server itself has set it.
		delete(written.Object, "status")
	}
	if _, err := manager.Update(kinds.EmptyOf(op.request.Kind), written, "before-first-apply"); err != nil {
		return builtin.InternalError(err.Error())
	}
	entries := written.GetManagedFields()
	for i := range entries {
		entries[i].Subresource = ""
	}
	live.SetManagedFields(entries)
	return nil
}

var (
	_ runtime.ObjectConvertor = apply.NoConversion{}
	_ runtime.ObjectDefaulter = apply.NoConversion{}
	_ runtime.ObjectCreater   = apply.NoConversion{}
)

// fieldManager returns the library's view on who manages what, for the version and
// the subresource of the request.
func (op *operation) fieldManager(resets bool) (*managedfields.FieldManager, error) {
	return op.server.managers.Of(op.resource, op.request.Kind, op.request.Subresource, resets)
}

package kube

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// staleMessage is what a server says about an update of a version that is not the
// current one any more.
const staleMessage = "the object has been modified; please apply your changes to the latest version and try again"

func (op *operation) update() (*Response, error) {
	object, err := op.decode(op.request.Body)
	if err != nil {
		return nil, err
	}
	if err := op.matchRequest(object); err != nil {
		return nil, err
	}
	current := op.find(op.key(op.request.Name))
	if current == nil {
		if op.createdByUpdate() {
			if uid := object.GetUID(); uid != "" {
				return nil, op.otherObject(uid, "")
			}
			if _, err := strconv.ParseUint(cmp.Or(object.GetResourceVersion(), "0"), 10, 64); err != nil {
				return nil, builtin.InternalError(err.Error())
			}
			if !op.request.DryRun {
				object.SetResourceVersion("")
			}
			return op.createObject(object)
		}
		return nil, op.notFound()
	}
	if uid, have := object.GetUID(), current.Meta().GetUID(); uid != "" && uid != have {
		return nil, op.otherObject(uid, have)
	}
	return op.replace(current, object)
}

// otherObject is the refusal of an update of an object that is another one by now, or
// that is not there.
func (op *operation) otherObject(asked, have types.UID) error {
	return op.conflict(op.request.Name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
		op.storagePath(), asked, have))
}

// createdByUpdate reports whether an update of an object that is not there makes it.
func (op *operation) createdByUpdate() bool {
	part := op.request.Subresource
	return op.resource.Rules.AllowCreateOnUpdate(op.resource.StorageKind()) && (part == "" || part == kinds.StatusSubresource && op.resource.Status)
}

// storagePath is the key of the object as error messages of the real server name it.
func (op *operation) storagePath() string {
	path := "/registry/"
	if op.request.DryRun {
		path = "/"
	}
	if op.resource.Custom {
		path += op.resource.Group + "/"
	}
	path += op.resource.Folder() + "/"
	if namespace := op.namespace(); namespace != "" {
		path += namespace + "/"
	}
	return path + op.request.Name
}

// matchRequest refuses an object that is not the one the request names.
func (op *operation) matchRequest(object *unstructured.Unstructured) error {
	if err := op.placeInNamespace(object); err != nil {
		return err
	}
	switch have, want := object.GetName(), op.request.Name; have {
	case want:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", want))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", have, want))
	}
}

// replace stores a new form of an object. It commits nothing if that is no
// different, and removes the object if it has lost the last of the finalizers that
// it was kept for.
func (op *operation) replace(from *storage.Object, object *unstructured.Unstructured) (*Response, error) {
	live := from.Live()
	if op.resource.Name == kinds.Job {
		builtin.LabelJob(object)
	}
	if err := op.recordManagers(live, object); err != nil {
		return nil, err
	}
	return op.replaceManaged(from, object)
}

// replaceManaged stores a new form of an object with the record of its managers.
func (op *operation) replaceManaged(from *storage.Object, object *unstructured.Unstructured) (*Response, error) {
	to, version, err := op.put(from, object)
	if err != nil {
		return nil, err
	}
	return op.show(to, version), nil
}

// put stores a new form of an object, and returns it with the version to show it at.
func (op *operation) put(from *storage.Object, object *unstructured.Unstructured) (*storage.Object, string, error) {
	version := from.Version
	current := from.Live()
	review := op.review(admissionv1.Update, op.key(op.request.Name))
	reviewed := op.request.Subresource == ""
	if reviewed {
		var err error
		if object, err = review.mutate(object, current); err != nil {
			return nil, "", err
		}
	}
	if err := op.checkVersion(object, version); err != nil {
		return nil, "", err
	}
	object.SetResourceVersion(version)
	if part := op.request.Subresource; part == "" || part == kinds.ScaleSubresource {
		if err := builtin.Assign(op.resource, op.state, op.key(op.request.Name), object, current); err != nil {
			return nil, "", err
		}
	}
	object, err := op.resource.Rules.Update(op.rulesRequest(object, current))
	if err != nil {
		return nil, "", err
	}
	if err := op.checkExpansion(object, current); err != nil {
		return nil, "", err
	}
	if err := builtin.CheckClasses(op.state, op.resource, op.request.Subresource, object, current); err != nil {
		return nil, "", err
	}
	if reviewed {
		if err := review.validate(object, current); err != nil {
			return nil, "", err
		}
	}
	object.SetResourceVersion("")
	key := op.key(op.request.Name)
	if finalized(from, object) {
		op.commit(key, from, nil)
		return storage.New(object.Object, 0), version, nil
	}
	op.finish(object)
	to := op.next(key, object.Object)
	switch {
	case to.Text == from.Text:
		return from, version, nil
	case op.request.DryRun:
		return to, version, nil
	}
	op.commit(key, from, to)
	return to, to.Version, nil
}

// checkVersion refuses an update that was made from another version than the
// current one, and one that does not say from which, where the kind needs that.
func (op *operation) checkVersion(object *unstructured.Unstructured, current string) error {
	name := op.request.Name
	switch have := object.GetResourceVersion(); {
	case have == current:
		return nil
	case have != "" && have != "0":
		if _, err := strconv.ParseUint(have, 10, 64); err != nil {
			return builtin.InternalError(err.Error())
		}
		return op.conflict(name, errors.New(staleMessage))
	case op.resource.Rules.AllowUnconditionalUpdate(op.resource.StorageKind()):
		return nil
	}
	kind := schema.GroupKind{Group: op.resource.Group, Kind: op.resource.Plural}
	return apierrors.NewInvalid(kind, name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
	})
}

// finalized reports whether an update took away the last finalizer of an object that
// is being deleted. A Namespace has finalizers in its spec as well.
func finalized(from *storage.Object, to *unstructured.Unstructured) bool {
	before := from.Meta()
	if before.GetKind() == string(kinds.Namespace) && len(builtin.NamespaceFinalizers(to)) > 0 {
		return false
	}
	grace := before.GetDeletionGracePeriodSeconds()
	return before.GetDeletionTimestamp() != nil && len(to.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

package companions

import (
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// kind is a function, and not a variable, for each kind that companions look after.
func replicaSetKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
}
func deploymentKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("Deployment")
}
func statefulSetKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("StatefulSet")
}
func revisionKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("ControllerRevision")
}
func jobKind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("Job") }
func podKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Pod") }
func claimKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
}

// object is a Go type of a kind.
type object interface {
	runtime.Object
	metav1.Object
}

// client makes the requests of a companion, with Go types.
type client struct{ world core.EffectRecorder }

// do makes a request and decodes the answer, if that has an object.
func (c client) do(r *kube.Request, into any) error {
	response, ok := c.world.Do(r).(*kube.Response)
	if !ok {
		panic("companions: the request of a companion was not answered by an API server")
	}
	if err := response.Err(); err != nil {
		return err
	}
	if response.Object == nil || into == nil {
		return nil
	}
	return json.Unmarshal(response.Object, into)
}

// get reads an object, and returns nil if it is not there.
func get[T any](c client, kind schema.GroupVersionKind, namespace, name string) (*T, error) {
	found := new(T)
	err := c.do(&kube.Request{Verb: kube.Get, Kind: kind, Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// list reads the objects that a request for a list selects, in the order of their names.
func list[T any](c client, r *kube.Request) ([]*T, error) {
	var found struct {
		Items []*T `json:"items"`
	}
	r.Verb = kube.List
	return found.Items, c.do(r, &found)
}

// listCached reads the objects of a kind in a namespace as the cache shows them, in the order of their names.
func listCached[T any](c client, kind schema.GroupVersionKind, namespace string) []*T {
	found, err := list[T](c, &kube.Request{Kind: kind, Namespace: namespace, FromCache: true})
	if err != nil {
		panic("companions: a cache refuses to list: " + err.Error())
	}
	return found
}

// lifetime reads what decides how long an object lives, as the cache shows it, nil if it shows no such object.
func lifetime(c client, kind schema.GroupVersionKind, namespace, name string) *metav1.PartialObjectMetadata {
	found := &metav1.PartialObjectMetadata{}
	err := c.do(&kube.Request{Verb: kube.Get, Kind: kind, Namespace: namespace, Name: name, FromCache: true, LifetimeOnly: true}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		panic("companions: a cache refuses to read: " + err.Error())
	}
	return found
}

// create creates an object, and reads into it what the server has made of it.
func (c client) create(kind schema.GroupVersionKind, o object) error {
	return c.do(&kube.Request{Verb: kube.Create, Kind: kind, Namespace: o.GetNamespace(), Body: body(kind, o)}, o)
}

// update writes an object if it has not changed since it was read.
func (c client) update(kind schema.GroupVersionKind, o object) error { return c.write(kind, o, "") }

// updateStatus writes the status of an object if the object has not changed since it was read.
func (c client) updateStatus(kind schema.GroupVersionKind, o object) error {
	return c.write(kind, o, "status")
}

func (c client) write(kind schema.GroupVersionKind, o object, subresource string) error {
	return c.do(&kube.Request{
		Verb: kube.Update, Kind: kind, Subresource: subresource, Namespace: o.GetNamespace(), Name: o.GetName(), Body: body(kind, o),
	}, o)
}

// body is an object as it is sent.
func body(kind schema.GroupVersionKind, o object) []byte {
	o.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(o)
	if err != nil {
		panic("companions: an object cannot be written as JSON: " + err.Error())
	}
	return text
}

// setOwners replaces the owners of an object if it has not changed since it was read. That the object is gone is fine.
func (c client) setOwners(kind schema.GroupVersionKind, o metav1.Object, owners []metav1.OwnerReference) error {
	return c.patchMeta(kind, o, map[string]any{"ownerReferences": owners})
}

// patchMeta replaces fields of the metadata of an object if it has not changed since it was read. That the object is
// gone is fine.
func (c client) patchMeta(kind schema.GroupVersionKind, o metav1.Object, fields map[string]any) error {
	fields["resourceVersion"] = o.GetResourceVersion()
	text, err := json.Marshal(map[string]any{"metadata": fields})
	if err != nil {
		panic("companions: metadata cannot be written as JSON: " + err.Error())
	}
	return ignoreNotFound(c.do(&kube.Request{
		Verb: kube.Patch, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), PatchType: types.MergePatchType, Body: text,
	}, nil))
}

// remove deletes the very object that was read. That it is gone already is fine.
func (c client) remove(kind schema.GroupVersionKind, o metav1.Object) error {
	return ignoreNotFound(c.do(&kube.Request{
		Verb: kube.Delete, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), PreconditionUID: string(o.GetUID()),
	}, nil))
}

// ignoreNotFound takes it for fine that an object is gone. So it is if it was deleted and made again.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unlessNamespaceEnds takes it for fine that nothing is created in a namespace that is being deleted.
func unlessNamespaceEnds(err error) error {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// leavesOut says that a companion leaves out a field that an object has, and that would make a difference: the check is
// inconclusive then, and tells why.
func (c client) leavesOut(kind schema.GroupVersionKind, o metav1.Object, field string) {
	c.needsWord(kind, o, field, "the companion does not model this field, and real controllers act on it: leave it out of the object, or stand in for them with a controller of your own")
}

// needsWord says that what comes of a field of an object is for the user to say, and how: the check is inconclusive
// until then.
func (c client) needsWord(kind schema.GroupVersionKind, o metav1.Object, field, how string) {
	c.world.Do(&kube.Unmodelled{Asked: fmt.Sprintf("%s of %s %s/%s", field, kind.Kind, o.GetNamespace(), o.GetName()), Reason: how})
}

// now is the time that companions write: that of the server's clock.
func (c client) now() metav1.Time {
	now := storage.Now()
	if clock, tells := c.world.(core.Timekeeper); tells {
		now = metav1.NewTime(now.Add(clock.Later()).Truncate(time.Second))
	}
	return now
}

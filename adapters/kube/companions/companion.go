package companions

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// Companion makes a controller of Kubernetes for the server of a system. It returns an error that says what to change
// if the server does not serve the kinds that it needs.
type Companion func(*kube.Server) (core.Strategy, error)

// strategy is a companion at work: both the strategy and, having no memory, its instance.
type strategy struct {
	name string
	// kinds are watched.
	kinds []schema.GroupVersionKind
	// handle returns the requests to enqueue for an event.
	handle func(client, core.Event) []core.Request
	// reconcile works on what a request names.
	reconcile func(client, request) error
}

var (
	_ core.Strategy = (*strategy)(nil)
	_ core.Instance = (*strategy)(nil)
)

// on returns the strategy for a server, if that serves all of its kinds.
func (s *strategy) on(server *kube.Server) (core.Strategy, error) {
	for _, kind := range s.kinds {
		if err := server.Serves(kind); err != nil {
			return nil, fmt.Errorf("the companion %s needs the kind %s: add the Go types of %s to the scheme", s.name, kind.Kind, kind.GroupVersion())
		}
	}
	return s, nil
}

// Describe implements [core.Strategy].
func (s *strategy) Describe() core.Description {
	watches := make([]core.Kind, len(s.kinds))
	for i, kind := range s.kinds {
		watches[i] = kube.KindOf(kind.GroupKind())
	}
	return core.Description{Name: s.name, Watches: watches, Sequential: true}
}

// Aside returns the companion under a second name, that of kube-controller-manager, for a system in which a checked
// controller has the first: a manager calls a controller by its kind, and so are companions.
func (s *strategy) Aside() core.Strategy {
	other := *s
	other.name += "-controller"
	return &other
}

// New implements [core.Strategy].
func (s *strategy) New() (core.Instance, error) { return s, nil }

// Handle implements [core.Instance].
func (s *strategy) Handle(world core.EffectRecorder, event core.Event) []core.Request {
	requests := s.handle(client{world}, event)
	slices.Sort(requests)
	return slices.Compact(requests)
}

// Reconcile implements [core.Instance].
func (s *strategy) Reconcile(world core.EffectRecorder, named core.Request) core.Result {
	r, ok := parse(named)
	if !ok {
		return core.Result{Err: fmt.Errorf("%q does not name an object", named)}
	}
	return core.Result{Err: s.reconcile(client{world}, r)}
}

// request asks a companion to look at an object. It is written as "namespace/name", or "what namespace/name" if there
// is something to do besides bringing the object to what it asks for.
type request struct {
	what, namespace, name string
}

func (r request) String() string {
	object := r.namespace + "/" + r.name
	if r.what == "" {
		return object
	}
	return r.what + " " + object
}

func parse(named core.Request) (request, bool) {
	what, object, found := strings.Cut(string(named), " ")
	if !found {
		what, object = "", what
	}
	namespace, name, ok := strings.Cut(object, "/")
	return request{what, namespace, name}, ok
}

// on returns the request to look at an object.
func on(namespace, name string) core.Request {
	return core.Request(request{namespace: namespace, name: name}.String())
}

// release is the request to look whether an object still belongs to its controller.
const release = "release"

// controls is how a kind of objects controls those of another: by references, and by a selector that says which orphans
// it adopts.
type controls struct {
	owner, dependent schema.GroupVersionKind
	// claims tells which Pods are adopted, and let go. Of dependents of other kinds, all are, and it is nil.
	claims func(*corev1.Pod) bool
	// leave tells that dependents that are being deleted may leave their controller without its noticing.
	leave bool
	// clears tells that a sync of an owner begins with letting go of what that selects no longer. Otherwise it is done
	// by itself.
	clears bool
	// finalizer is one that dependents have as long as they are controlled, "" for none.
	finalizer string
}

// requests are those that a change of a dependent leads to: for its controllers before and after, or for all that may
// adopt it. If its labels have changed, it is looked at itself.
func (o controls) requests(c client, event core.Event) []core.Request {
	found := o.owners(c, event)
	old, now := metaOf(event.Old), metaOf(event.New)
	if now == nil {
		return found
	}
	changed := old == nil || !labels.Equals(old.GetLabels(), now.GetLabels())
	if o.leave && now.GetDeletionTimestamp() != nil {
		found = o.ownerOf(c, now)
	}
	switch {
	case metav1.GetControllerOf(now) == nil:
		if (changed || metav1.GetControllerOf(old) != nil) && now.GetDeletionTimestamp() == nil {
			found = append(found, o.adopters(c, now)...)
		}
	case changed && !o.clears && (old != nil || event.Initial) && o.controllerOf(now) != nil:
		found = append(found, core.Request(request{release, event.Key.Namespace, event.Key.Name}.String()))
	}
	return found
}

// owners are the requests for the controllers of a dependent before and after a change.
func (o controls) owners(c client, event core.Event) []core.Request {
	var found []core.Request
	for _, dependent := range []metav1.Object{metaOf(event.Old), metaOf(event.New)} {
		if dependent != nil {
			found = append(found, o.ownerOf(c, dependent)...)
		}
	}
	return found
}

// ownerOf is the request for the controller of a dependent. There is none if the cache shows no such object, or one
// that was made after that was deleted: what belonged to the former one is no reason to look at it.
func (o controls) ownerOf(c client, dependent metav1.Object) []core.Request {
	reference := o.controllerOf(dependent)
	if reference == nil {
		return nil
	}
	if owner := lifetime(c, o.owner, dependent.GetNamespace(), reference.Name); owner == nil || owner.UID != reference.UID {
		return nil
	}
	return []core.Request{on(dependent.GetNamespace(), reference.Name)}
}

// controllerOf is the reference to the controller of a dependent, nil if that is of another kind.
func (o controls) controllerOf(dependent metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(dependent)
	if owner == nil || owner.Kind != o.owner.Kind || schema.FromAPIVersionAndKind(owner.APIVersion, "").Group != o.owner.Group {
		return nil
	}
	return owner
}

// adopters are the requests for all owners that select an orphan, as the cache shows them.
func (o controls) adopters(c client, orphan metav1.Object) []core.Request {
	var found []core.Request
	for _, owner := range listCached[selecting](c, o.owner, orphan.GetNamespace()) {
		if selector := owner.selector(); !selector.Empty() && selector.Matches(labels.Set(orphan.GetLabels())) {
			found = append(found, on(orphan.GetNamespace(), owner.Name))
		}
	}
	return found
}

// release takes its controller from a dependent that the controller selects no longer.
func (o controls) release(c client, r request) error {
	dependent, err := o.claimed(c, r)
	if dependent == nil || err != nil {
		return err
	}
	reference := o.controllerOf(dependent)
	if reference == nil {
		return nil
	}
	owner, err := get[selecting](c, o.owner, r.namespace, reference.Name)
	if err != nil || owner == nil || owner.UID != reference.UID || owner.DeletionTimestamp != nil {
		return err
	}
	return o.leaves(c, owner, owner.selector(), dependent)
}

// leaves takes its controller from a dependent, unless the controller selects it.
func (o controls) leaves(c client, owner metav1.Object, selector labels.Selector, dependent metav1.Object) error {
	if selector.Matches(labels.Set(dependent.GetLabels())) {
		return nil
	}
	references := slices.DeleteFunc(slices.Clone(dependent.GetOwnerReferences()), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
	fields := map[string]any{"ownerReferences": references}
	if o.finalizer != "" {
		fields["finalizers"] = slices.DeleteFunc(slices.Clone(dependent.GetFinalizers()), func(f string) bool { return f == o.finalizer })
	}
	return c.patchMeta(o.dependent, dependent, fields)
}

// claimed reads a dependent that may be let go, nil if there is none.
func (o controls) claimed(c client, r request) (metav1.Object, error) {
	if o.claims == nil {
		dependent, err := get[metav1.PartialObjectMetadata](c, o.dependent, r.namespace, r.name)
		if dependent == nil || err != nil {
			return nil, err
		}
		return dependent, nil
	}
	pod, err := get[corev1.Pod](c, o.dependent, r.namespace, r.name)
	if pod == nil || err != nil || !o.claims(pod) {
		return nil, err
	}
	return pod, nil
}

// adopt makes an owner the controller of an orphan.
func (o controls) adopt(c client, owner, orphan metav1.Object) error {
	orphan.SetOwnerReferences(append(slices.Clone(orphan.GetOwnerReferences()), *metav1.NewControllerRef(owner, o.owner)))
	fields := map[string]any{"ownerReferences": orphan.GetOwnerReferences()}
	if o.finalizer != "" && !slices.Contains(orphan.GetFinalizers(), o.finalizer) {
		orphan.SetFinalizers(append(slices.Clone(orphan.GetFinalizers()), o.finalizer))
		fields["finalizers"] = orphan.GetFinalizers()
	}
	return c.patchMeta(o.dependent, orphan, fields)
}

// selecting is what all objects with a selector have in common.
type selecting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"spec"`
}

// selector is what the object selects, which is nothing if it cannot be read.
func (s *selecting) selector() labels.Selector { return selectorOf(s.Spec.Selector) }

// selectorOf is the selector as the server has accepted it.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// metaOf is the metadata of a version of an object, nil if there is none.
func metaOf(content core.Content) metav1.Object {
	if content == nil {
		return nil
	}
	return storage.Of(content).Meta()
}

// typed decodes a version of an object, and returns nil if there is none.
func typed[T any](content core.Content) *T {
	if content == nil {
		return nil
	}
	object := new(T)
	if err := jsontree.Into(storage.Of(content).Meta().Object, object); err != nil {
		panic("companions: an object that the server keeps cannot be read: " + err.Error())
	}
	return object
}

package players

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// NamespaceController returns the strategy that plays Kubernetes' namespace
// controller. It deletes the objects of the given kinds from a Namespace that is
// being deleted, Pods before all others, says in the conditions of the Namespace what is left, and
// finalizes it when that is nothing. Give all
// namespaced kinds that the system has objects of: those of others are left behind.
//
// The conditions do not tell of Pods that take longer to end than their grace periods: time is abstract.
//
// It returns an error that says what to change if the server does not serve
// Namespaces or one of the kinds, or if a kind is not namespaced.
func NamespaceController(server *kube.Server, given ...core.Kind) (core.Strategy, error) {
	if named(server, kinds.Namespace) == nil {
		return nil, fmt.Errorf("the namespace controller needs Namespaces: add corev1 to the scheme")
	}
	var contents []*resource
	sorted := slices.Clone(given)
	slices.Sort(sorted)
	for _, kind := range slices.Compact(sorted) {
		r := named(server, kind)
		switch {
		case r == nil:
			return nil, fmt.Errorf("the namespace controller cannot delete %s: add its Go type to the scheme, or its custom resource definition with CRDs", kind)
		case !r.namespaced:
			return nil, fmt.Errorf("the namespace controller cannot delete %s: its objects are in no namespace, so leave it out", kind)
		}
		contents = append(contents, r)
	}
	return &namespaceController{namespaces: named(server, kinds.Namespace), contents: contents}, nil
}

// namespaceController is both the strategy and, having no memory, its instance.
type namespaceController struct {
	namespaces *resource
	contents   []*resource
}

var (
	_ core.Strategy = (*namespaceController)(nil)
	_ core.Instance = (*namespaceController)(nil)
)

// Describe implements [core.Strategy].
func (n *namespaceController) Describe() core.Description {
	watches := []core.Kind{kinds.Namespace}
	for _, r := range n.contents {
		watches = append(watches, r.name)
	}
	return core.Description{Name: "namespace-controller", Watches: watches, Sequential: true}
}

// New implements [core.Strategy].
func (n *namespaceController) New() (core.Instance, error) { return n, nil }

// Handle implements [core.Instance]. A Namespace that is being deleted is looked at when it changes, and when something
// in it is gone, or waits for somebody else. The real controller watches nothing in it, and looks again every few
// seconds.
func (n *namespaceController) Handle(world core.EffectRecorder, event core.Event) []core.Request {
	if event.Key.Kind == kinds.Namespace {
		if event.New != nil && storage.Of(event.New).Meta().GetDeletionTimestamp() != nil {
			return []core.Request{core.Request(event.Key.Name)}
		}
		return nil
	}
	if event.New != nil && (event.Old == nil || slices.Equal(storage.Of(event.Old).Meta().GetFinalizers(), storage.Of(event.New).Meta().GetFinalizers())) {
		return nil
	}
	response := perform(world, &kube.Request{Verb: kube.Get, Kind: n.namespaces.kind, Name: event.Key.Namespace, FromCache: true, LifetimeOnly: true})
	namespace := &corev1.Namespace{}
	if err := decode(response, namespace); err != nil || namespace.DeletionTimestamp == nil {
		return nil // the cache has none, or the Namespace stays
	}
	return []core.Request{core.Request(event.Key.Namespace)}
}

// Reconcile implements [core.Instance]: it empties one Namespace, with live reads.
func (n *namespaceController) Reconcile(world core.EffectRecorder, request core.Request) core.Result {
	namespace := &corev1.Namespace{}
	err := decode(perform(world, &kube.Request{Verb: kube.Get, Kind: n.namespaces.kind, Name: string(request)}), namespace)
	switch {
	case apierrors.IsNotFound(err):
		return core.Result{}
	case err != nil:
		return core.Result{Err: err}
	case namespace.DeletionTimestamp == nil || len(namespace.Spec.Finalizers) == 0:
		return core.Result{}
	}
	e := &emptying{namespaceController: n, world: world, namespace: namespace}
	return core.Result{Err: e.run()}
}

// decode reads the object of an answer, and returns its error if it has none.
func decode(response *kube.Response, into any) error {
	if err := response.Err(); err != nil {
		return err
	}
	return json.Unmarshal(response.Object, into)
}

// emptying is the namespace controller at work on one Namespace.
type emptying struct {
	*namespaceController

	world     core.EffectRecorder
	namespace *corev1.Namespace
	remaining remaining
}

func (e *emptying) run() error {
	pods := slices.IndexFunc(e.contents, func(r *resource) bool { return r.name == kinds.Pod })
	if pods >= 0 {
		left, err := e.remove(e.contents[pods])
		if err != nil {
			e.remaining.failed = append(e.remaining.failed, fmt.Errorf("failed to delete pods for namespace: %s, err: %w", e.namespace.Name, err))
		}
		if len(left) > 0 {
			e.report() // which says nothing of Pods
			return errors.Join(e.remaining.failed...)
		}
	}
	for i, r := range e.contents {
		if i == pods {
			continue
		}
		left, err := e.remove(r)
		if err != nil {
			e.remaining.failed = append(e.remaining.failed, err)
		}
		e.remaining.add(r, left)
	}
	e.report()
	if len(e.remaining.failed) > 0 {
		return errors.Join(e.remaining.failed...)
	}
	if len(e.remaining.resources) > 0 {
		return nil // when it is gone, or waits for somebody else, the Namespace comes here again
	}
	return e.finalize()
}

// remove deletes all objects of a kind, and returns those that are not gone then.
func (e *emptying) remove(r *resource) ([]metav1.PartialObjectMetadata, error) {
	found, err := e.list(r)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	deletion := &kube.Request{Verb: kube.DeleteCollection, Kind: r.kind, Namespace: e.namespace.Name, Propagation: string(metav1.DeletePropagationBackground)}
	if err := perform(e.world, deletion).Err(); err != nil {
		return nil, err
	}
	return e.list(r)
}

func (e *emptying) list(r *resource) ([]metav1.PartialObjectMetadata, error) {
	var found metav1.PartialObjectMetadataList
	err := decode(perform(e.world, &kube.Request{Verb: kube.List, Kind: r.kind, Namespace: e.namespace.Name, MetadataOnly: true}), &found)
	return found.Items, err
}

// report writes the conditions of the Namespace if there are others. The real controller does not mind if it is refused
// that.
func (e *emptying) report() {
	if e.remaining.conditions(&e.namespace.Status) {
		_ = e.write("status", e.namespace)
	}
}

// finalize takes the finalizer of Kubernetes itself from the Namespace.
func (e *emptying) finalize() error {
	e.namespace.Spec.Finalizers = slices.DeleteFunc(e.namespace.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	err := e.write(kinds.FinalizeSubresource, e.namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// write updates a part of the Namespace, and reads what the server has made of it.
func (e *emptying) write(subresource string, namespace *corev1.Namespace) error {
	namespace.SetGroupVersionKind(e.namespaces.kind)
	body, err := json.Marshal(namespace)
	if err != nil {
		panic("players: a Namespace cannot be written as JSON: " + err.Error())
	}
	written := &corev1.Namespace{}
	request := &kube.Request{Verb: kube.Update, Kind: e.namespaces.kind, Subresource: subresource, Name: namespace.Name, Body: body}
	if err := decode(perform(e.world, request), written); err != nil {
		return err
	}
	e.namespace = written
	return nil
}

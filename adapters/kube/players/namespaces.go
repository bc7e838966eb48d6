package players

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// NamespaceController returns the strategy that plays Kubernetes' namespace
// controller. It deletes the objects of the given kinds from a Namespace that is
// being deleted, and finalizes the Namespace when none of them is left. Give all
// namespaced kinds that the system has objects of: those of others are left behind.
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

// Handle implements [core.Instance]. A Namespace is looked at when it is being
// deleted, and when something in it is gone.
func (n *namespaceController) Handle(_ core.EffectRecorder, event core.Event) []core.Request {
	switch {
	case event.Key.Kind != kinds.Namespace && event.New == nil:
		return []core.Request{core.Request(event.Key.Namespace)}
	case event.Key.Kind == kinds.Namespace && event.New != nil && storage.Of(event.New).Meta().GetDeletionTimestamp() != nil:
		return []core.Request{core.Request(event.Key.Name)}
	}
	return nil
}

// Reconcile implements [core.Instance]: it empties one Namespace, with live reads.
func (n *namespaceController) Reconcile(world core.EffectRecorder, request core.Request) core.Result {
	return core.Result{Err: n.empty(world, string(request))}
}

func (n *namespaceController) empty(world core.EffectRecorder, name string) error {
	response := perform(world, &kube.Request{Verb: kube.Get, Kind: n.namespaces.kind, Name: name})
	if err := response.Err(); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	namespace := &unstructured.Unstructured{}
	if err := jsontree.Decode(response.Object, &namespace.Object); err != nil {
		return err
	}
	if namespace.GetDeletionTimestamp() == nil || len(builtin.NamespaceFinalizers(namespace)) == 0 {
		return nil
	}
	left := false
	for _, r := range n.contents {
		list := perform(world, &kube.Request{Verb: kube.List, Kind: r.kind, Namespace: name})
		if err := list.Err(); err != nil {
			return err
		}
		var found struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(list.Object, &found); err != nil {
			return err
		}
		if len(found.Items) == 0 {
			continue
		}
		left = true
		deletion := &kube.Request{Verb: kube.DeleteCollection, Kind: r.kind, Namespace: name, Propagation: "Background"}
		if err := perform(world, deletion).Err(); err != nil {
			return err
		}
	}
	if left {
		// What is gone by now, and what will be, brings the Namespace here again.
		return nil
	}
	return n.finalize(world, namespace)
}

// finalize takes the finalizer of Kubernetes itself from a Namespace.
func (n *namespaceController) finalize(world core.EffectRecorder, namespace *unstructured.Unstructured) error {
	others := slices.DeleteFunc(builtin.NamespaceFinalizers(namespace), func(f any) bool { return f == string(corev1.FinalizerKubernetes) })
	jsontree.Set(namespace.Object, others, "spec", "finalizers")
	err := perform(world, &kube.Request{
		Verb:        kube.Update,
		Kind:        n.namespaces.kind,
		Subresource: kinds.FinalizeSubresource,
		Name:        namespace.GetName(),
		Body:        jsontree.Canonical(namespace.Object),
	}).Err()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

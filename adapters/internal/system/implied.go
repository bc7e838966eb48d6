package system

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// implied returns what users may be expected to do, if the options do not say: they delete an object and create it
// again, on which others may count who refer to it. That is the first object of each kind that controllers watch, of
// custom kinds if there are any, and no object that belongs to another one. Without a garbage collector, what an object
// owns would stay, which no cluster shows.
func (d *Definition) implied(server *kube.Server, controllers []core.Strategy, objects []runtime.Object) ([]core.Scenario, error) {
	if len(d.actions) > 0 || !d.collectGarbage {
		return nil, nil
	}
	defined := map[core.Kind]bool{}
	for _, definition := range server.Definitions() {
		defined[kube.KindOf(schema.GroupKind{Group: definition.Spec.Group, Kind: definition.Spec.Names.Kind})] = true
	}
	var watched []core.Kind
	for _, c := range controllers {
		watched = append(watched, c.Describe().Watches...)
	}
	var custom, builtin []core.Scenario
	var seen []core.Kind
	for _, o := range objects {
		object, ok := o.(client.Object)
		if !ok || len(object.GetOwnerReferences()) > 0 {
			continue
		}
		gvk, err := apiutil.GVKForObject(object, server.Scheme())
		if err != nil {
			return nil, err
		}
		kind := kube.KindOf(gvk.GroupKind())
		if !slices.Contains(watched, kind) || slices.Contains(seen, kind) {
			continue
		}
		seen = append(seen, kind)
		s := scenario.Of(server, []scenario.Action{scenario.Delete(object), scenario.CreateOnceGone(object).Promised()}, true)
		except(s.Actions[1].Promise, kind, controllers)
		if defined[kind] {
			custom = append(custom, s)
		} else {
			builtin = append(builtin, s)
		}
	}
	if len(custom) > 0 {
		return custom, nil
	}
	return builtin, nil
}

// deletion returns how somebody deletes an object of a server.
func deletion(server *kube.Server) func(core.Key) core.Action {
	return func(key core.Key) core.Action {
		object := &unstructured.Unstructured{}
		group := schema.ParseGroupKind(string(key.Kind))
		object.SetGroupVersionKind(group.WithVersion(""))
		if mapping, err := server.RESTMapper().RESTMapping(group); err == nil { // or else the server refuses it
			object.SetGroupVersionKind(mapping.GroupVersionKind)
		}
		object.SetNamespace(key.Namespace)
		object.SetName(key.Name)
		return scenario.Of(server, []scenario.Action{scenario.DeleteOnceThere(object)}, false).Actions[0]
	}
}

// promises has the promises of users except nobody who is known to be about objects of other kinds than the one that is
// created.
func (d *Definition) promises(scenario core.Scenario, server *kube.Server, controllers []core.Strategy) error {
	for i, action := range d.actions {
		promise := scenario.Actions[i].Promise
		if promise == nil || action.Creates() == nil {
			continue
		}
		gvk, err := apiutil.GVKForObject(action.Creates(), server.Scheme())
		if err != nil {
			return err
		}
		except(promise, kube.KindOf(gvk.GroupKind()), controllers)
	}
	return nil
}

// except has a promise to create an object of a kind except those only of the requests that name it whose controllers
// may reconcile objects of the kind: it is their task to see that it is gone.
func except(promise *core.Promise, kind core.Kind, controllers []core.Strategy) {
	names := promise.Excepts
	promise.Excepts = func(item core.Item) bool {
		other := slices.ContainsFunc(controllers, func(c core.Strategy) bool { return c.Describe().Name == item.Strategy && !mayReconcile(c, kind) })
		return names(item) && !other
	}
}

// mayReconcile reports whether requests of a controller may name objects of a kind: they may if it watches the kind,
// unless it knows that they name others.
func mayReconcile(c core.Strategy, kind core.Kind) bool {
	if of, knows := c.(interface{ Reconciles(core.Kind) bool }); knows {
		return of.Reconciles(kind)
	}
	return slices.Contains(c.Describe().Watches, kind)
}

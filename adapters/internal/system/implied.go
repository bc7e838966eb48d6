package system

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// implied returns what users may be expected to do, if the options do not say: they delete an object and create it again, on which others may count who refer to it. That is the first object of each kind that
// controllers watch, of custom kinds if there are any, and no object that belongs to another one. Without a garbage collector, what an object owns would stay, which no cluster shows.
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
	reconcilers := func(kind core.Kind) []core.Strategy {
		return slices.DeleteFunc(slices.Clone(controllers), func(c core.Strategy) bool { return !mayReconcile(c, kind) })
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
		s.Actions[1].Promise.Except = itself(object, reconcilers(kind))
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

// itself returns the items for the object itself, which must not count on its being created again: it is their task to see that it is gone.
func itself(object client.Object, reconcilers []core.Strategy) []core.Item {
	key := client.ObjectKeyFromObject(object)
	var items []core.Item
	for _, c := range reconcilers {
		for _, request := range []string{key.String(), key.Name} {
			items = append(items, core.Item{Strategy: c.Describe().Name, Request: core.Request(request)})
		}
	}
	return items
}

// mayReconcile reports whether requests of a controller may name objects of a kind: if it does not say of which kinds they do, of all that it watches.
func mayReconcile(c core.Strategy, kind core.Kind) bool {
	if of, says := c.(interface{ Reconciles() []core.Kind }); says {
		if kinds := of.Reconciles(); len(kinds) > 0 {
			return slices.Contains(kinds, kind)
		}
	}
	return slices.Contains(c.Describe().Watches, kind)
}

package system

import (
	"context"
	"fmt"
	"maps"
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

// mostChanges is how many of the initial objects somebody may change.
const mostChanges = 8

// changes returns what somebody may change of initial objects: of each the first text in the data of a ConfigMap or a
// Secret, or else the first number, or flag, of the specification. What that means does not matter, only whether it is
// noticed; a server may refuse it.
func changes(server *kube.Server, objects []runtime.Object) []core.Action {
	var all []scenario.Action
	for _, o := range objects {
		object, ok := o.(client.Object)
		if !ok || len(all) == mostChanges {
			continue
		}
		kind, err := apiutil.GVKForObject(object, server.Scheme())
		if err != nil {
			continue // the check says so
		}
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			continue
		}
		if path := changeable(kind.GroupKind(), tree); path != nil {
			all = append(all, change(kind, object, path))
		}
	}
	return scenario.Of(server, all, false).Actions
}

// changeable returns the path of what may be changed of an object, nil if there is nothing.
func changeable(kind schema.GroupKind, tree map[string]any) []string {
	switch kind {
	case schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Kind: "Secret"}:
		for _, field := range []string{"data", "stringData"} {
			data, _ := tree[field].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(data)) {
				return []string{field, key}
			}
		}
		return nil
	}
	spec, _ := tree["spec"].(map[string]any)
	for _, flags := range []bool{false, true} {
		if path := scalar(spec, flags); path != nil {
			return append([]string{"spec"}, path...)
		}
	}
	return nil
}

// scalar returns the path of the first number in a tree, or of the first flag, nil if there is none outside of lists.
func scalar(tree map[string]any, flags bool) []string {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch value := tree[name].(type) {
		case map[string]any:
			if path := scalar(value, flags); path != nil {
				return append([]string{name}, path...)
			}
		case int64:
			if !flags {
				return []string{name}
			}
		case bool:
			if flags {
				return []string{name}
			}
		}
	}
	return nil
}

// change is the action of changing what is at a path of an object.
func change(kind schema.GroupVersionKind, object client.Object, path []string) scenario.Action {
	field := ""
	for _, name := range path {
		field = core.FieldOf(field, name)
	}
	key := core.Key{Kind: kube.KindOf(kind.GroupKind()), Namespace: object.GetNamespace(), Name: object.GetName()}
	at := client.ObjectKeyFromObject(object)
	return scenario.Action{Name: fmt.Sprintf("change %s of %s", field, key), Settled: true, Do: func(ctx context.Context, c client.Client) error {
		current := &unstructured.Unstructured{}
		current.SetGroupVersionKind(kind)
		if err := c.Get(ctx, at, current); client.IgnoreNotFound(err) != nil {
			return err
		} else if err != nil {
			return core.ErrNotEnabled
		}
		value, there, err := unstructured.NestedFieldNoCopy(current.Object, path...)
		if err != nil || !there {
			return core.ErrNotEnabled
		}
		if err := unstructured.SetNestedField(current.Object, changed(kind.Kind, value), path...); err != nil {
			return err
		}
		return c.Update(ctx, current)
	}}
}

// changed returns another value. The data of a Secret is encoded.
func changed(kind string, value any) any {
	switch value := value.(type) {
	case int64:
		return value + 1
	case bool:
		return !value
	case string:
		if kind == "Secret" {
			return "Y2hhbmdlZA==" // "changed"
		}
		return value + " changed"
	}
	return value
}

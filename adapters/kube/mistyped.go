package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// mistyped returns what a server says about an applied object that has no place in
// the types of its kind, nil if it has. Where several things are wrong with it, the
// library tells some of them, in any order. So that the answer is always the same,
// fields are left out as long as something is wrong with the others.
func mistyped(r *kinds.Resource, wanted *unstructured.Unstructured) error {
	types, err := r.Types()
	if err != nil {
		return err
	}
	check := func(tree map[string]any) error {
		_, err := types.ObjectToTyped(&unstructured.Unstructured{Object: tree})
		return err
	}
	if check(wanted.Object) == nil {
		return nil
	}
	tree := runtime.DeepCopyJSON(wanted.Object)
	reduce(tree, func() bool {
		err := check(tree)
		// An item of a list cannot do without what tells it from the others.
		return err != nil && !strings.Contains(err.Error(), "omits key field")
	}, "apiVersion", "kind")
	return fmt.Errorf("failed to create typed patch object (%s/%s; %s): %w",
		wanted.GetNamespace(), wanted.GetName(), wanted.GroupVersionKind(), check(tree))
}

// reduce leaves out fields, at any depth and other than those to keep, without which
// something is still wrong: the last ones in order first.
func reduce(value any, wrong func() bool, keep ...string) {
	switch value := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		slices.Reverse(names)
		for _, name := range names {
			if slices.Contains(keep, name) {
				continue
			}
			below := value[name]
			delete(value, name)
			if !wrong() {
				value[name] = below
				reduce(below, wrong)
			}
		}
	case []any:
		for _, item := range value {
			reduce(item, wrong)
		}
	}
}

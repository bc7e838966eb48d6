package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stored returns everything that the server stores for the run of some kinds, in order.
func (s *Side) stored(ctx context.Context, cast []Subject) ([]tree, error) {
	var objects []tree
	for _, subject := range cast {
		places := []string{""}
		if subject.Namespaced {
			places = nil
			for _, namespace := range s.inhabited(cast) {
				places = append(places, strings.ReplaceAll(namespace, "-run", s.suffix))
			}
		}
		for _, place := range places {
			list := &unstructured.UnstructuredList{}
			kind := subject.Kind()
			kind.Kind += "List"
			list.SetGroupVersionKind(kind)
			if err := s.client.List(ctx, list, client.InNamespace(place)); err != nil {
				return nil, fmt.Errorf("cannot list %s in %q: %w", subject.Name, place, err)
			}
			for _, item := range list.Items {
				if s.ofRun(item) {
					objects = append(objects, item.Object)
				}
			}
		}
	}
	return objects, nil
}

// inhabited are the namespaces that there can be when requests are about some kinds.
func (s *Side) inhabited(cast []Subject) []string {
	if slices.ContainsFunc(cast, func(s Subject) bool { return s.Name == "Namespace" }) {
		return append(namespaces[:], "three-run")
	}
	return namespaces[:]
}

// ofRun reports whether an object belongs to the run. A real server looks through the addresses of
// Services every few minutes, and tells with an Event what it finds in between.
func (s *Side) ofRun(object unstructured.Unstructured) bool {
	if reporter, _, _ := unstructured.NestedString(object.Object, "reportingComponent"); reporter == "ipallocator-repair-controller" {
		return false
	}
	if namespace := object.GetNamespace(); namespace != "" {
		return strings.HasSuffix(namespace, s.suffix)
	}
	return strings.Contains(object.GetName(), s.suffix)
}

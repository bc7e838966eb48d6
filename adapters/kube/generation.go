package kube

import (
	"reflect"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// nextGeneration counts the generation up if an update changes what the kind
// counts: anything but metadata and status; for custom resources without a status
// subresource the status too; for Deployments annotations and for EndpointSlices
// labels as well. That of a PriorityClass is always 1.
// changed tells that it has to be, whatever is stored.
func nextGeneration(r *kinds.Resource, object, current *unstructured.Unstructured, changed bool) {
	if !r.HasGeneration() || r.Name == kinds.PriorityClass {
		return
	}
	changed = changed || changesDesired(r, object, current)
	switch r.Name {
	case "Deployment.apps":
		changed = changed || !jsontree.Same(object.GetAnnotations(), current.GetAnnotations())
	case kinds.EndpointSlice:
		changed = changed || !jsontree.Same(object.GetLabels(), current.GetLabels())
	}
	if changed {
		object.SetGeneration(current.GetGeneration() + 1)
	}
}

// changesDesired tells whether an update changes the part that counts as generations.
func changesDesired(r *kinds.Resource, object, current *unstructured.Unstructured) bool {
	return !jsontree.Same(desired(r, object), desired(r, current))
}

// desiresEmpty tells whether what was sent has an empty list or map, of a kind for which a server takes
// it for another value than the none that is stored: each such update is a generation.
func desiresEmpty(sent runtime.Object) bool {
	switch sent := sent.(type) {
	case *networkingv1.NetworkPolicy:
		return hasEmpty(reflect.ValueOf(sent.Spec))
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		return hasEmpty(reflect.ValueOf(sent.Webhooks))
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		return hasEmpty(reflect.ValueOf(sent.Webhooks))
	}
	return false
}

// hasEmpty tells whether there is an empty list or map at or below a value.
func hasEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer:
		return !value.IsNil() && hasEmpty(value.Elem())
	case reflect.Struct:
		for i := range value.NumField() {
			if hasEmpty(value.Field(i)) {
				return true
			}
		}
	case reflect.Map:
		return !value.IsNil() && value.Len() == 0
	case reflect.Slice:
		if value.IsNil() || value.Type().Elem().Kind() == reflect.Uint8 {
			return false
		}
		for i := range value.Len() {
			if hasEmpty(value.Index(i)) {
				return true
			}
		}
		return value.Len() == 0
	}
	return false
}

// desired is the part of an object whose changes count as generations.
func desired(r *kinds.Resource, object *unstructured.Unstructured) map[string]any {
	fields := make(map[string]any, len(object.Object))
	for name, value := range object.Object {
		if name == "metadata" || name == "status" && (r.Status || !r.Custom) {
			continue
		}
		fields[name] = value
	}
	return fields
}

// Settle implements [core.Store]. It brings metadata.generation, the generations that the status has observed, and the generation of
// a DaemonSet's template to the smallest numbers that keep their order across all versions: 0 stays 0, others count from
// 1. Equal versions are counted anew.
func (s *Server) Settle(key core.Key, versions []core.Content) []core.Content {
	if storage.IsRecord(key.Kind) {
		return versions
	}
	places := s.places.of(s.registry.Named(key.Kind))
	var seen []int64
	for _, version := range versions {
		visitGenerations(places, storage.Of(version).Tree, func(n int64) int64 {
			if n > 0 {
				seen = append(seen, n)
			}
			return n
		})
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	settled := make([]core.Content, len(versions))
	equal := map[string][]int{}
	for i, version := range versions {
		object := ranked(storage.Of(version), places, seen)
		settled[i] = object
		equal[object.Text] = append(equal[object.Text], i)
	}
	for _, group := range equal {
		slices.SortStableFunc(group, func(a, b int) int { return storage.Of(versions[a]).Again - storage.Of(versions[b]).Again })
		for again, i := range group {
			if object := storage.Of(settled[i]); object.Again != again {
				settled[i] = storage.New(object.Tree, again, object.Unshown...).From(object)
			}
		}
	}
	return settled
}

// ranked is the object with each of its generations replaced by its rank among those
// that were seen, from 1.
func ranked(o *storage.Object, places *place, seen []int64) *storage.Object {
	if len(seen) == 0 || seen[len(seen)-1] == int64(len(seen)) {
		return o
	}
	tree := runtime.DeepCopyJSON(o.Tree)
	visitGenerations(places, tree, func(n int64) int64 {
		if n <= 0 {
			return n
		}
		rank, _ := slices.BinarySearch(seen, n)
		return int64(rank) + 1
	})
	return storage.New(tree, o.Again, o.Unshown...).From(o)
}

// visitGenerations calls visit for the generation of an object and for all that
// were observed of it, and stores what it returns where that is different.
func visitGenerations(places *place, tree map[string]any, visit func(int64) int64) {
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		visitNumber(metadata, "generation", visit)
	}
	visitTemplateGeneration(tree, visit)
	if status, ok := tree["status"]; ok {
		visitObserved(places.field("status"), "status", status, visit)
	}
}

// visitObserved visits the observed generations in a value of the status: the fields of that name which the schema declares as whole numbers, at any
// depth, and where the schema says nothing, those in the places that the API conventions give them.
func visitObserved(p *place, path string, value any, visit func(int64) int64) {
	switch value := value.(type) {
	case map[string]any:
		if p.declaresInteger(observedGeneration) || p.observes(path) {
			visitNumber(value, observedGeneration, visit)
		}
		for name, below := range value {
			switch below.(type) {
			case map[string]any, []any:
				visitObserved(p.field(name), path+"."+name, below, visit)
			}
		}
	case []any:
		for _, below := range value {
			visitObserved(p.item(), path, below, visit)
		}
	}
}

func visitNumber(fields map[string]any, name string, visit func(int64) int64) {
	n, ok := fields[name].(int64)
	if !ok {
		return
	}
	if changed := visit(n); changed != n {
		fields[name] = changed
	}
}

package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// nextGeneration counts the generation up if an update changes what the kind
// counts: anything but metadata and status; for custom resources without a status
// subresource the status too; for Deployments annotations and for EndpointSlices
// labels as well.
func (r *resource) nextGeneration(object, current *unstructured.Unstructured) {
	if !r.hasGeneration() {
		return
	}
	changed := !sameTree(r.desired(object), r.desired(current))
	switch r.name {
	case "Deployment.apps":
		changed = changed || !sameTree(object.GetAnnotations(), current.GetAnnotations())
	case "EndpointSlice.discovery.k8s.io":
		changed = changed || !sameTree(object.GetLabels(), current.GetLabels())
	}
	if changed {
		object.SetGeneration(current.GetGeneration() + 1)
	}
}

// desired is the part of an object whose changes count as generations.
func (r *resource) desired(object *unstructured.Unstructured) map[string]any {
	fields := make(map[string]any, len(object.Object))
	for name, value := range object.Object {
		if name == "metadata" || name == "status" && (r.status || !r.custom) {
			continue
		}
		fields[name] = value
	}
	return fields
}

// Settle implements [core.Store]. It removes the mark of the write within its run,
// and brings metadata.generation and every observedGeneration, at any depth, to
// the smallest numbers that keep their order: 0 stays 0, others count from 1.
func (s *Server) Settle(key core.Key, content core.Content) core.Content {
	if isRecord(key.Kind) {
		return content
	}
	object := stored(content)
	var seen []int64
	visitGenerations(object.tree, func(n int64) int64 {
		if n > 0 {
			seen = append(seen, n)
		}
		return n
	})
	slices.Sort(seen)
	seen = slices.Compact(seen)
	if object.mark == 0 && (len(seen) == 0 || seen[len(seen)-1] == int64(len(seen))) {
		return object
	}
	tree := runtime.DeepCopyJSON(object.tree)
	visitGenerations(tree, func(n int64) int64 {
		if n <= 0 {
			return n
		}
		rank, _ := slices.BinarySearch(seen, n)
		return int64(rank) + 1
	})
	return newObject(tree, 0)
}

// visitGenerations calls visit for the generation of an object and for all that
// were observed of it, and stores what it returns where that is different.
func visitGenerations(tree map[string]any, visit func(int64) int64) {
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		visitNumber(metadata, "generation", visit)
	}
	visitObserved(tree, visit)
}

func visitObserved(value any, visit func(int64) int64) {
	switch value := value.(type) {
	case map[string]any:
		visitNumber(value, "observedGeneration", visit)
		for _, below := range value {
			visitObserved(below, visit)
		}
	case []any:
		for _, below := range value {
			visitObserved(below, visit)
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

package kube

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/core"
)

// What stands in an outcome for values that do not matter.
const (
	someTime      = "<time>"
	someGenerated = "<generated>"
	someUID       = "<uid>"
)

// Outcome implements [core.Store]. It leaves out uids, generations, observed
// generations, and managed fields; of times and of generated name suffixes it
// keeps that they are there. A string that is the uid of the object or of one of
// its owners is replaced, wherever it is. Conditions are in the order of their types,
// since their own is only that of their coming. Events, which only tell what happened,
// have no outcome.
func (s *Server) Outcome(key core.Key, content core.Content) any {
	if isRecord(key.Kind) || key.Kind == "Event" || key.Kind == "Event.events.k8s.io" {
		return nil
	}
	object := stored(content)
	uids := map[string]bool{}
	if uid := object.meta().GetUID(); uid != "" {
		uids[string(uid)] = true
	}
	for _, uid := range owners(object) {
		uids[string(uid)] = true
	}
	tree := runtime.DeepCopyJSON(object.tree)
	for _, name := range []string{"uid", "resourceVersion", "generation", "managedFields"} {
		unstructured.RemoveNestedField(tree, "metadata", name)
	}
	unstructured.RemoveNestedField(tree, "metadata", "annotations", appsv1.DeprecatedTemplateGeneration)
	metadata := &unstructured.Unstructured{Object: tree}
	if base, generated := generatedFrom(metadata.GetName(), metadata.GetGenerateName()); generated {
		metadata.SetName(base + someGenerated)
	}
	return outcomeOf(tree, "", uids)
}

// outcomeOf returns the value, found in a field of the given name, without what
// does not matter. It may change the value.
func outcomeOf(value any, name string, uids map[string]bool) any {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "observedGeneration")
		for field, below := range value {
			value[field] = outcomeOf(below, field, uids)
		}
	case []any:
		for i, below := range value {
			value[i] = outcomeOf(below, name, uids)
		}
		if name == "conditions" {
			slices.SortStableFunc(value, func(a, b any) int { return cmp.Compare(typeOf(a), typeOf(b)) })
		}
	case string:
		if uids[value] {
			return someUID
		}
		if isTime(name, value) {
			return someTime
		}
	}
	return value
}

// typeOf returns the type of a condition, empty if it has none.
func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	text, _ := fields["type"].(string)
	return text
}

// isTime tells whether a field holds a time, by its name and its value.
func isTime(name, value string) bool {
	if !strings.HasSuffix(name, "Time") && !strings.HasSuffix(name, "Timestamp") {
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, value)
	return err == nil
}

package canonical

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// someTime stands in an outcome for a time.
const someTime = "<time>"

// Outcome returns what of an object matters when nothing happens any more. It leaves out what the server counts and
// notes for itself: the uid, what the name was generated from, the resource version, the generation and the managed
// fields in the metadata, and the generations that the status observed. Of times it keeps that they are there. Which
// values are times and observed generations depends on the kind's schema and on the place (see [place]); elsewhere,
// times are left out by [Form.CanonicalOutcome]. The other values under names that users chose stay as they are. Lists
// whose order means nothing are sorted. Events, which only tell what happened, have no outcome.
func (f *Form) Outcome(key core.Key, content core.Content) any {
	if storage.IsRecord(key.Kind) || key.Kind == "Event" || key.Kind == "Event.events.k8s.io" {
		return nil
	}
	fields := f.fieldsOf(key.Kind)
	tree := runtime.DeepCopyJSON(storage.Of(content).Tree)
	fields.newest = generationOf(tree)
	for _, name := range []string{"uid", "resourceVersion", "generation", "managedFields", "generateName"} {
		unstructured.RemoveNestedField(tree, "metadata", name)
	}
	if strings.HasSuffix(string(key.Kind), ".apps") { // how often a name was taken, such as by what is being deleted
		unstructured.RemoveNestedField(tree, "status", "collisionCount")
	}
	if key.Kind == kinds.DaemonSet {
		unstructured.RemoveNestedField(tree, "metadata", "annotations", appsv1.DeprecatedTemplateGeneration)
	}
	return fields.outcome(fields.places, "", tree)
}

// fieldsOf returns what outcomes need to know of the fields of a kind.
func (f *Form) fieldsOf(kind core.Kind) kindFields {
	return kindFields{places: f.places.of(f.registry.Named(kind)), unordered: f.unordered[kind], clock: f.clock}
}

// kindFields is what outcomes need to know of the fields of a kind.
type kindFields struct {
	places *place
	// unordered are the paths of lists whose order the user says means nothing.
	unordered map[string]bool
	clock     *Clock
	// newest is the generation of the object, where outcomes leave out what was observed of it.
	newest int64
}

// outcome returns the value at a place without what does not matter. It may change the value. The path has no positions
// in lists.
func (k kindFields) outcome(p *place, path string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			if _, counted := below.(int64); counted && name == observedGeneration && p.observes(path) {
				delete(value, name)
				continue
			}
			if _, written := writtenGeneration(path, below, k.newest); written && name == observedGeneration {
				delete(value, name)
				continue
			}
			value[name] = k.outcome(p.field(name), core.FieldOf(path, name), below)
		}
	case []any:
		for i, below := range value {
			value[i] = k.outcome(p.item(), path, below)
		}
		k.listing(p, path, value).sort(value)
	case string:
		if p != nil && p.time && isTime(value) {
			return someTime
		}
	}
	return value
}

// timeless returns the value at a place of an outcome with what stands for a time in the place of each that was read
// off the clock. It may change the value. Whoever looks at an outcome sees them; they do not count where outcomes are
// compared.
func (k kindFields) timeless(p *place, path string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			value[name] = k.timeless(p.field(name), core.FieldOf(path, name), below)
		}
	case []any:
		for i, below := range value {
			value[i] = k.timeless(p.item(), path, below)
		}
		k.listing(p, path, value).sort(value)
	case string:
		if !names(path) {
			return k.clock.timeless(value)
		}
	case int64:
		return k.clock.timeless(value)
	}
	return value
}

// isTime reports whether a text is a time as JSON has it.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

// The places where the API conventions have conditions, and the name of the generations that a controller has observed.
const (
	statusConditions   = "status.conditions"
	observedGeneration = "observedGeneration"
)

// observes reports whether an object at the path holds the generation that a controller has observed under the name for
// it: where the API conventions have it, in a status or a condition, unless the schema says that there is something
// else.
func (p *place) observes(path string) bool {
	if p.silent(observedGeneration) {
		return path == "status" || path == statusConditions
	}
	return p.declaresInteger(observedGeneration) && (path == "status" || inStatus(path) && strings.HasSuffix(path, ".conditions"))
}

// silent reports whether nothing is known of a field.
func (p *place) silent(name string) bool {
	if p == nil {
		return true
	}
	_, declared := p.fields[name]
	return p.open && !declared && p.items == nil
}

// declaresInteger reports whether a field is declared as a whole number.
func (p *place) declaresInteger(name string) bool {
	return p != nil && p.fields[name] != nil && p.fields[name].integer
}

// inStatus reports whether a path is that of a field below the status.
func inStatus(path string) bool { return strings.HasPrefix(path, "status.") }

// listing returns how the items of a list belong together.
func (k kindFields) listing(p *place, path string, items []any) listing {
	known := p.listing()
	switch {
	case k.unordered[path]:
		return listing{unordered: true}
	case known.unordered && known.expands && slices.ContainsFunc(items, expands):
		return listing{}
	case known.unordered:
		return known
	case path == statusConditions && (p == nil || p.conditions()), inStatus(path) && strings.HasSuffix(path, ".conditions") && p != nil && p.conditions():
		return listing{unordered: true, keys: []string{"type"}}
	}
	return listing{}
}

// expands reports whether an environment variable may refer to those before it.
func expands(variable any) bool {
	fields, _ := variable.(map[string]any)
	value, _ := fields["value"].(string)
	return strings.Contains(value, "$(")
}

// sort brings items of which the order means nothing into one order. Those with equal keys stay as they are: the last
// of them may be the one that counts.
func (l listing) sort(items []any) {
	if !l.unordered {
		return
	}
	slices.SortStableFunc(items, func(a, b any) int { return strings.Compare(l.key(a), l.key(b)) })
}

// key is what an item is told apart by, as text.
func (l listing) key(item any) string {
	fields, isObject := item.(map[string]any)
	if !isObject || len(l.keys) == 0 {
		return string(jsontree.Canonical(item))
	}
	var key []byte
	for _, name := range l.keys {
		key = append(key, jsontree.Canonical(fields[name])...)
	}
	return string(key)
}

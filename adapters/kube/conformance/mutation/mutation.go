package mutation

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// tree is a JSON object.
type tree = map[string]any

// Guess says what is expected of a value. It is not relied on.
type Guess string

// The guesses.
const (
	Valid   Guess = "valid"
	Invalid Guess = "invalid"
	// Mistyped is a value that the Go type of the field cannot hold.
	Mistyped Guess = "mistyped"
)

// Mutation sets one field to a value.
type Mutation struct {
	Value any
	Guess Guess
	// Conflict leaves the other members of a union in place.
	Conflict bool
	path     []step
}

// step is a step to a field: into a member of an object, or to the first item of a list.
type step struct {
	// name is that of the member, empty for an item.
	name string
	// others are the members that have to go if this one is there.
	others []string
	// scaffold is what is put there if nothing is.
	scaffold any
	// also are members that come along.
	also tree
}

// Path is the path of the field, with [0] after lists.
func (m Mutation) Path() string {
	var b strings.Builder
	for _, s := range m.path {
		if s.name == "" {
			b.WriteString("[0]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
	}
	return b.String()
}

// Apply returns a copy of an object with the change.
func (m Mutation) Apply(object map[string]any) map[string]any {
	return m.set(runtime.DeepCopyJSON(object), m.path).(tree)
}

// set returns what is in the place of a value if the rest of the path is followed from it.
func (m Mutation) set(value any, path []step) any {
	if len(path) == 0 {
		return runtime.DeepCopyJSONValue(m.Value)
	}
	next := path[0]
	if next.name == "" {
		list, _ := value.([]any)
		if len(list) == 0 {
			list = []any{runtime.DeepCopyJSONValue(next.scaffold)}
		}
		list[0] = m.set(list[0], path[1:])
		return list
	}
	object, ok := value.(tree)
	if !ok {
		object = tree{}
	}
	if !m.Conflict {
		for _, other := range next.others {
			delete(object, other)
		}
		maps.Copy(object, next.also)
	}
	below, ok := object[next.name]
	if !ok || below == nil {
		below = runtime.DeepCopyJSONValue(next.scaffold)
	}
	object[next.name] = m.set(below, path[1:])
	return object
}

package cel

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	kubernetescel "k8s.io/apiserver/pkg/cel"

	"github.com/orrery-dev/orrery/core"
)

// mapping is an object of a JSON tree as a value. Its parts are read when they are asked for.
// In a record, null is as good as nothing, as it is for Kubernetes. Keys come in their order, not in that of Go's maps.
type mapping struct {
	tree  map[string]any
	shape *shape
	// key is set for a whole object of the state.
	key *core.Key
}

var _ traits.Mapper = (*mapping)(nil)

// Find implements [traits.Mapper].
func (m *mapping) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.ValOrErr(key, "the names of fields are texts, not %v", key.Type()), false
	}
	return m.find(string(name))
}

func (m *mapping) find(name string) (ref.Val, bool) {
	part, there := m.tree[name]
	if !there {
		plain, escaped := unescape(name)
		if part, there = m.tree[plain]; !escaped || !there || m.shape.elem != nil {
			return nil, false
		}
		name = plain
	}
	if part == nil && m.shape.fields != nil {
		return nil, false
	}
	return m.shape.field(name).NativeToValue(part), true
}

// unescape returns the name of a field that is escaped as Kubernetes does it, since it is no name in CEL.
func unescape(name string) (string, bool) {
	if !strings.Contains(name, "__") {
		return "", false
	}
	return kubernetescel.Unescape(name)
}

// Get implements [traits.Indexer].
func (m *mapping) Get(key ref.Val) ref.Val {
	value, found := m.Find(key)
	if !found {
		return types.ValOrErr(value, "no such key: %v", key)
	}
	return value
}

// Contains implements [traits.Container].
func (m *mapping) Contains(key ref.Val) ref.Val {
	value, found := m.Find(key)
	if !found && value != nil {
		return value
	}
	return types.Bool(found)
}

// names returns the names of what is there, in order.
func (m *mapping) names() []string {
	names := slices.Sorted(maps.Keys(m.tree))
	if m.shape.fields == nil {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return m.tree[name] == nil })
}

// Iterator implements [traits.Iterable].
func (m *mapping) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, m.names()).Iterator()
}

// Size implements [traits.Sizer].
func (m *mapping) Size() ref.Val { return types.Int(len(m.names())) }

// Equal implements [ref.Val].
func (m *mapping) Equal(other ref.Val) ref.Val {
	mapper, ok := other.(traits.Mapper)
	if !ok {
		return types.False
	}
	names := m.names()
	if types.Int(len(names)) != mapper.Size() {
		return types.False
	}
	for _, name := range names {
		mine, _ := m.find(name)
		theirs, found := mapper.Find(types.String(name))
		if !found {
			return types.False
		}
		if equal := types.Equal(mine, theirs); equal != types.True {
			return equal
		}
	}
	return types.True
}

// Type implements [ref.Val].
func (m *mapping) Type() ref.Type { return types.MapType }

// Value implements [ref.Val].
func (m *mapping) Value() any { return m.tree }

// ConvertToType implements [ref.Val].
func (m *mapping) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return m
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("an object is not a %s", t.TypeName())
}

// ConvertToNative implements [ref.Val].
func (m *mapping) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(m.tree).AssignableTo(t) {
		return m.tree, nil
	}
	return nil, fmt.Errorf("an object is not a %s", t)
}

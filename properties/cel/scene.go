package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/orrery-dev/orrery/core"
)

// source is a name in an expression that stands for something in a state.
type source struct {
	cel  *types.Type
	read func(core.State) ref.Val
}

// scene is a state as an expression sees it. What it does not ask for is not read.
type scene struct {
	state   core.State
	sources map[string]*source
	// seen are the values of the sources that were asked for: within a loop this is again and again.
	seen map[string]ref.Val
}

var _ interpreter.Activation = (*scene)(nil)

// ResolveName implements [interpreter.Activation].
func (s *scene) ResolveName(name string) (any, bool) {
	if value := s.seen[name]; value != nil {
		return value, true
	}
	source := s.sources[name]
	if source == nil {
		return nil, false
	}
	value := source.read(s.state)
	if s.seen == nil {
		s.seen = map[string]ref.Val{}
	}
	s.seen[name] = value
	return value, true
}

// Parent implements [interpreter.Activation].
func (s *scene) Parent() interpreter.Activation { return nil }

// allOf is the source of all objects of a kind, in the order of their keys. An empty namespace means all namespaces.
func allOf(kind core.Kind, namespace string, s *shape) *source {
	return &source{listOf(s).cel, func(state core.State) ref.Val {
		objects := state.List(kind, namespace)
		values := make([]ref.Val, len(objects))
		for i, o := range objects {
			values[i] = s.object(o)
		}
		return types.NewRefValList(s, values)
	}}
}

// object returns an object of a state as a value.
func (s *shape) object(o core.Object) ref.Val {
	value := s.NativeToValue(o.Content.Fields())
	if m, ok := value.(*mapping); ok {
		m.key = &o.Key
	}
	return value
}

// shelf is the source of single objects of a kind, which are found by their keys.
func shelf(kind core.Kind, s *shape) *source {
	return &source{shelfOf(s.cel), func(state core.State) ref.Val {
		return &finder{kind, func(namespace, name string) ref.Val {
			key := core.Key{Kind: kind, Namespace: namespace, Name: name}
			if content := state.Get(key); content != nil {
				return types.OptionalOf(s.object(core.Object{Key: key, Content: content}))
			}
			return types.OptionalNone
		}}
	}}
}

// variable is the source of a variable of a plain model.
func variable(name string) *source {
	return &source{types.DynType, func(state core.State) ref.Val {
		content := state.Get(core.Key{Name: name})
		if content == nil {
			return types.NewErr("there is no variable %q in this state", name)
		}
		return guess(content.Fields())
	}}
}

// family is the source of a family of variables of a plain model: their values by name.
func family(kind core.Kind) *source {
	s := tableOf(anything())
	return &source{s.cel, func(state core.State) ref.Val {
		tree := map[string]any{}
		for _, o := range state.List(kind, "") {
			tree[o.Key.Name] = o.Content.Fields()
		}
		return s.NativeToValue(tree)
	}}
}

// shelfOf is the type of what finds objects of a type.
func shelfOf(objects *types.Type) *types.Type { return types.NewOpaqueType("objects", objects) }

// finder finds objects of a kind. It is a value only so that it can be handed to a function; expressions
// do not get hold of one.
type finder struct {
	kind core.Kind
	find func(namespace, name string) ref.Val
}

var _ ref.Val = (*finder)(nil)

// ConvertToNative implements [ref.Val].
func (f *finder) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("the objects of %s are not a %s", f.kind, t)
}

// ConvertToType implements [ref.Val].
func (f *finder) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("the objects of %s are not a %s", f.kind, t.TypeName())
}

// Equal implements [ref.Val].
func (f *finder) Equal(other ref.Val) ref.Val { return types.Bool(f == other) }

// Type implements [ref.Val].
func (f *finder) Type() ref.Type { return shelfOf(types.DynType) }

// Value implements [ref.Val].
func (f *finder) Value() any { return f }

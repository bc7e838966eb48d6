package cel

import (
	"encoding/base64"
	"fmt"
	"math"
	"time"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// shape is what is known of a value in the JSON tree of an object: its type in expressions, and how it
// is read. It implements [types.Adapter] for what it is the shape of.
type shape struct {
	cel *types.Type
	// fields are those of a record, by their names in JSON. It is nil for everything else.
	fields map[string]*shape
	// open tells that a record has fields of which nothing is known.
	open bool
	// elem is the shape of the items of a list, or of the values of a table.
	elem *shape
	// read reads a scalar. It returns nil for what is none.
	read func(tree any) ref.Val
}

var _ types.Adapter = (*shape)(nil)

// anything is the shape of what nothing is known of.
func anything() *shape { return &shape{cel: types.DynType} }

func listOf(elem *shape) *shape {
	return &shape{cel: types.NewListType(elem.cel), elem: elem}
}

// tableOf is the shape of a map whose keys are not known beforehand.
func tableOf(elem *shape) *shape {
	return &shape{cel: types.NewMapType(types.StringType, elem.cel), elem: elem}
}

func scalar(t *types.Type, read func(any) ref.Val) *shape { return &shape{cel: t, read: read} }

func boolean() *shape {
	return scalar(types.BoolType, func(tree any) ref.Val {
		if b, ok := tree.(bool); ok {
			return types.Bool(b)
		}
		return nil
	})
}

func text() *shape {
	return scalar(types.StringType, func(tree any) ref.Val {
		if s, ok := tree.(string); ok {
			return types.String(s)
		}
		return nil
	})
}

func integer() *shape {
	return scalar(types.IntType, func(tree any) ref.Val {
		switch v := tree.(type) {
		case int64:
			return types.Int(v)
		case float64:
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				return types.Int(v)
			}
		}
		return nil
	})
}

func number() *shape {
	return scalar(types.DoubleType, func(tree any) ref.Val {
		switch v := tree.(type) {
		case int64:
			return types.Double(v)
		case float64:
			return types.Double(v)
		}
		return nil
	})
}

// moment is the shape of a time in RFC 3339.
func moment() *shape {
	return scalar(types.TimestampType, func(tree any) ref.Val {
		s, _ := tree.(string)
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return types.Timestamp{Time: t}
		}
		return nil
	})
}

// span is the shape of a duration such as "1m30s".
func span() *shape {
	return scalar(types.DurationType, func(tree any) ref.Val {
		s, _ := tree.(string)
		if d, err := time.ParseDuration(s); err == nil {
			return types.Duration{Duration: d}
		}
		return nil
	})
}

// binary is the shape of bytes in base64.
func binary() *shape {
	return scalar(types.BytesType, func(tree any) ref.Val {
		s, ok := tree.(string)
		if b, err := base64.StdEncoding.DecodeString(s); ok && err == nil {
			return types.Bytes(b)
		}
		return nil
	})
}

// known reports whether anything is known.
func (s *shape) known() bool { return s.cel != types.DynType }

// field returns the shape of a field of a record, or of a value of a table.
func (s *shape) field(name string) *shape {
	if f := s.fields[name]; f != nil {
		return f
	}
	if s.elem != nil {
		return s.elem
	}
	return anything()
}

// NativeToValue implements [types.Adapter]: it reads a part of a JSON tree.
func (s *shape) NativeToValue(tree any) ref.Val {
	if value, ok := tree.(ref.Val); ok {
		return value
	}
	if !s.known() {
		return guess(tree)
	}
	switch part := tree.(type) {
	case map[string]any:
		if s.cel.Kind() == types.StructKind || s.cel.Kind() == types.MapKind {
			return &mapping{tree: part, shape: s}
		}
	case []any:
		if s.cel.Kind() == types.ListKind {
			return types.NewDynamicList(s.elem, part)
		}
	default:
		if s.read != nil {
			if value := s.read(tree); value != nil {
				return value
			}
		}
	}
	return types.NewErr("it should be of type %s, and is %s", celgo.FormatCELType(s.cel), describe(tree))
}

// guess reads a part of a JSON tree of which nothing is known.
func guess(tree any) ref.Val {
	switch part := tree.(type) {
	case nil:
		return types.NullValue
	case bool:
		return types.Bool(part)
	case string:
		return types.String(part)
	case int64:
		return types.Int(part)
	case uint64:
		if part <= math.MaxInt64 {
			return types.Int(part)
		}
		return types.Uint(part)
	case float64:
		return types.Double(part)
	case map[string]any:
		return &mapping{tree: part, shape: anything()}
	case []any:
		return types.NewDynamicList(anything(), part)
	}
	return types.NewErr("a %T cannot be looked at", tree)
}

// describe names the kind of a part of a JSON tree.
func describe(tree any) string {
	switch part := tree.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the text %q", part)
	}
	return fmt.Sprint(tree)
}

package cel

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// shapes are the records that expressions know by name. It implements [types.Provider] on top of another one, and
// notes fields that were asked for in vain.
type shapes struct {
	types.Provider
	records map[string]*shape
	// structs are those that are made from Go types.
	structs map[reflect.Type]*shape
	missed  []miss
}

// miss is a field that a record does not have.
type miss struct {
	record *shape
	field  string
}

func newShapes(base types.Provider) *shapes {
	return &shapes{Provider: base, records: map[string]*shape{}, structs: map[reflect.Type]*shape{}}
}

// record makes a record without fields. Its name must be new.
func (s *shapes) record(name string) *shape {
	r := &shape{cel: types.NewObjectType(name), fields: map[string]*shape{}}
	s.records[name] = r
	return r
}

// FindStructType implements [types.Provider].
func (s *shapes) FindStructType(name string) (*types.Type, bool) {
	if r := s.records[name]; r != nil {
		return types.NewTypeTypeWithParam(r.cel), true
	}
	return s.Provider.FindStructType(name)
}

// FindStructFieldNames implements [types.Provider].
func (s *shapes) FindStructFieldNames(name string) ([]string, bool) {
	if r := s.records[name]; r != nil {
		return slices.Sorted(maps.Keys(r.fields)), true
	}
	return s.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements [types.Provider].
func (s *shapes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	r := s.records[name]
	if r == nil {
		return s.Provider.FindStructFieldType(name, field)
	}
	found := r.fields[field]
	if found == nil {
		if plain, escaped := unescape(field); escaped {
			found = r.fields[plain]
		}
	}
	switch {
	case found != nil:
		return &types.FieldType{Type: found.cel}, true
	case r.open:
		return &types.FieldType{Type: types.DynType}, true
	}
	s.missed = append(s.missed, miss{record: r, field: field})
	return nil, false
}

// NewValue implements [types.Provider]: objects of a state are not made by expressions.
func (s *shapes) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if s.records[name] != nil {
		return types.NewErr("an expression cannot make a %s: compare field by field", name)
	}
	return s.Provider.NewValue(name, fields)
}

package mutation

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

//go:embed scaffolds.yaml
var scaffoldsYAML []byte

// scaffolds are what structs need to be right, by [nameOf] their type.
type scaffolds map[string]any

// readScaffolds reads the list of this package.
func readScaffolds() (scaffolds, error) {
	text, err := yaml.YAMLToJSONStrict(scaffoldsYAML)
	if err != nil {
		return nil, fmt.Errorf("scaffolds.yaml: %w", err)
	}
	var all scaffolds
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &all); err != nil {
		return nil, fmt.Errorf("scaffolds.yaml: %w", err)
	}
	return all, nil
}

// nameOf is the last part of the path of a type's package, and its name.
func nameOf(t reflect.Type) string {
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + t.Name()
}

// of returns a value of a type that is right in many places.
func (s scaffolds) of(t reflect.Type) any {
	t = pointee(t)
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return "1"
	case reflect.TypeFor[intstr.IntOrString]():
		return int64(1)
	}
	switch t.Kind() {
	case reflect.Struct:
		if known, ok := s[nameOf(t)]; ok {
			return known
		}
		return tree{}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "aGVsbG8="
		}
		return []any{s.of(t.Elem())}
	case reflect.Map:
		return tree{}
	case reflect.String:
		return "a"
	case reflect.Bool:
		return true
	default:
		return int64(1)
	}
}

// pointee is the type that is behind pointers.
func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

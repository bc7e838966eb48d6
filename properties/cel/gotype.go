package cel

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// goType returns the shape of the JSON that a Go type is written as.
func (s *shapes) goType(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return moment()
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[metav1.Duration]():
		return text()
	}
	switch pointer := reflect.PointerTo(t); {
	case pointer.Implements(reflect.TypeFor[json.Marshaler]()):
		return anything() // it may write itself as one thing or another
	case pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return text()
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolean()
	case reflect.String:
		return text()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer()
	case reflect.Float32, reflect.Float64:
		return number()
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return binary()
		}
		return listOf(s.goType(t.Elem()))
	case reflect.Map:
		return tableOf(s.goType(t.Elem()))
	case reflect.Struct:
		return s.goStruct(t)
	}
	return anything()
}

// goStruct returns the shape of a struct. A type may hold itself.
func (s *shapes) goStruct(t reflect.Type) *shape {
	if known := s.structs[t]; known != nil {
		return known
	}
	name := goName(t)
	for s.records[name] != nil {
		name += "'" // of another package
	}
	record := s.record(name)
	s.structs[t] = record
	s.addFields(record, t)
	return record
}

func (s *shapes) addFields(record *shape, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" && options == "" || !field.IsExported() && !field.Anonymous:
			continue
		case field.Anonymous && name == "" || strings.Contains(options, "inline"):
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct {
				s.addFields(record, embedded)
				continue
			}
		}
		if !tagged || name == "" {
			name = field.Name
		}
		if name == "resourceVersion" && t == reflect.TypeFor[metav1.ObjectMeta]() {
			continue // no object in a state has one
		}
		if slices.Contains(strings.Split(options, ","), "string") {
			record.fields[name] = text()
			continue
		}
		record.fields[name] = s.goType(field.Type)
	}
}

// goName is the name of a Go type in messages: "apps.v1.DeploymentSpec".
func goName(t reflect.Type) string {
	folders := strings.Split(t.PkgPath(), "/")
	return strings.Join(append(folders[max(0, len(folders)-2):], cmp.Or(t.Name(), "struct")), ".")
}

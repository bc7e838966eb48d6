package cel

import (
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schema returns the shape that the schema of a custom resource describes, as rules in the schema see it. The
// name is that of the record, if it is one.
func (s *shapes) schema(name string, props *apiextensionsv1.JSONSchemaProps) *shape {
	switch {
	case props == nil, props.XIntOrString:
		return anything()
	case props.XEmbeddedResource:
		return s.wholeObject(name, props)
	}
	switch props.Type {
	case "object":
		return s.objectSchema(name, props)
	case "array":
		if props.Items == nil {
			return listOf(anything())
		}
		return listOf(s.schema(name+".item", props.Items.Schema))
	case "boolean":
		return boolean()
	case "integer":
		return integer()
	case "number":
		return number()
	case "string":
		switch props.Format {
		case "date-time":
			return moment()
		case "duration":
			return span()
		case "byte":
			return binary()
		}
		return text()
	}
	return anything()
}

func (s *shapes) objectSchema(name string, props *apiextensionsv1.JSONSchemaProps) *shape {
	open := props.XPreserveUnknownFields != nil && *props.XPreserveUnknownFields
	switch {
	case len(props.Properties) > 0:
		return s.properties(name, props, open)
	case props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil:
		return tableOf(s.schema(name+".value", props.AdditionalProperties.Schema))
	case open, props.AdditionalProperties != nil:
		return anything()
	}
	return s.properties(name, props, false)
}

// properties makes a record. No two parts of a schema have the same name, as a dot is in no name of a record's
// field that expressions can use; where one is all the same, nothing is known of the field.
func (s *shapes) properties(name string, props *apiextensionsv1.JSONSchemaProps, open bool) *shape {
	if s.records[name] != nil {
		return anything()
	}
	record := s.record(name)
	record.open = open
	for _, field := range slices.Sorted(maps.Keys(props.Properties)) {
		p := props.Properties[field]
		record.fields[field] = s.schema(name+"."+field, &p)
	}
	return record
}

// wholeObject is the shape of what has a kind and metadata, whatever its schema says of these.
func (s *shapes) wholeObject(name string, props *apiextensionsv1.JSONSchemaProps) *shape {
	open := props.XPreserveUnknownFields != nil && *props.XPreserveUnknownFields
	record := s.properties(name, props, open)
	if record.fields != nil {
		record.fields["apiVersion"] = text()
		record.fields["kind"] = text()
		record.fields["metadata"] = s.goType(reflect.TypeFor[metav1.ObjectMeta]())
	}
	return record
}

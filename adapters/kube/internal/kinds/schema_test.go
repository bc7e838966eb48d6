package kinds

import (
	"encoding/json"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestContradictingSchemas(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false,
		`{"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}}`:                  false,
		`{"anyOf": [{"required": ["a"]}], "allOf": [{"minProperties": 1}]}`:                           false,
		`{"not": {"required": ["a"]}}`:                                                                true,
		`{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`:                                       true,
		`{"properties": {"a": {"not": {}}}}`:                                                          true,
		`{"additionalProperties": {"properties": {"a": {"oneOf": [{}]}}}}`:                            true,
		`{"items": {"not": {}}}`:                                                                      true,
		`{"items": {"anyOf": [{"properties": {"a": {"allOf": [{"not": {"enum": ["x"]}}]}}}]}}`:        true,
		`{"patternProperties": {"a": {"not": {}}}}`:                                                   true,
		`{"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}}`: false,
	} {
		var props apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal([]byte(text), &props); err != nil {
			t.Fatal(err)
		}
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, internal, nil); err != nil {
			t.Fatal(err)
		}
		if got := contradicts(internal); got != want {
			t.Errorf("%s contradicts: %t, want %t", text, got, want)
		}
	}
}

package scaffold

import (
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestExample makes up values for schemas.
func TestExample(t *testing.T) {
	for schema, want := range map[string]string{
		"{type: string}":                                                                         "example",
		"{type: string, default: chosen}":                                                        "chosen",
		"{type: string, enum: [B, A]}":                                                           "B",
		"{type: string, minLength: 9}":                                                           "examplexx",
		"{type: string, maxLength: 3}":                                                           "exa",
		"{type: string, format: date-time}":                                                      `"2030-01-01T00:00:00Z"`,
		"{type: string, format: ipv4}":                                                           "192.0.2.1",
		"{type: string, pattern: '^https?://'}":                                                  "https://example.com",
		"{type: string, pattern: '^s3://[a-z]{3}(/x|/y)$'}":                                      "s3://aaa/x",
		"{type: string, pattern: '^([0-9]+(ms|s|m|h))+$'}":                                       "1m",
		"{x-kubernetes-int-or-string: true, pattern: '^[0-9]+%$', anyOf: []}":                    "1",
		"{type: integer, minimum: 3}":                                                            "3",
		"{type: object, required: [a], properties: {a: {type: boolean}, b: {type: string}}}":     "a: false",
		"{type: array, minItems: 1, items: {type: string}}":                                      "- example",
		"{type: object, minProperties: 1, additionalProperties: {type: string}}":                 "example: example",
		"{type: object, minProperties: 2, additionalProperties: {type: integer}}":                "example: 1\nexamplex: 1",
		"{type: object, minProperties: 1, properties: {b: {type: integer}, a: {type: boolean}}}": "a: false",
		"{type: object, minProperties: 1, additionalProperties: false}":                          "{}",
		"{type: object, minProperties: 2, required: [b], properties: {b: {type: integer}, a: {type: boolean}, c: {type: string}}}": "b: 1\na: false",
	} {
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(schema), &tree); err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(example(tree))
		if err != nil || string(got) != want+"\n" {
			t.Errorf("%s: %s, %v", schema, got, err)
		}
	}
}

// FuzzMatching has a text that is made up for a pattern match it.
func FuzzMatching(f *testing.F) {
	for _, pattern := range []string{"^a+$", "(", "[^a]", "^x{2,3}y?|z$", `^\d\D.$`, "^$"} {
		f.Add(pattern)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if word, ok := matching(pattern); ok && !regexp.MustCompile(pattern).MatchString(word) {
			t.Errorf("%q does not match %q", word, pattern)
		}
	})
}

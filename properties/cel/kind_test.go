package cel_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/properties/cel"
)

// gauge is a kind that is known by its Go type.
type gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              gaugeSpec `json:"spec,omitempty"`
	Untagged          int
	Hidden            int `json:"-"`
}

type gaugeSpec struct {
	Limit   *int32            `json:"limit,omitempty"`
	Ratio   float64           `json:"ratio"`
	Lit     bool              `json:"lit"`
	Nested  *gaugeSpec        `json:"nested,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"`
	Raw     []byte            `json:"raw,omitempty"`
	Free    json.RawMessage   `json:"free,omitempty"`
	Timeout metav1.Duration   `json:"timeout,omitempty"`
	Any     any               `json:"any,omitempty"`
	Pair    [2]int            `json:"pair"`
	Digits  [2]byte           `json:"digits"`
	Big     int64             `json:"big,string"`
	Address netip.Addr        `json:"address"`
}

func (g *gauge) DeepCopyObject() runtime.Object {
	duplicate := *g
	return &duplicate
}

// knob is the definition of a kind that is known by its schema.
const knob = `
metadata: {name: knobs.example.com}
spec:
  group: example.com
  names: {kind: Knob, plural: knobs}
  scope: Namespaced
  versions:
  - {name: v1beta1, served: true, storage: false}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          metadata: {type: object}
          spec:
            type: object
            properties:
              level: {type: integer}
              share: {type: number}
              lit: {type: boolean}
              since: {type: string, format: date-time}
              pause: {type: string, format: duration}
              secret: {type: string, format: byte}
              port: {x-kubernetes-int-or-string: true}
              marks: {type: array, items: {type: object, properties: {at: {type: integer}}}}
              limits: {type: object, additionalProperties: {type: integer}}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
              loose: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {image: {type: string}}}}}
              namespace: {type: string}
              x-y: {type: string}
`

const instruments = `
apiVersion: example.com/v1
kind: Gauge
metadata: {name: g, namespace: shop}
spec:
  limit: 3
  ratio: 2
  lit: true
  nested: {lit: false, nested: {ratio: 0.5}}
  notes: {a: b}
  raw: b3Blbg==
  free: {x: [1]}
  timeout: 5s
  any: 4
  pair: [1, 2]
  digits: [3, 4]
  big: "12345678901"
  address: 10.0.0.1
Untagged: 4
---
apiVersion: example.com/v1
kind: Knob
metadata: {name: k, namespace: shop, labels: {a: b}}
spec:
  level: 11
  share: 1
  lit: true
  since: "2000-01-01T00:00:00Z"
  pause: 90s
  secret: b3Blbg==
  port: http
  marks: [{at: 1}, {at: 2}]
  limits: {cpu: 4}
  extra: {a: {b: 1}}
  loose: {a: b, c: 1}
  pod: {kind: Pod, metadata: {name: x}, spec: {image: i}}
  namespace: other
  x-y: z
`

func knownTypes(t rapid.TB) cel.Types {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gauge"}, &gauge{})
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(knob), definition); err != nil {
		t.Fatal(err)
	}
	return cel.Types{Scheme: scheme, Definitions: []*apiextensionsv1.CustomResourceDefinition{definition}}
}

func TestKnownKinds(t *testing.T) {
	types := knownTypes(t)
	for _, expression := range []string{
		`gauges.size() == 1 && objects("Gauge.example.com").size() == 1 && objects("gauges").size() == 1`,
		`gauges.all(g, g.spec.limit == 3 && g.spec.ratio == 2.0 && g.spec.lit && g.Untagged == 4)`,
		`gauges.all(g, g.spec.nested.nested.ratio < 1.0 && !g.spec.nested.lit && !has(g.spec.nested.limit))`,
		`gauges.all(g, g.spec.notes.a == "b" && g.spec.raw == b"open" && g.spec.free.x[0] == 1 && g.spec.any == 4)`,
		`gauges.all(g, g.spec.timeout == "5s" && duration(g.spec.timeout) < duration("1m") && g.spec.pair[1] == 2)`,
		`gauges.all(g, g.metadata.name == "g" && g.kind == "Gauge")`,
		`gauges.all(g, g.spec.digits[1] == 4 && int(g.spec.big) > 1 && isIP(g.spec.address))`,
		`knobs.all(k, k.spec.level == 11 && k.spec.share == 1.0 && k.spec.lit)`,
		`knobs.all(k, k.spec.since < timestamp("2001-01-01T00:00:00Z") && k.spec.pause == duration("1m30s") && k.spec.secret == b"open")`,
		`knobs.all(k, k.spec.port == "http" && k.spec.marks.all(m, m.at < 3) && k.spec.limits["cpu"] == 4)`,
		`knobs.all(k, k.spec.extra.a.b == 1 && k.spec.loose.a == "b" && k.spec.loose.c == 1)`,
		`knobs.all(k, k.spec.pod.metadata.name == "x" && k.spec.pod.spec.image == "i")`,
		`knobs.all(k, k.metadata.labels.a == "b" && k.apiVersion == "example.com/v1")`,
		`knobs.all(k, k.spec.namespace == "other" && k.spec.__namespace__ == "other" && k.spec.x__dash__y == "z")`,
		`object("example.com/v1/Knob", "shop", "k").?spec.level.orValue(0) == 11`,
	} {
		p, err := cel.Compile(expression, types)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if holds, err := p.Holds(worldOf(t, instruments)); err != nil || !holds {
			t.Errorf("%s is %t, %v", expression, holds, err)
		}
	}
	for expression, want := range map[string]string{
		`gauges.all(g, g.spec.limits > 1)`:                    `gaugeSpec has no field "limits": did you mean limit?`,
		`gauges.all(g, g.Hidden > 1)`:                         `gauge has no field "Hidden"`,
		`gauges.all(g, g.spec.nested.nested.nested.of)`:       `gaugeSpec has no field "of"`,
		`knobs.all(k, k.spec.levek > 1)`:                      `Knob.example.com.spec has no field "levek": did you mean level?`,
		`knobs.all(k, k.spec.marks.all(m, m.at == ""))`:       `"==" cannot be used on (int, string)`,
		`knobs.all(k, k.spec.pod.spec.name == "")`:            `Knob.example.com.spec.pod.spec has no field "name"`,
		`knobs.all(k, k.spec.loose.a == 1)`:                   `"==" cannot be used on (string, int)`,
		`gauges.all(g, g.metadata.resourceVersion == "")`:     `ObjectMeta has no field "resourceVersion"`,
		`knob.size() == 1`:                                    `nothing is called "knob": did you mean knobs?`,
		`objects("Knop.example.com").size() == 1`:             `there is no kind "Knop" in the group "example.com": did you mean Knob.example.com?`,
		`objects("example.com/v1beta1/Knob").size() == 1`:     `objects of Knob.example.com are looked at in version v1, not v1beta1`,
		`objects("Knob.example.con").size() == 1`:             `there is no group "example.con": did you mean example.com?`,
		`objects("NetworkPolicy.networking.k8s").size() == 1`: `there is no group "networking.k8s": did you mean networking.k8s.io?`,
		`object("knobs", "k").hasValue()`:                     `objects of Knob.example.com are in namespaces: write object("Knob.example.com", namespace, name)`,
	} {
		if _, err := cel.Compile(expression, types); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

// TestCompleteTypes checks that no kind can be looked at that does not exist, if it is known which do.
func TestCompleteTypes(t *testing.T) {
	types := knownTypes(t)
	types.Complete = true
	if _, err := cel.Compile(`gauges.size() == knobs.size()`, types); err != nil {
		t.Error(err)
	}
	for expression, want := range map[string]string{
		`pods.size() == 0`:                       `nothing is called "pods"`,
		`objects("Knop.example.com").size() > 0`: `no kind is called "Knop.example.com": did you mean Knob.example.com?`,
		`objects("Widget.else.org").size() > 0`:  `no kind is called "Widget.else.org"`,
	} {
		if _, err := cel.Compile(expression, types); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

// TestMistypedObjects checks that an object that is not as its kind is described is an error where it is looked at, and
// only there.
func TestMistypedObjects(t *testing.T) {
	types := knownTypes(t)
	world := worldOf(t, `
apiVersion: example.com/v1
kind: Knob
metadata: {name: k}
spec: {level: high, share: much, lit: 1, since: yesterday, pause: long, secret: "%", marks: {}, limits: [], pod: x}
`)
	for expression, want := range map[string]string{
		`knobs.all(k, k.spec.level > 1)`:                                 `it should be of type int, and is the text "high"`,
		`knobs.all(k, k.spec.share > 1.0)`:                               `it should be of type double, and is the text "much"`,
		`knobs.all(k, k.spec.lit)`:                                       `it should be of type bool, and is 1`,
		`knobs.all(k, k.spec.since > timestamp("2000-01-01T00:00:00Z"))`: `it should be of type timestamp, and is the text "yesterday"`,
		`knobs.all(k, k.spec.pause > duration("1s"))`:                    `it should be of type duration, and is the text "long"`,
		`knobs.all(k, k.spec.secret == b"")`:                             `it should be of type bytes, and is the text "%"`,
		`knobs.all(k, k.spec.marks.size() == 0)`:                         `it should be of type list(Knob.example.com.spec.marks.item), and is an object`,
		`knobs.all(k, k.spec.limits.size() == 0)`:                        `it should be of type map(string, int), and is a list`,
		`knobs.all(k, k.spec.pod.kind == "")`:                            `it should be of type Knob.example.com.spec.pod, and is the text "x"`,
		`knobs.all(k, k.metadata.name == "k")`:                           "",
	} {
		p, err := cel.Compile(expression, types)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		holds, err := p.Holds(world)
		if holds != (want == "") || err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is %t, %v, want %q", expression, holds, err, want)
		}
	}
}

// TestBadTypes checks that definitions that tell nothing of their kind are refused.
func TestBadTypes(t *testing.T) {
	version := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Storage: true}
	for want, versions := range map[string][]apiextensionsv1.CustomResourceDefinitionVersion{
		"no version is the storage version": nil,
		`version "v1" has no schema`:        {version},
	} {
		d := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: versions}}
		_, err := cel.Compile("true", cel.Types{Definitions: []*apiextensionsv1.CustomResourceDefinition{d}})
		var m *cel.Mistake
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &m) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if _, err := cel.CompileChange("pods", "true", cel.Types{Definitions: []*apiextensionsv1.CustomResourceDefinition{d}}); err == nil {
			t.Errorf("%q is not told of a change", want)
		}
	}
}

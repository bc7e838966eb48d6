package conformance

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
)

//go:embed subjects.yaml
var subjectsYAML []byte

// Subject is a kind that requests are about, with what can be sent for it. Bodies,
// edits and patches come without metadata, and some of them are wrong on purpose.
type Subject struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Plural     string `json:"plural"`
	Namespaced bool   `json:"namespaced"`
	// Status tells that there is a status subresource.
	Status bool `json:"status"`
	// SameAs names the subject that is the same kind in the storage version.
	SameAs string `json:"sameAs"`

	Bodies []json.RawMessage `json:"bodies"`
	// Edits are JSON merge patches; so are StatusEdits, for the status subresource.
	Edits       []json.RawMessage `json:"edits"`
	StatusEdits []json.RawMessage `json:"statusEdits"`
	// Wrong are the Edits and StatusEdits that a server never accepts.
	Wrong       []json.RawMessage `json:"wrong"`
	JSONPatches []string          `json:"jsonPatches"`
	Strategic   []json.RawMessage `json:"strategic"`
	Applied     []json.RawMessage `json:"applied"`
	// Fields are field selectors.
	Fields []string `json:"fields"`
	// Subresources are those besides status.
	Subresources []string `json:"subresources"`
}

// Subjects returns all kinds that requests are about.
func Subjects() ([]Subject, error) {
	var subjects []Subject
	if err := yaml.UnmarshalStrict(subjectsYAML, &subjects); err != nil {
		return nil, fmt.Errorf("subjects.yaml: %w", err)
	}
	return subjects, nil
}

// Kind returns the kind with its version.
func (s Subject) Kind() schema.GroupVersionKind {
	kind := s.Name
	if s.SameAs != "" {
		kind = s.SameAs
	}
	return schema.FromAPIVersionAndKind(s.APIVersion, kind)
}

// parts returns the parts of the kind's objects whose fields are changed one at a time.
func (s Subject) parts() []mutation.Part {
	if s.Status {
		return []mutation.Part{mutation.Spec, mutation.Status}
	}
	return []mutation.Part{mutation.Spec}
}

// Custom reports whether the kind has a custom resource definition.
func (s Subject) Custom() bool { return s.Kind().Group == "conformance.example.com" }

// Path returns the path of the collection, or of an object and its subresource where
// they are given.
func (s Subject) Path(namespace, name, subresource string) string {
	path := "/apis/" + s.APIVersion
	if s.Kind().Group == "" {
		path = "/api/" + s.APIVersion
	}
	if s.Namespaced && namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + s.Plural
	for _, part := range []string{name, subresource} {
		if part != "" {
			path += "/" + part
		}
	}
	return path
}

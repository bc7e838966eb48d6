package conformance

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/conformance/mutation"
)

//go:embed fields.yaml
var fieldsYAML []byte

// FieldBase is a small valid object, of which one field at a time is changed.
type FieldBase struct {
	Subject string          `json:"subject"`
	Object  json.RawMessage `json:"object"`
}

// FieldBases returns the objects whose fields are changed, and the subjects that they are
// about besides those of the random requests.
func FieldBases() ([]FieldBase, []Subject, error) {
	var list struct {
		Subjects []Subject   `json:"subjects"`
		Bases    []FieldBase `json:"bases"`
	}
	if err := yaml.UnmarshalStrict(fieldsYAML, &list); err != nil {
		return nil, nil, fmt.Errorf("fields.yaml: %w", err)
	}
	return list.Bases, list.Subjects, nil
}

// Constants returns the constants of the string types of Kubernetes' API, as of the version
// that the module of the working directory requires.
func Constants() (mutation.Constants, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		return nil, fmt.Errorf("where k8s.io/api is: %w", err)
	}
	return mutation.ReadConstants(strings.TrimSpace(string(folder)))
}

// fieldMutations are the changes of a part of an object.
type fieldMutations struct {
	part mutation.Part
	*mutation.Mutations
}

// mutations returns the changes of each part of the kind's objects.
func (s Subject) mutations(scheme *runtime.Scheme, constants mutation.Constants) ([]fieldMutations, error) {
	typed, err := scheme.New(s.Kind())
	if err != nil {
		return nil, err
	}
	var all []fieldMutations
	for _, part := range s.parts() {
		found, err := mutation.Of(reflect.TypeOf(typed), part, constants)
		if err != nil {
			return nil, err
		}
		all = append(all, fieldMutations{part, found})
	}
	return all, nil
}

package conformance

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

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

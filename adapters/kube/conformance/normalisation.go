package conformance

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// normalisationsPath is where the list is, seen from this package.
const normalisationsPath = "../testdata/golden/normalisations.yaml"

// Treatment says what is done to a field before objects are compared.
type Treatment string

// The treatments.
const (
	// Drop leaves the field out.
	Drop Treatment = "drop"
	// Mask compares only whether the field is there.
	Mask Treatment = "mask"
)

// Normalisation is a field that is not compared, with the reason.
type Normalisation struct {
	// Kind restricts it to objects of a kind; empty means all.
	Kind string `json:"kind"`
	// Path is dotted, with [*] after lists.
	Path string `json:"path"`
	// Except is a value that is compared all the same; so is a list with it alone.
	Except    string    `json:"except"`
	Treatment Treatment `json:"treatment"`
	Reason    string    `json:"reason"`
}

// Normalisations returns the whole list of what is not compared.
func Normalisations() ([]Normalisation, error) {
	text, err := os.ReadFile(normalisationsPath)
	if err != nil {
		return nil, err
	}
	var list []Normalisation
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", normalisationsPath, err)
	}
	return list, nil
}

// apply changes an object of a kind.
func (n Normalisation) apply(kind string, object tree) {
	if n.Kind == "" || n.Kind == kind {
		n.treat(object, strings.Split(n.Path, "."))
	}
}

func (n Normalisation) treat(at tree, path []string) {
	name, list := strings.CutSuffix(path[0], "[*]")
	value, found := at[name]
	switch {
	case !found:
	case list:
		items, _ := value.([]any)
		for _, item := range items {
			if below, ok := item.(tree); ok && len(path) > 1 {
				n.treat(below, path[1:])
			}
		}
	case len(path) > 1:
		if below, ok := value.(tree); ok {
			n.treat(below, path[1:])
		}
	case n.Except != "" && (value == n.Except || reflect.DeepEqual(value, []any{n.Except})):
	case n.Treatment == Drop:
		delete(at, name)
	default:
		at[name] = "(set)"
	}
}

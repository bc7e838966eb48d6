package kube

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// document is one object of a YAML file.
type document struct {
	object *unstructured.Unstructured
	// file, number (from 1) and line (from 1) tell where it starts.
	file         string
	number, line int
}

// fail says where the error is.
func (d document) fail(err error) error {
	return fmt.Errorf("%s, document %d (line %d): %w", d.file, d.number, d.line, err)
}

// LoadObjects reads the objects in YAML or JSON files, or in all .yaml, .yml and
// .json files of directories (not of those below), in the order of their names. It
// returns an error that says where and what is wrong if one cannot be read, or is there
// twice.
func (s *Server) LoadObjects(paths ...string) ([]*unstructured.Unstructured, error) {
	var all []document
	for _, path := range paths {
		documents, err := readDocuments(path)
		if err != nil {
			return nil, err
		}
		all = append(all, documents...)
	}
	objects, err := s.registered(all)
	if err != nil {
		return nil, err
	}
	first := map[core.Key]document{}
	for _, d := range all {
		r, err := s.registry.Find(d.object.GroupVersionKind())
		if err != nil {
			return nil, d.fail(err)
		}
		key := core.Key{Kind: r.Name, Namespace: initialNamespace(r, d.object.GetNamespace()), Name: d.object.GetName()}
		if other, twice := first[key]; twice && key.Name != "" {
			return nil, d.fail(fmt.Errorf("%s is in %s, document %d (line %d), as well: leave one of them out", key, other.file, other.number, other.line))
		}
		first[key] = d
	}
	return objects, nil
}

// ParseObjects reads the objects in YAML or JSON text, which may have several
// documents and lists. Errors call the text by the given name.
func (s *Server) ParseObjects(name string, data []byte) ([]*unstructured.Unstructured, error) {
	documents, err := parseDocuments(name, data)
	if err != nil {
		return nil, err
	}
	return s.registered(documents)
}

// Refusals says what a server that has the custom resource definitions in some YAML files would have against the
// objects in a YAML text: a line for each object that it refuses, and one for each field that it drops, as the schema
// does not have it. Objects of kinds that it does not serve are not looked at. Errors call the text by the given name.
func Refusals(name string, data []byte, definitions ...string) (refused, drops []string, err error) {
	documents, err := parseDocuments(name, data)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewServer(runtime.NewScheme(), DefinitionFiles(definitions...))
	if err != nil {
		return nil, nil, err
	}
	for _, d := range documents {
		if s.Serves(d.object.GroupVersionKind()) != nil {
			continue
		}
		initial, err := s.Initial(d.object)
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s, document %d (line %d): a server refuses this, so that no check can begin with it: %s", d.file, d.number, d.line, strings.TrimPrefix(err.Error(), "initial object 1: ")))
			continue
		}
		for _, o := range initial.Objects {
			stored, ok := o.Content.(*storage.Object)
			if !ok || o.Key.Kind != KindOf(d.object.GroupVersionKind().GroupKind()) {
				continue
			}
			given := maps.Clone(d.object.Object)
			delete(given, "metadata")
			for _, field := range dropped(given, stored.Tree, "") {
				drops = append(drops, fmt.Sprintf("%s, document %d (line %d): %s is not in the schema of %s, and is dropped", d.file, d.number, d.line, field, o.Key.Kind))
			}
		}
	}
	return refused, drops, nil
}

// dropped are the fields of one tree that another one does not have.
func dropped(given, kept any, path string) []string {
	var all []string
	switch given := given.(type) {
	case map[string]any:
		kept, _ := kept.(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(given)) {
			below := strings.TrimPrefix(path+"."+field, ".")
			switch value, there := kept[field]; {
			case there:
				all = append(all, dropped(given[field], value, below)...)
			case given[field] != nil:
				all = append(all, below)
			}
		}
	case []any:
		kept, _ := kept.([]any)
		for i := range min(len(given), len(kept)) {
			all = append(all, dropped(given[i], kept[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return all
}

// registered returns the objects of documents, all of kinds that the server serves.
func (s *Server) registered(documents []document) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, d := range documents {
		if err := hasType(d.object); err != nil {
			return nil, d.fail(err)
		}
		if err := s.Serves(d.object.GroupVersionKind()); err != nil {
			return nil, d.fail(err)
		}
		objects = append(objects, d.object)
	}
	return objects, nil
}

// readDocuments reads a file, or the YAML and JSON files of a directory.
func readDocuments(path string) ([]document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = yamlFiles(path); err != nil {
			return nil, err
		}
	}
	var documents []document
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := parseDocuments(file, data)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

// yamlFiles lists the YAML and JSON files of a directory, in order.
func yamlFiles(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(directory, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no .yaml, .yml or .json file in it", directory)
	}
	return files, nil
}

// parseDocuments reads the documents of a text. Empty ones are skipped, and a List
// stands for its items.
func parseDocuments(name string, data []byte) ([]document, error) {
	var documents []document
	var text strings.Builder
	at := document{file: name, line: 1}
	end := func(next int) error {
		if strings.TrimSpace(text.String()) != "" {
			at.number++
		}
		found, err := parseDocument(at, text.String())
		documents = append(documents, found...)
		text.Reset()
		at.line = next
		return err
	}
	for i, line := range strings.SplitAfter(string(data), "\n") {
		rest, dashes := strings.CutPrefix(line, "---")
		if !dashes || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n") {
			text.WriteString(line)
			continue
		}
		if err := end(i + 2); err != nil {
			return nil, err
		}
		text.WriteString(rest)
	}
	if err := end(0); err != nil {
		return nil, err
	}
	return documents, nil
}

// parseDocument reads one document: the objects it stands for, none if it is empty.
func parseDocument(at document, text string) ([]document, error) {
	encoded, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, at.fail(fmt.Errorf("this is not YAML: %w", err))
	}
	var tree any
	if err := jsontree.Decode(encoded, &tree); err != nil {
		return nil, at.fail(err)
	}
	if tree == nil {
		return nil, nil
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return nil, at.fail(errors.New("this is not an object: write apiVersion, kind and metadata at its top"))
	}
	items, isList := fields["items"].([]any)
	if !isList {
		at.object = &unstructured.Unstructured{Object: fields}
		return []document{at}, nil
	}
	var documents []document
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, at.fail(fmt.Errorf("item %d of the list is not an object", i+1))
		}
		at.object = &unstructured.Unstructured{Object: fields}
		documents = append(documents, at)
	}
	return documents, nil
}

// hasType returns an error if an object does not say what it is.
func hasType(object *unstructured.Unstructured) error {
	switch {
	case object.GetKind() == "":
		return errors.New("the object has no kind: add one")
	case object.GetAPIVersion() == "":
		return fmt.Errorf("the %s has no apiVersion: add one", object.GetKind())
	}
	return nil
}

// loadDefinitions returns the definitions that were given, and those in the files.
func (s *settings) loadDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	read, err := ReadDefinitions(s.paths...)
	return append(slices.Clone(s.definitions), read...), err
}

// ReadDefinitions reads the custom resource definitions in YAML files, or in all YAML files of directories. Other
// objects in those files are skipped.
func ReadDefinitions(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		documents, err := readDocuments(path)
		if err != nil {
			return nil, err
		}
		before := len(definitions)
		for _, doc := range documents {
			kind := doc.object.GroupVersionKind()
			if kind.Kind != "CustomResourceDefinition" {
				continue
			}
			if kind.GroupVersion() != apiextensionsv1.SchemeGroupVersion {
				return nil, doc.fail(fmt.Errorf("a CustomResourceDefinition of version %s cannot be read: write it as %s", kind.GroupVersion(), apiextensionsv1.SchemeGroupVersion))
			}
			d := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(doc.object.Object, d); err != nil {
				return nil, doc.fail(err)
			}
			definitions = append(definitions, d)
		}
		if len(definitions) == before {
			return nil, fmt.Errorf("%s: %w", path, errors.New("there is no CustomResourceDefinition in it: give a file or directory that has some"))
		}
	}
	return definitions, nil
}

package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// manifests are the YAML files of a project that a check has use for. Paths are from the root, with slashes.
type manifests struct {
	// definitions are folders and files with custom resource definitions, and kinds what they define.
	definitions []string
	kinds       []customKind
	// samples are files with objects that the check can begin with; unusable says of others why it cannot.
	samples  []string
	unusable []string
	// more are samples of custom kinds of which there is one in another file.
	more []string
	// sampled are the kinds of the objects in each sample, and sampledIn is the file of each object.
	sampled   map[string][]string
	sampledIn map[string]string
	// written are the documents of other files, by the kinds of their objects: those first that users are likely to
	// write.
	written map[string][]written
	// webhooks are files with configurations of webhooks.
	webhooks []string
}

// customKind is what a custom resource definition defines.
type customKind struct {
	group, kind, plural, version string
	namespaced                   bool
	schema                       map[string]any
}

// written is an object in a file of the project.
type written struct {
	file string
	// document is its position in the file, from 0, without empty ones.
	document int
}

// The folders where kubebuilder keeps what it generates.
const (
	definitionFolder = "config/crd/bases"
	sampleFolder     = "config/samples"
	webhookFile      = "config/webhook/manifests.yaml"
)

// readManifests reads the YAML files of a project.
func readManifests(root string) (manifests, error) {
	m := manifests{sampled: map[string][]string{}, sampledIn: map[string]string{}, written: map[string][]written{}}
	files, err := yamlFiles(root)
	if err != nil {
		return m, err
	}
	copies := slices.DeleteFunc(slices.Clone(files), generated) // charts and bundles have some
	files = append(slices.DeleteFunc(files, func(file string) bool { return !generated(file) }), copies...)
	var plain, samples []string // those come first that are called as kubebuilder calls them
	for _, file := range files {
		documents, err := documentsOf(filepath.Join(root, filepath.FromSlash(file)))
		inSamples := path.Dir(file) == sampleFolder || strings.HasPrefix(file, sampleFolder+"/")
		if err != nil {
			if inSamples {
				m.unusable = append(m.unusable, fmt.Sprintf("%s cannot be read: %v", file, err))
			}
			continue
		}
		kinds := definedIn(documents)
		switch {
		case len(kinds) > 0 && len(kinds) == len(documents):
			if !slices.ContainsFunc(kinds, func(k customKind) bool { return !m.serves(k.group, k.kind) }) {
				break // a copy of what another file has
			}
			m.definitions, m.kinds = append(m.definitions, file), append(m.kinds, kinds...)
		case file == webhookFile:
			m.webhooks = append(m.webhooks, file)
		case inSamples && calledLike(file, documents):
			plain = append(plain, file)
		case inSamples:
			samples = append(samples, file)
		default:
			m.note(file, documents)
		}
	}
	m.gather()
	for _, file := range append(plain, samples...) {
		if err := m.sample(root, file); err != nil {
			return m, err
		}
	}
	slices.Sort(m.samples)
	for _, all := range m.written {
		slices.SortStableFunc(all, func(a, b written) int { return likelihood(a.file) - likelihood(b.file) })
	}
	return m, nil
}

// calledLike reports whether a file ends in the kind of its object, as kubebuilder calls samples.
func calledLike(file string, documents []map[string]any) bool {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return len(documents) == 1 && strings.HasSuffix(name, "_"+strings.ToLower(text(documents[0]["kind"])))
}

// likelihood is lower for files in folders whose objects users are likely to write.
func likelihood(file string) int {
	for i, word := range []string{"sample", "example", "demo", "deploy", "docs", "manifests"} {
		if strings.Contains(path.Dir(file), word) {
			return i
		}
	}
	return len(file)
}

// note remembers the objects of a file that is no sample, each of which may be one. Patches are none.
func (m *manifests) note(file string, documents []map[string]any) {
	for i, d := range documents {
		metadata := tree(d["metadata"])
		if text(d["kind"]) == "" || text(metadata["name"]) == "" || d["spec"] == nil || strings.Contains(path.Base(file), "patch") || strings.Contains(file, "overlays/") {
			continue
		}
		kind := kindOf(d)
		m.written[kind] = append(m.written[kind], written{file, i})
	}
}

// kindOf returns the kind of a document with its group, as Kubernetes writes it.
func kindOf(document map[string]any) string {
	return qualified(text(document["kind"]), groupOf(document))
}

// groupOf returns the group of the kind of a document, empty for those of Kubernetes that have none.
func groupOf(document map[string]any) string {
	group, _, grouped := strings.Cut(text(document["apiVersion"]), "/")
	if !grouped {
		return ""
	}
	return group
}

// yamlFiles returns the YAML files of a project, in order.
func yamlFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && foreign(name, entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml":
			return nil
		}
		relative, err := filepath.Rel(root, name)
		files = append(files, filepath.ToSlash(relative))
		return err
	})
	return files, err
}

// documentsOf reads a YAML file as maps, one for each document that is not empty.
func documentsOf(file string) ([]map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents []map[string]any
	for {
		var document map[string]any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		case document != nil:
			documents = append(documents, document)
		}
	}
}

// definedIn returns the kinds that documents define, with the version that is stored.
func definedIn(documents []map[string]any) []customKind {
	var kinds []customKind
	for _, d := range documents {
		spec := tree(d["spec"])
		if d["kind"] != "CustomResourceDefinition" || spec["group"] == nil { // as in a patch of one
			continue
		}
		names := tree(spec["names"])
		k := customKind{group: text(spec["group"]), kind: text(names["kind"]), plural: text(names["plural"]), namespaced: spec["scope"] != "Cluster"}
		versions, _ := spec["versions"].([]any)
		for _, v := range versions {
			if version := tree(v); version["storage"] == true || k.version == "" {
				k.version, k.schema = text(version["name"]), tree(tree(version["schema"])["openAPIV3Schema"])
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// tree returns a value as a map, empty if it is none.
func tree(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// text returns a value as a text, empty if it is none.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// generated reports whether a file is in the folder that kubebuilder generates definitions in.
func generated(file string) bool { return path.Dir(file) == definitionFolder }

// gather names the folder that kubebuilder generates definitions in, if it has any, and nothing else: charts and
// bundles have copies of them.
func (m *manifests) gather() {
	if slices.ContainsFunc(m.definitions, generated) {
		m.definitions = []string{definitionFolder}
	}
}

// sample decides about a file of samples.
func (m *manifests) sample(root, file string) error {
	documents, err := documentsOf(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	var kinds, custom []string
	for _, d := range documents {
		group, kind := groupOf(d), text(d["kind"])
		switch {
		case kind == "" || group == "kustomize.config.k8s.io":
			return nil // for kustomize
		case m.serves(group, kind):
			custom = append(custom, qualified(kind, group))
		case !builtIn(group):
			m.unusable = append(m.unusable, fmt.Sprintf("%s has a %s, of which there is no definition: add it to the files of controllerruntime.CRDs, and the sample to those of controllerruntime.Objects", file, qualified(kind, group)))
			return nil
		}
		kinds = append(kinds, qualified(kind, group))
	}
	if len(custom) > 0 && !slices.ContainsFunc(custom, func(kind string) bool { return !m.hasSample(kind) }) {
		m.more = append(m.more, file)
		return nil
	}
	objects, twice := m.objects(documents)
	if twice != "" {
		m.unusable = append(m.unusable, fmt.Sprintf("%s has %s, as %s does, which is one of the initial objects: give one of the two files to controllerruntime.Objects", file, twice, m.sampledIn[twice]))
		return nil
	}
	if len(kinds) > 0 {
		m.samples = append(m.samples, file)
		m.sampled[file] = kinds
	}
	for _, object := range objects {
		m.sampledIn[object] = file
	}
	return nil
}

// objects names the objects of a file that have a name, and the one of them that another sample has, too, if any. The
// others are given one.
func (m *manifests) objects(documents []map[string]any) (all []string, twice string) {
	for _, d := range documents {
		metadata := tree(d["metadata"])
		if text(metadata["name"]) == "" {
			continue
		}
		object := kindOf(d) + " " + strings.TrimPrefix(text(metadata["namespace"])+"/", "/") + text(metadata["name"])
		if m.sampledIn[object] != "" {
			return nil, object
		}
		all = append(all, object)
	}
	return all, ""
}

func (m *manifests) serves(group, kind string) bool {
	return slices.ContainsFunc(m.kinds, func(k customKind) bool { return k.group == group && k.kind == kind })
}

// builtIn reports whether a group is one of Kubernetes itself.
func builtIn(group string) bool {
	switch group {
	case "", "apps", "batch", "policy", "autoscaling", "networking.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io", "coordination.k8s.io", "scheduling.k8s.io", "discovery.k8s.io", "node.k8s.io":
		return true
	}
	return false
}

// qualified is a kind with its group, as Kubernetes writes it.
func qualified(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

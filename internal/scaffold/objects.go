package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// starters returns YAML with one object of each kind that a controller is for and that no sample has, and what should be looked at in it.
func (p *Project) starters() (text string, kinds []string, missing []string) {
	var b bytes.Buffer
	for _, h := range p.handled() {
		name := qualified(h.kind, h.group)
		if h.verb != "For" || slices.Contains(p.manifests.sampled, name) || slices.Contains(kinds, name) {
			continue
		}
		object, known := p.starter(h)
		if !known {
			missing = append(missing, fmt.Sprintf("no sample of %s: write one, and add its file to controllerruntime.Objects", name))
			continue
		}
		if b.Len() > 0 {
			b.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(&b)
		encoder.SetIndent(2)
		if err := encoder.Encode(object); err != nil { // of maps, texts and numbers only
			missing = append(missing, fmt.Sprintf("no sample of %s: %v", name, err))
			continue
		}
		kinds = append(kinds, name)
	}
	return b.String(), kinds, missing
}

// starter returns a small object of a kind, if something is known of the kind.
func (p *Project) starter(h handled) (object *yaml.Node, known bool) {
	name := strings.ToLower(h.kind) + "-1"
	for _, k := range p.manifests.kinds {
		if k.group == h.group && k.kind == h.kind {
			fields := []any{"apiVersion", h.group + "/" + k.version, "kind", h.kind, "metadata", inOrder("name", name)}
			properties := tree(k.schema["properties"])
			if spec := tree(properties["spec"]); len(spec) > 0 {
				fields = append(fields, "spec", example(spec))
			}
			return inOrder(fields...), true
		}
	}
	return standard(h, name)
}

// standard returns a small object of a kind of Kubernetes itself.
func standard(h handled, name string) (object *yaml.Node, known bool) {
	version := h.version
	if h.group != "" {
		version = h.group + "/" + version
	}
	labels := inOrder("app", name)
	pod := inOrder("containers", list(inOrder("name", "main", "image", "example.com/main:1")))
	template := inOrder("metadata", inOrder("labels", labels), "spec", pod)
	var rest []any
	switch qualified(h.kind, h.group) {
	case "ConfigMap":
		rest = []any{"data", inOrder("key", "value")}
	case "Secret":
		rest = []any{"stringData", inOrder("key", "value")}
	case "Namespace", "ServiceAccount", "Node":
	case "Pod":
		rest = []any{"spec", pod}
	case "Service":
		rest = []any{"spec", inOrder("selector", labels, "ports", list(inOrder("port", 80)))}
	case "Deployment.apps":
		rest = []any{"spec", inOrder("replicas", 1, "selector", inOrder("matchLabels", labels), "template", template)}
	case "DaemonSet.apps":
		rest = []any{"spec", inOrder("selector", inOrder("matchLabels", labels), "template", template)}
	case "StatefulSet.apps":
		rest = []any{"spec", inOrder("replicas", 1, "serviceName", name, "selector", inOrder("matchLabels", labels), "template", template)}
	case "Job.batch":
		once := inOrder("restartPolicy", "Never", "containers", list(inOrder("name", "main", "image", "example.com/main:1")))
		rest = []any{"spec", inOrder("template", inOrder("spec", once))}
	default:
		return nil, false
	}
	return inOrder(append([]any{"apiVersion", version, "kind", h.kind, "metadata", inOrder("name", name)}, rest...)...), true
}

// inOrder returns a map whose keys stay in order: keys and values in turn.
func inOrder(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range pairs {
		node.Content = append(node.Content, nodeOf(one))
	}
	return node
}

func list(items ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for _, one := range items {
		node.Content = append(node.Content, nodeOf(one))
	}
	return node
}

// nodeOf returns a value as a node. One that cannot be encoded is null.
func nodeOf(value any) *yaml.Node {
	if node, ok := value.(*yaml.Node); ok {
		return node
	}
	node := &yaml.Node{}
	if err := node.Encode(value); err != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	return node
}

// example returns a value that a schema allows, as far as its types, enumerations, bounds and required fields say.
func example(schema map[string]any) any {
	if chosen, ok := schema["default"]; ok {
		return chosen
	}
	if enumeration, ok := schema["enum"].([]any); ok && len(enumeration) > 0 {
		return enumeration[0]
	}
	switch schema["type"] {
	case "object":
		properties := tree(schema["properties"])
		var required []string
		all, _ := schema["required"].([]any)
		for _, name := range all {
			required = append(required, text(name))
		}
		var pairs []any
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if slices.Contains(required, name) {
				pairs = append(pairs, name, example(tree(properties[name])))
			}
		}
		return inOrder(pairs...)
	case "array":
		least, _ := number(schema["minItems"])
		var items []any
		for range int(least) {
			items = append(items, example(tree(schema["items"])))
		}
		return list(items...)
	case "integer", "number":
		if least, ok := number(schema["minimum"]); ok {
			return least
		}
		return 1
	case "boolean":
		return false
	}
	const word = "example"
	if least, ok := number(schema["minLength"]); ok && int(least) > len(word) {
		return strings.Repeat("x", int(least))
	}
	return word
}

// number returns a value as a number, if it is one.
func number(value any) (int64, bool) {
	switch n := value.(type) {
	case int:
		return int64(n), true
	case float64:
		return int64(n), true
	}
	return 0, false
}

package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// starter is an object that a check may begin with, of a kind that a controller is for and that no sample has.
type starter struct {
	kind string
	// from is the file that it stands in, empty if it is made up.
	from string
	text []byte
}

// starters returns one object of each such kind, and says which kinds there is none of.
func (p *Project) starters() (all []starter, missing []string) {
	seen := map[string]bool{}
	for _, h := range p.handled() {
		name := qualified(h.kind, h.group)
		if h.verb != "For" || p.manifests.hasSample(name) || seen[name] {
			continue
		}
		seen[name] = true
		refused := p.refused[name]
		switch candidates := p.candidates(h); {
		case len(refused) < len(candidates):
			all = append(all, candidates[len(refused)])
		case len(refused) == 0:
			missing = append(missing, fmt.Sprintf("no sample of %s: write one, and add its file to controllerruntime.Objects", name))
		default:
			missing = append(missing, fmt.Sprintf("no sample of %s that a server takes: write one, and add its file to controllerruntime.Objects. Of one that was made up it says: %s", name, refused[len(refused)-1]))
		}
	}
	return all, missing
}

// candidates returns the objects of a kind that may be a first one, the best first: some that stand in files of the
// project, and one that is made up.
func (p *Project) candidates(h handled) []starter {
	const most = 8
	name := qualified(h.kind, h.group)
	var all []starter
	for _, w := range p.manifests.written[name] {
		if text := p.document(w); text != nil && len(all) < most {
			all = append(all, starter{name, w.file, text})
		}
	}
	if made, known := p.madeUp(h); known {
		if text := encoded(made); text != nil {
			all = append(all, starter{name, "", text})
		}
	}
	return all
}

// document returns an object of a file as YAML, without comments and without a status, nil if there is none.
func (p *Project) document(w written) []byte {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(w.file)))
	if err != nil {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for number := 0; ; {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return nil
		}
		if len(node.Content) == 0 || node.Content[0].Kind != yaml.MappingNode {
			continue
		}
		if number == w.document {
			object := node.Content[0]
			for i := 0; i+1 < len(object.Content); i += 2 {
				if object.Content[i].Value == "status" {
					object.Content = slices.Delete(object.Content, i, i+2)
					break
				}
			}
			withoutComments(object)
			return encoded(object)
		}
		number++
	}
}

func withoutComments(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	for _, below := range node.Content {
		withoutComments(below)
	}
}

// encoded returns a node as text, nil if it cannot be encoded.
func encoded(node *yaml.Node) []byte {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if encoder.Encode(node) != nil {
		return nil
	}
	return b.Bytes()
}

// hasSample reports whether one of the samples has an object of a kind.
func (m *manifests) hasSample(kind string) bool {
	return slices.ContainsFunc(m.samples, func(file string) bool { return slices.Contains(m.sampled[file], kind) })
}

// LeaveOut has plans do without some samples, such as those that a server refuses.
func (p *Project) LeaveOut(samples ...string) {
	p.manifests.samples = slices.DeleteFunc(p.manifests.samples, func(file string) bool { return slices.Contains(samples, file) })
}

// Refuse has plans do without the object of a kind that they would begin with, as a server says what is wrong with it:
// they take the next one that may do.
func (p *Project) Refuse(kind, why string) {
	if p.refused == nil {
		p.refused = map[string][]string{}
	}
	p.refused[kind] = append(p.refused[kind], why)
}

// madeUp returns a small object of a kind, if something is known of the kind.
func (p *Project) madeUp(h handled) (object *yaml.Node, known bool) {
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
		least, _ := number(schema["minProperties"])
		names := slices.Sorted(maps.Keys(properties))
		chosen := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(required, name) })
		for _, name := range names {
			if len(chosen) < int(least) && !slices.Contains(chosen, name) {
				chosen = append(chosen, name)
			}
		}
		var pairs []any
		for _, name := range chosen {
			pairs = append(pairs, name, example(tree(properties[name])))
		}
		for i := len(chosen); i < int(least) && schema["additionalProperties"] != nil && schema["additionalProperties"] != false; i++ {
			pairs = append(pairs, "example"+strings.Repeat("x", i-len(chosen)), example(tree(schema["additionalProperties"])))
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
	if flag, _ := schema["x-kubernetes-int-or-string"].(bool); flag {
		return 1
	}
	if pattern := text(schema["pattern"]); pattern != "" {
		if word, ok := matching(pattern); ok {
			return word
		}
	}
	if word, known := formatted(text(schema["format"])); known {
		return word
	}
	word := "example"
	if least, ok := number(schema["minLength"]); ok && int(least) > len(word) {
		word += strings.Repeat("x", int(least)-len(word))
	}
	if most, ok := number(schema["maxLength"]); ok && int(most) < len(word) {
		word = word[:max(0, int(most))]
	}
	return word
}

// formatted returns a text in a format that API servers check.
func formatted(format string) (word string, known bool) {
	word, known = map[string]string{
		"date-time": "2030-01-01T00:00:00Z", "date": "2030-01-01", "duration": "1m", "uri": "https://example.com", "hostname": "example.com", "email": "someone@example.com",
		"ipv4": "192.0.2.1", "ip": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24", "mac": "00:00:5e:00:53:01", "uuid": "00000000-0000-4000-8000-000000000000", "byte": "ZXhhbXBsZQ==",
	}[format]
	return word, known
}

// matching returns a text that a pattern matches: a word that suits most of them, or one that is as short as it may be.
func matching(pattern string) (word string, ok bool) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for _, word := range []string{"example", "https://example.com", "example.com", "1", "1m", "1Gi", "1.0.0", "v1.0.0", shortest(tree.Simplify())} {
		if expression.MatchString(word) {
			return word, true
		}
	}
	return "", false
}

// shortest returns a text that a pattern matches, if nothing has to be before or behind it.
func shortest(pattern *syntax.Regexp) string {
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		for _, liked := range "a1A" {
			for i := 0; i+1 < len(pattern.Rune); i += 2 {
				if pattern.Rune[i] <= liked && liked <= pattern.Rune[i+1] {
					return string(liked)
				}
			}
		}
		if len(pattern.Rune) > 0 {
			return string(pattern.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return shortest(pattern.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, part := range pattern.Sub {
			b.WriteString(shortest(part))
		}
		return b.String()
	}
	return ""
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

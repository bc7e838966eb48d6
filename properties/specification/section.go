package specification

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// section is a mapping of a file: names with what is written beside them.
type section struct {
	*document
	node *yaml.Node
	keys []*yaml.Node
	// values are in the order of the keys.
	values []*yaml.Node
}

// section reads a mapping with some of the known fields, each once; without any, a field may have any name. Whatever
// else is there is a mistake.
func (d *document) section(n *yaml.Node, what string, known ...string) *section {
	s := &section{document: d, node: n}
	if n.Kind != yaml.MappingNode {
		d.mistake(d.place(n), "%s is a mapping, that is lines of the form \"name: value\"%s", what, some(known))
		return s
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.mistake(d.place(key), "the name of a field is a text")
		case len(known) > 0 && !slices.Contains(known, key.Value):
			d.mistake(d.place(key), "%s has no field %q%s", what, key.Value, some(known))
		case s.field(key.Value) != nil:
			d.mistake(d.place(key), "the field %q is there already: remove one", key.Value)
		default:
			s.keys, s.values = append(s.keys, key), append(s.values, n.Content[i+1])
		}
	}
	return s
}

// some tells which fields there are.
func some(known []string) string {
	if len(known) == 0 {
		return ""
	}
	return ": use " + strings.Join(known, ", ")
}

// field returns what is written beside a name, nil if it is not there.
func (s *section) field(name string) *yaml.Node {
	i := slices.IndexFunc(s.keys, func(key *yaml.Node) bool { return key.Value == name })
	if i < 0 {
		return nil
	}
	return s.values[i]
}

// list returns the items of a list, none if the field is not there.
func (s *section) list(name string) []*yaml.Node {
	n := s.field(name)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// text returns the text of a field, empty if it is not there or is none.
func (s *section) text(name string) string {
	n := s.field(name)
	if n == nil {
		return ""
	}
	return s.textOf(n)
}

// textOf returns a text that must not be empty.
func (d *document) textOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		d.mistake(d.place(n), "references are not followed: write the text out")
	case n.Kind != yaml.ScalarNode:
		d.mistake(d.place(n), "here a text is needed: put it in quotes if it begins with a bracket")
	case n.Tag == "!!null", strings.TrimSpace(n.Value) == "":
		d.mistake(d.place(n), "here a text is needed, and there is none")
	default:
		return n.Value
	}
	return ""
}

// oneOf returns the text of a field that must be one of some words, the first of them if it is not there.
func (s *section) oneOf(name string, words ...string) string {
	n := s.field(name)
	if n == nil {
		return words[0]
	}
	word := s.textOf(n)
	if word != "" && !slices.Contains(words, word) {
		last := len(words) - 1
		s.mistake(s.place(n), "there is no %s %q: use %s or %s", name, word, strings.Join(words[:last], ", "), words[last])
	}
	return word
}

package specification

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// comparedAs are the fields of which a comparison has exactly one, which is its path.
func comparedAs() []string { return []string{"without", "set", "map"} }

// comparisons reads the rules for comparing objects.
func (d *document) comparisons(top *section) []core.Comparison {
	if n := top.field("compare"); n != nil && n.Kind != yaml.SequenceNode {
		d.mistake(d.place(n), "compare is a list of rules, each with one of the fields %s", strings.Join(comparedAs(), ", "))
	}
	var all []core.Comparison
	for _, node := range top.list("compare") {
		s := d.section(node, "a comparison", append([]string{"of", "by", "except"}, comparedAs()...)...)
		if node.Kind != yaml.MappingNode {
			continue
		}
		said := slices.DeleteFunc(comparedAs(), func(name string) bool { return s.field(name) == nil })
		if len(said) != 1 {
			d.mistake(d.place(node), "a comparison has exactly one of the fields %s", strings.Join(comparedAs(), ", "))
			continue
		}
		c := core.Comparison{Objects: core.Kind(cmp.Or(s.text("of"), "*")), Keys: s.texts("by"), Except: s.texts("except")}
		c.As = map[string]core.ComparedAs{"without": core.AsAbsent, "set": core.AsSet, "map": core.AsMap}[said[0]]
		if value := s.field(said[0]); value.Value != "*" || said[0] != "without" {
			c.Path = s.text(said[0])
		}
		if n := s.field("by"); n != nil && c.As != core.AsMap {
			d.mistake(d.place(n), "only a map has keys: leave by out")
		}
		if n := s.field("except"); n != nil && c.As == core.AsAbsent {
			d.mistake(d.place(n), "a rule that ignores a field has no exceptions: leave except out")
		}
		if err := properties.ValidateComparisons([]core.Comparison{c}); err != nil {
			d.mistake(d.place(s.field(said[0])), "%v", err)
		}
		all = append(all, c)
	}
	return all
}

// texts returns the texts of a list, none if the field is not there.
func (s *section) texts(name string) []string {
	n := s.field(name)
	if n != nil && n.Kind != yaml.SequenceNode {
		s.mistake(s.place(n), "%s is a list of names", name)
		return nil
	}
	var all []string
	for _, item := range s.list(name) {
		all = append(all, s.textOf(item))
	}
	return all
}

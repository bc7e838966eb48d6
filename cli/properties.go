package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/typo"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/properties/ltl"
	"github.com/orrery-dev/orrery/properties/specification"
)

// chosen returns the properties to check: the system's own and those of the files; of these and of all that the command
// knows, those that were asked for by name, and those that were asked for by a formula, if any were asked for. With
// them come the comparisons of the files.
func (s *session) chosen(system *core.System, asked, files []string) (specification.File, error) {
	var none specification.File
	var comparisons []core.Comparison
	own := slices.Clip(system.Properties)
	terms := specification.Of(system)
	terms.Properties = distinct(own, s.Engine.Properties)
	for _, path := range files {
		given, err := terms.OpenFile(path)
		if err != nil {
			return none, err
		}
		own = distinct(own, given.Properties) // one of the catalogue may be there already
		comparisons = append(comparisons, given.Comparisons...)
		terms.Properties = distinct(own, s.Engine.Properties)
	}
	if len(asked) == 0 {
		return specification.File{Properties: own, Comparisons: comparisons}, nil
	}
	var chosen []core.Property
	for _, p := range terms.Properties {
		if slices.Contains(asked, p.Name) {
			chosen = append(chosen, p)
		}
	}
	for _, text := range asked {
		if slices.ContainsFunc(terms.Properties, called(text)) {
			continue
		}
		p, found, err := terms.Named(text)
		if err != nil {
			return none, fmt.Errorf("property %q: %w", text, err)
		}
		if !found {
			if p, err = terms.Formula(text); err != nil {
				return none, neither(text, terms.Properties, err)
			}
		}
		if !slices.ContainsFunc(chosen, called(p.Name)) { // it may be asked for twice, in other spellings
			chosen = append(chosen, p)
		}
	}
	return specification.File{Properties: chosen, Comparisons: comparisons}, nil
}

// comparisons returns the rules that leave out fields.
func comparisons(without []string) ([]core.Comparison, error) {
	var all []core.Comparison
	for _, text := range without {
		c, err := properties.ParseComparison(text)
		if err != nil {
			return nil, fmt.Errorf("--without %q: %w", text, err)
		}
		all = append(all, c)
	}
	return all, nil
}

func called(name string) func(core.Property) bool {
	return func(p core.Property) bool { return p.Name == name }
}

// distinct returns the properties of both lists, of two of a name the first.
func distinct(first, second []core.Property) []core.Property {
	var all []core.Property
	for _, p := range slices.Concat(first, second) {
		if !slices.ContainsFunc(all, called(p.Name)) {
			all = append(all, p)
		}
	}
	return all
}

// neither returns an error about a text that is neither the name of a property nor a formula, as the error says. What
// has signs or can be taken apart is meant as a formula, and a single word, or what is much like a name, as a name.
func neither(text string, known []core.Property, err error) error {
	if strings.ContainsAny(text, "!&|()<>[]~'\"") {
		return err
	}
	names := make([]string, len(known))
	for i, p := range known {
		names[i] = p.Name
	}
	if similar := typo.Nearest(text, slices.Sorted(slices.Values(names))); similar != "" {
		return fmt.Errorf("there is no property %q: did you mean %q? Known properties are %s", text, similar, enumeration(names))
	}
	_, unparsed := ltl.Parse(text)
	words := strings.Fields(text)
	if unparsed == nil && len(words) > 1 {
		return err
	}
	wrong := fmt.Errorf("there is no property %q: choose from %s, or give a formula", text, enumeration(names))
	if len(words) == 1 {
		return wrong
	}
	return fmt.Errorf("%w. It is not a valid formula either:\n%w", wrong, err)
}

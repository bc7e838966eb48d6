package canonical

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// List is a list whose order the user says means nothing.
type List struct {
	Kind core.Kind
	Path string
}

// unorderedLists returns the paths of such lists by kind, as outcomes write them.
func (f *Form) unorderedLists(lists []List) (map[core.Kind]map[string]bool, error) {
	byKind := map[core.Kind]map[string]bool{}
	for _, list := range lists {
		path, err := f.unorderedPath(list)
		if err != nil {
			return nil, fmt.Errorf("the list %q of %s, of which the order is to mean nothing: %w", list.Path, list.Kind, err)
		}
		if byKind[list.Kind] == nil {
			byKind[list.Kind] = map[string]bool{}
		}
		byKind[list.Kind][path] = true
	}
	return byKind, nil
}

// unorderedPath checks that there may be a list at the path.
func (f *Form) unorderedPath(list List) (string, error) {
	r := f.registry.Named(list.Kind)
	if r == nil {
		return "", fmt.Errorf("the API server has no such kind: it serves %s", f.kindsLike(list.Kind))
	}
	names, err := splitPath(list.Path)
	if err != nil {
		return "", err
	}
	path, at := "", f.places.of(r)
	for _, name := range names {
		for at != nil && at.list {
			at = at.items // the path has no positions
		}
		if at != nil && !at.open && !at.declares(name) {
			return "", fmt.Errorf("%s has no field %q: %s", cmp.Or(path, "the object"), name, at.declared())
		}
		path, at = core.FieldOf(path, name), at.field(name)
	}
	if at != nil && !at.list {
		return "", errors.New("it is no list: name the path of a list")
	}
	return path, nil
}

// declares reports whether there can be a field of the name.
func (p *place) declares(name string) bool {
	_, declared := p.fields[name]
	return declared || p.items != nil && !p.list
}

// declared says which fields there are.
func (p *place) declared() string {
	if len(p.fields) == 0 {
		return "it has no fields"
	}
	return "it has " + strings.Join(slices.Sorted(maps.Keys(p.fields)), ", ")
}

// kindsLike are the kinds of the same name, or all.
func (f *Form) kindsLike(kind core.Kind) string {
	name, _, _ := strings.Cut(string(kind), ".")
	var like, all []string
	for _, known := range f.registry.Kinds() {
		all = append(all, string(known))
		if short, _, _ := strings.Cut(string(known), "."); strings.EqualFold(short, name) {
			like = append(like, string(known))
		}
	}
	if len(like) > 0 {
		return strings.Join(like, ", ")
	}
	return strings.Join(all, ", ")
}

// splitPath splits a path into the names of fields, of which those in brackets are quoted.
func splitPath(path string) ([]string, error) {
	var names []string
	for rest := path; rest != ""; {
		rest = strings.TrimPrefix(rest, ".")
		quoted, bracketed := strings.CutPrefix(rest, "[")
		if !bracketed {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, errors.New("a name in it is empty: write it as spec.groups.members")
			}
			names, rest = append(names, rest[:end]), rest[end:]
			continue
		}
		name, err := strconv.QuotedPrefix(quoted)
		if err != nil || !strings.HasPrefix(quoted[len(name):], "]") {
			return nil, errors.New(`what stands in brackets is no name in quotes: leave out positions in lists, and write other names as metadata.annotations["example.com/name"]`)
		}
		unquoted, err := strconv.Unquote(name)
		if err != nil {
			return nil, err
		}
		names, rest = append(names, unquoted), quoted[len(name)+1:]
	}
	if len(names) == 0 {
		return nil, errors.New("it is empty: name the field, as in spec.groups.members")
	}
	return names, nil
}

package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// marker is a comment that controller-gen makes permissions of.
type marker struct{ groups, resources, verbs []string }

const markerPrefix = "+kubebuilder:rbac:"

// findMarkers reads the markers for permissions.
func (p *Project) findMarkers() {
	for _, f := range p.sources() {
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				said := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
				if arguments, ok := strings.CutPrefix(said, markerPrefix); ok {
					p.markers = append(p.markers, parseMarker(arguments))
				}
			}
		}
	}
}

func parseMarker(arguments string) marker {
	var m marker
	for argument := range strings.SplitSeq(arguments, ",") {
		key, values, _ := strings.Cut(argument, "=")
		var all []string
		for value := range strings.SplitSeq(values, ";") {
			all = append(all, strings.Trim(strings.TrimSpace(value), `"`))
		}
		switch strings.TrimSpace(key) {
		case "groups":
			for i, group := range all {
				if group == "core" { // which stands for the group without a name
					all[i] = ""
				}
			}
			m.groups = all
		case "resources":
			m.resources = all
		case "verbs":
			m.verbs = all
		}
	}
	return m
}

// allows reports whether the markers allow a verb.
func (p *Project) allows(verb, group, resource string) bool {
	has := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
	return slices.ContainsFunc(p.markers, func(m marker) bool {
		return has(m.groups, group) && has(m.resources, resource) && has(m.verbs, verb)
	})
}

// denied says what the markers do not allow with the kinds that controllers watch, a line for each kind. There is
// nothing to say of a project without markers.
func (p *Project) denied() []string {
	if len(p.markers) == 0 {
		return nil
	}
	var lines []string
	seen := map[string]bool{}
	for _, h := range p.handled() {
		resource := p.resource(h)
		name := qualified(resource, h.group)
		if seen[name] {
			continue
		}
		seen[name] = true
		var missing, needed []string
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
			switch allowed := p.allows(verb, h.group, resource); {
			case allowed:
			case verb == "list" || verb == "watch":
				needed = append(needed, verb)
			default:
				missing = append(missing, verb)
			}
		}
		if len(needed) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s, which %s needs to watch them: add +kubebuilder:rbac:groups=%s,resources=%s,verbs=get;list;watch", name, strings.Join(needed, ", "), h.by, orEmpty(h.group), resource))
		}
		if len(missing) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", name, strings.Join(missing, ", ")))
		}
	}
	return lines
}

// orEmpty is a group as it is written in a marker.
func orEmpty(group string) string {
	if group == "" {
		return `""`
	}
	return group
}

// resource returns the plural of a kind, from its definition or by the usual rules.
func (p *Project) resource(h handled) string {
	for _, k := range p.manifests.kinds {
		if k.kind == h.kind && k.group == h.group {
			return k.plural
		}
	}
	name := strings.ToLower(h.kind)
	switch {
	case strings.HasSuffix(name, "endpoints"):
		return name
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "x"):
		return name + "es"
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "ay"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

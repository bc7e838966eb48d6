package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// link finds the target of a link in Markdown.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks wants links within the repository to lead somewhere: to a file, a
// folder, or a heading of a document.
func checkLinks(t *tree, complain complain) {
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" || strings.Contains(f.path, "testdata/") {
			continue
		}
		for number, line := range strings.Split(string(f.text), "\n") {
			for _, found := range link.FindAllStringSubmatch(line, -1) {
				target := found[1]
				if !strings.Contains(target, "://") && !t.has(f, target) {
					complain(fmt.Sprintf("%s:%d", f.path, number+1), "the link to %s leads nowhere", target)
				}
			}
		}
	}
}

// has reports whether the target of a link in a file is there.
func (t *tree) has(from *file, target string) bool {
	name, heading, _ := strings.Cut(target, "#")
	if name == "" {
		name = from.path
	} else {
		name = path.Join(from.folder(), name)
	}
	if heading == "" && slices.Contains(t.others, name) {
		return true
	}
	return slices.ContainsFunc(t.files, func(f *file) bool {
		if f.path != name {
			return heading == "" && strings.HasPrefix(f.path, strings.TrimSuffix(name, "/")+"/")
		}
		return heading == "" || slices.Contains(anchors(f), heading)
	})
}

// anchors returns the names by which the headings of a document can be linked to.
func anchors(document *file) []string {
	var names []string
	for line := range strings.Lines(string(document.text)) {
		title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !isHeading || !strings.HasPrefix(line, "#") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title))))
	}
	return names
}

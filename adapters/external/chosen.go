package external

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Which names a part has chosen depends on the order in which it was asked. Outcomes that differ in nothing else are
// the same. So each chosen name is replaced, wherever it stands as a word of its own, by a number; and which name gets
// which number depends only on what the objects say. That is the canonical labelling of a graph: names get colours by
// where they stand, in rounds, until no more can be told apart (colour refinement); of those that are left, each is
// tried in turn as the first, and the least result counts.

// mostLabellings bounds how many ways are tried. With more, names that look alike keep the order of their texts: then
// outcomes may be taken for different that are the same, and never the other way round.
const mostLabellings = 720

// withoutChosen returns an outcome in a form that does not depend on which names were chosen.
func withoutChosen(names []string, outcome map[core.Key]any) map[core.Key]any {
	l := &labelling{}
	for _, key := range slices.SortedFunc(maps.Keys(outcome), core.Key.Compare) {
		text, err := encoded([]any{key.Kind, key.Namespace, key.Name, outcome[key]})
		if err != nil {
			panic("external: an outcome cannot be written as JSON: " + err.Error())
		}
		l.texts = append(l.texts, text)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != "" && slices.ContainsFunc(l.texts, func(text string) bool { return mentions(text, name) }) {
			l.names = append(l.names, name)
		}
	}
	if len(l.names) == 0 {
		return outcome
	}
	labels := l.labels()
	rename := func(text string) string { return exchanged(text, labels) }
	canonical := make(map[core.Key]any, len(outcome))
	for key, value := range outcome {
		key = core.Key{Kind: key.Kind, Namespace: rename(key.Namespace), Name: rename(key.Name)}
		canonical[key] = renamed(value, rename)
	}
	return canonical
}

// labelling finds labels for names in texts.
type labelling struct {
	names []string
	texts []string
	// tried is how many labellings were looked at.
	tried int
}

// labels returns the label of each name.
func (l *labelling) labels() map[string]string {
	colours := map[string]string{}
	for _, name := range l.names {
		colours[name] = ""
	}
	best, _ := l.search(colours)
	return best
}

// search returns the labels that lead to the least text, with that text.
func (l *labelling) search(colours map[string]string) (map[string]string, string) {
	colours = l.refine(colours)
	alike := l.alike(colours)
	if alike == nil {
		l.tried++
		labels := l.numbered(colours)
		return labels, l.render(labels)
	}
	var best map[string]string
	var least string
	for _, first := range alike {
		individual := maps.Clone(colours)
		individual[first] += " first"
		labels, text := l.search(individual)
		if best == nil || text < least {
			best, least = labels, text
		}
		if l.tried >= mostLabellings {
			break
		}
	}
	return best, least
}

// alike returns the first names that have the same colour, nil if all differ.
func (l *labelling) alike(colours map[string]string) []string {
	of := map[string][]string{}
	for _, name := range l.names {
		of[colours[name]] = append(of[colours[name]], name)
	}
	for _, colour := range slices.Sorted(maps.Keys(of)) {
		if len(of[colour]) > 1 {
			return of[colour]
		}
	}
	return nil
}

// refine gives names other colours if they stand at other places, as long as that tells more of them apart.
func (l *labelling) refine(colours map[string]string) map[string]string {
	for count := 0; ; {
		next := map[string]string{}
		distinct := map[string]bool{}
		for _, name := range l.names {
			around := maps.Clone(colours)
			around[name] = "this one"
			var places []string
			for _, text := range l.texts {
				if mentions(text, name) {
					places = append(places, exchanged(text, around))
				}
			}
			slices.Sort(places)
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", colours[name], places))
			next[name] = hex.EncodeToString(sum[:])
			distinct[next[name]] = true
		}
		if colours = next; len(distinct) == count {
			return colours
		}
		count = len(distinct)
	}
}

// numbered returns the labels of names that all have their own colour.
func (l *labelling) numbered(colours map[string]string) map[string]string {
	ordered := slices.SortedFunc(slices.Values(l.names), func(a, b string) int { return strings.Compare(colours[a], colours[b]) })
	labels := map[string]string{}
	for i, name := range ordered {
		labels[name] = fmt.Sprintf("<%d>", i+1)
		if prefix, _, dashed := strings.Cut(name, "-"); dashed {
			labels[name] = prefix + "-" + labels[name]
		}
	}
	return labels
}

// render returns all texts with labels.
func (l *labelling) render(labels map[string]string) string {
	texts := make([]string, len(l.texts))
	for i, text := range l.texts {
		texts[i] = exchanged(text, labels)
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// renamed returns a value with texts exchanged.
func renamed(value any, rename func(string) string) any {
	switch value := value.(type) {
	case string:
		return rename(value)
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = renamed(item, rename)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, field := range value {
			fields[rename(name)] = renamed(field, rename)
		}
		return fields
	}
	return value
}

// mentions reports whether a name stands in a text as a word of its own.
func mentions(text, name string) bool { return next(text, name, 0) >= 0 }

// next returns where a name stands in a text from a place on, -1 if it does not.
func next(text, name string, from int) int {
	for {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return -1
		}
		at += from
		if end := at + len(name); (at == 0 || !inWord(text[at-1])) && (end == len(text) || !inWord(text[end])) {
			return at
		}
		from = at + 1
	}
}

// inWord reports whether a byte next to a name makes it part of another one.
func inWord(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// exchanged returns a text with each of the names replaced where it stands. Of names that begin at the same place the
// longest counts.
func exchanged(text string, by map[string]string) string {
	var b strings.Builder
	for from := 0; from < len(text); {
		at, found := len(text), ""
		for _, name := range slices.Sorted(maps.Keys(by)) {
			if i := next(text, name, from); i >= 0 && (i < at || i == at && len(name) > len(found)) {
				at, found = i, name
			}
		}
		b.WriteString(text[from:at])
		if found != "" {
			b.WriteString(by[found])
		}
		from = at + len(found)
	}
	return b.String()
}

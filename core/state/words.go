package state

import (
	"cmp"
	"slices"
	"strings"
)

// words finds names in texts: where no letter or digit is next to them, the longest first.
type words struct {
	names []string
	// longest are the numbers of the names, the longest name first.
	longest []int
}

func newWords(names []string) words {
	w := words{names: names}
	for i := range names {
		w.longest = append(w.longest, i)
	}
	slices.SortStableFunc(w.longest, func(a, b int) int { return cmp.Compare(len(names[b]), len(names[a])) })
	return w
}

// replace returns a text with each name replaced.
func (w words) replace(text string, by func(name int) string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(text); {
		name := w.at(text, at)
		if name < 0 {
			at++
			continue
		}
		b.WriteString(text[done:at])
		b.WriteString(by(name))
		at += len(w.names[name])
		done = at
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// in returns the names that are in a text, each once and in order.
func (w words) in(text string) []int {
	var found []int
	w.replace(text, func(name int) string {
		found = append(found, name)
		return ""
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// at returns the name that begins at a place, -1 if there is none.
func (w words) at(text string, at int) int {
	if at > 0 && inWord(text[at-1]) {
		return -1
	}
	for _, name := range w.longest {
		end := at + len(w.names[name])
		if strings.HasPrefix(text[at:], w.names[name]) && (end == len(text) || !inWord(text[end])) {
			return name
		}
	}
	return -1
}

// inWord reports whether a byte is of a letter or a digit. All that is not ASCII counts as letters.
func inWord(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

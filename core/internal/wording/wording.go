// Package wording compares texts that are the same but for words, such as the names of objects.
package wording

import (
	"regexp"
	"strings"
)

// words finds the words of a text.
var words = regexp.MustCompile(`[0-9A-Za-z]+(?:[-._][0-9A-Za-z]+)*`)

// Words returns the words of a text, among them names and numbers.
func Words(text string) []string { return words.FindAllString(text, -1) }

// AlikeButFor reports whether two texts are the same but for words: wherever the first has the one the second has the
// other, and neither is a number or among the words that are old to its text.
func AlikeButFor(oldToOne, oldToOther map[string]bool, one, other string) bool {
	if words.ReplaceAllLiteralString(one, "x") != words.ReplaceAllLiteralString(other, "x") {
		return false
	}
	ones, others := Words(one), Words(other)
	there, back := map[string]string{}, map[string]string{}
	for i, a := range ones {
		b := others[i]
		if known, ok := there[a]; ok && known != b {
			return false
		}
		if known, ok := back[b]; ok && known != a {
			return false
		}
		there[a], back[b] = b, a
		if a != b && (oldToOne[a] || oldToOther[b] || numeric(a) || numeric(b)) {
			return false
		}
	}
	return true
}

// numeric reports whether a word may count something. What counts is short, in contrast to what stands for a version.
func numeric(word string) bool {
	const mostDigits = 8
	return len(word) <= mostDigits && strings.Trim(word, "0123456789.-_") == ""
}

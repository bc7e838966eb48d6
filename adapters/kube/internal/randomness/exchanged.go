package randomness

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// Code may draw passwords in the order of a map: which of them is for what is another thing each time, although it draws
// the same. What it comes to is the same but for words that stand for each other.

// Exchanged reports whether a run has put the words that it draws to use in another order, as [core.Randomness] wants it.
func (s *Source) Exchanged(run, other core.Drawn, given [][]string) bool {
	drawn := map[string]bool{}
	c := newComparison(2)
	c.known = &known{s, drawn}
	for i, text := range run.Texts {
		if i >= len(other.Texts) {
			return false
		}
		if words := s.In(text); len(words) > 0 {
			var known []string
			for _, text := range given[i] {
				known = append(known, s.In(text)...)
			}
			for _, word := range words {
				drawn[word] = drawn[word] || !slices.Contains(known, word)
			}
		}
		if c.compare([]plaintext.Piece{plaintext.Dissect(text), plaintext.Dissect(other.Texts[i])}); c.odd > 0 {
			return false
		}
	}
	return c.exchanged(run.Texts, other.Texts, given)
}

// exchanged reports whether any words of a run stand for others, each for another one of its length, wherever they stand.
// Those that it was given do not.
func (c *comparison) exchanged(texts, others []string, given [][]string) bool {
	var pairs []string
	used := map[string]bool{}
	isGiven := func(word string) bool {
		return slices.ContainsFunc(slices.Concat(given...), func(text string) bool { return strings.Contains(plaintext.Of(text), word) })
	}
	longer := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, word := range slices.SortedFunc(maps.Keys(c.known.drawn), longer) { // the replacer takes the first that fits
		image := cmp.Or(c.images[1][word], word)
		if used[image] || len(image) != len(word) || image != word && !c.known.drawn[image] && isGiven(image) {
			return false
		}
		used[image] = true
		pairs = append(pairs, word, image)
	}
	images := strings.NewReplacer(pairs...)
	for i, text := range texts {
		if images.Replace(plaintext.Of(text)) != plaintext.Of(others[i]) {
			return false
		}
	}
	return len(c.images[1]) > 0
}

// known are the words that a run has drawn.
type known struct {
	source *Source
	drawn  map[string]bool
}

// compareKnown compares a text of a run with that of another one, which has words in the places of those that are known.
func (c *comparison) compareKnown(text, other string) {
	words := slices.DeleteFunc(c.known.source.apart(text), func(w span) bool { return !c.known.drawn[text[w.from:w.to]] })
	pattern, at := strings.Builder{}, 0
	for _, w := range words {
		pattern.WriteString(regexp.QuoteMeta(text[at:w.from]) + "(.+)")
		at = w.to
	}
	var images []string
	if form, err := regexp.Compile("(?s)^" + pattern.String() + regexp.QuoteMeta(text[at:]) + "$"); err == nil { // words may begin in the midst of a character
		images = form.FindStringSubmatch(other)
	}
	if images == nil {
		c.odd = 1
		return
	}
	for i, w := range words {
		word := text[w.from:w.to]
		c.stand(word, []string{word, images[i+1]})
	}
}

// apart returns where words stand in a text, of those that overlap the last.
func (s *Source) apart(text string) []span {
	var apart []span
	for _, w := range s.spans(text) {
		apart = append(slices.DeleteFunc(apart, func(before span) bool { return before.to > w.from }), w)
	}
	return apart
}

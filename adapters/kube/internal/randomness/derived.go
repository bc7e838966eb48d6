package randomness

import (
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// Derived returns the words that follow from what a run was given, as [core.Randomness] wants it.
func (s *Source) Derived(run, varied core.Drawn, given [][]string) []string {
	derived := map[string]bool{}
	for i, text := range run.Texts {
		if i >= len(varied.Texts) || text == varied.Texts[i] {
			continue
		}
		words := map[string]bool{}
		s.differing(plaintext.Dissect(text), plaintext.Dissect(varied.Texts[i]), words)
		for _, text := range given[i] {
			for _, word := range s.Within(plaintext.Of(text)) {
				delete(words, word)
			}
		}
		maps.Copy(derived, words)
	}
	return slices.Sorted(maps.Keys(derived))
}

// differing adds the words of a piece that are others in another run, and reports whether the pieces differ. Where they
// do so in nothing that is in plain letters, all of its words follow from the same as what is not: the signature of a
// certificate is left out there.
func (s *Source) differing(one, other plaintext.Piece, words map[string]bool) bool {
	found := false
	if len(one.Parts) == len(other.Parts) {
		for i := range one.Parts {
			found = s.differing(one.Parts[i], other.Parts[i], words) || found
		}
	}
	if found || one.Plain == other.Plain && one.Quoted == other.Quoted {
		return found
	}
	texts := []string{one.Plain}
	if ones, others := token.FindAllString(one.Plain, -1), token.FindAllString(other.Plain, -1); len(ones) == len(others) && !slices.Equal(ones, others) {
		texts = nil
		for i, text := range ones {
			if text != others[i] {
				texts = append(texts, text)
			}
		}
	}
	for _, text := range texts {
		for _, word := range s.Within(text) {
			words[word] = true
		}
	}
	return true
}

// Follow records from which texts words follow, as [core.Randomness] wants it: from the words in them. Where it is found
// out again, along another way, it is from those that were found both times.
func (s *Source) Follow(words map[string][]string) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		within := map[string]bool{}
		for _, text := range words[word] {
			for _, from := range s.Within(plaintext.Of(text)) {
				within[from] = true
			}
		}
		s.mu.Lock()
		from := slices.DeleteFunc(slices.Sorted(maps.Keys(within)), func(from string) bool {
			_, follows := words[from] // from the same as the word, if the word follows from it
			return follows || s.words[from] >= s.words[word]
		})
		both := slices.DeleteFunc(slices.Clone(from), func(from string) bool { return !slices.Contains(s.origins[word], from) })
		switch {
		case len(from) == 0:
		case s.origins == nil:
			s.origins = map[string][]string{word: from}
		case s.origins[word] == nil:
			s.origins[word] = from
		case len(both) > 0:
			s.origins[word] = both
		}
		s.mu.Unlock()
	}
}

// Origins returns the words from which a word follows.
func (s *Source) Origins(word string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[word]
}

package randomness

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// Derived returns the words that follow from what a run was given, as [core.Randomness] wants it. Where a text is
// another one with the same words, as a certificate is that another key has signed, its signature counts as a word.
func (s *Source) Derived(run, varied core.Drawn, given [][]string) []string {
	derived := map[string]bool{}
	for i, text := range run.Texts {
		if i >= len(varied.Texts) || text == varied.Texts[i] {
			continue
		}
		words := map[string]bool{}
		if s.differing(plaintext.Dissect(text), plaintext.Dissect(varied.Texts[i]), words); len(words) == 0 {
			continue
		}
		for _, text := range given[i] {
			for _, word := range s.In(text) {
				delete(words, word)
			}
			delete(words, signature(text))
		}
		maps.Copy(derived, words)
	}
	return slices.Sorted(maps.Keys(derived))
}

// differing adds the words of a piece that do not stand in another one, and reports whether the pieces differ.
func (s *Source) differing(one, other plaintext.Piece, words map[string]bool) bool {
	found := false
	if len(one.Parts) == len(other.Parts) {
		for i := range one.Parts {
			found = s.differing(one.Parts[i], other.Parts[i], words) || found
		}
	}
	switch {
	case found:
	case one.Plain != other.Plain:
		for _, word := range s.Within(one.Plain) {
			if !strings.Contains(other.Plain, word) {
				words[word] = true
			}
		}
		return true
	case one.Quoted != other.Quoted:
		words[signature(one.Quoted)] = true
		return true
	}
	return found
}

// signature stands for what of a text is not in plain letters: that of the text, also in base64, as the server writes
// what a Secret is given in letters.
func signature(text string) string {
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(decoded) {
		text = string(decoded)
	}
	return fmt.Sprintf("%s%x", signed, sha256.Sum256([]byte(text)))
}

// signed is what all signatures begin with.
const signed = "signature-"

// Signs reports whether there are signatures that follow from anything.
func (s *Source) Signs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signs
}

// Signature returns the word that stands for the signature in a text, empty if it does not follow from anything that
// is known.
func (s *Source) Signature(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if word := signature(text); s.origins[word] != nil {
		return word
	}
	return ""
}

// Follow records from which texts words follow, as [core.Randomness] wants it: from the words in them. Where it is found
// out again, along another way, it is from those that were found both times, if there are any.
func (s *Source) Follow(words map[string][]string) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		within := map[string]bool{}
		for _, text := range words[word] {
			for _, from := range s.In(text) {
				within[from] = true
			}
		}
		if strings.HasPrefix(word, signed) {
			s.learn([]string{word})
		}
		s.follow(word, slices.DeleteFunc(slices.Sorted(maps.Keys(within)), func(from string) bool {
			_, follows := words[from] // from the same as the word, if the word follows from it
			return follows
		}))
	}
}

func (s *Source) follow(word string, from []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.origins[word]
	from = slices.DeleteFunc(from, func(from string) bool { return s.reaches(from, word, map[string]bool{}) })
	both := slices.DeleteFunc(slices.Clone(from), func(from string) bool { return !slices.Contains(known, from) })
	switch {
	case len(from) == 0:
		return
	case known == nil:
		s.origins[word] = from
	case len(both) > 0:
		s.origins[word] = both
	}
	s.signs = s.signs || strings.HasPrefix(word, signed)
}

// reaches reports whether a word is another one, or follows from it.
func (s *Source) reaches(word, other string, seen map[string]bool) bool {
	if seen[word] {
		return false
	}
	seen[word] = true
	return word == other || slices.ContainsFunc(s.origins[word], func(from string) bool { return s.reaches(from, other, seen) })
}

// Origins returns all words from which a word follows, directly or through others.
func (s *Source) Origins(word string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]bool{}
	for rest := s.origins[word]; len(rest) > 0; rest = rest[1:] {
		if !found[rest[0]] {
			found[rest[0]] = true
			rest = slices.Concat(rest, s.origins[rest[0]])
		}
	}
	return slices.Sorted(maps.Keys(found))
}

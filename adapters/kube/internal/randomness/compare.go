package randomness

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// Passwords, UUIDs, keys and certificates are drawn by code of which nobody knows how it makes them of what it reads.
// So words are found by comparison: runs that draw other values are the same, but for words that are others in each of
// them. What is one of a few, such as a choice among backends, is the same in some of the runs: it decides something,
// and is no word.

// Compare compares runs, as [core.Randomness] wants it. A word stands for the one that stands first in another run
// where it stands first: code may draw several names and sort them before it puts them to use, and which of them it
// drew first makes no difference.
func (s *Source) Compare(all []core.Drawn, given bool) (run, text int) {
	runs := make([]core.Drawn, len(all))
	for i, run := range all {
		runs[i] = core.Drawn{Texts: run.Texts, Words: inOrder(run)}
	}
	c := newComparison(len(runs))
	defer func() {
		s.learn(c.words)
		s.learnOthers(c.quoted, c.renamed(runs), given)
	}()
	replacers := make([]*strings.Replacer, len(runs))
	for i, run := range runs {
		replacers[i] = numbered(run.Words, runs[0].Words) // answers have the words of the first run
	}
	for text := range runs[0].Texts {
		if !slices.ContainsFunc(runs[1:], func(run core.Drawn) bool { return run.Texts[text] != runs[0].Texts[text] }) {
			continue // if it has a word in it, that was drawn by who wrote what the run was given
		}
		pieces := make([]plaintext.Piece, len(runs))
		for i, run := range runs {
			pieces[i] = plaintext.Dissect(run.Texts[text])
		}
		unnamed := make([]plaintext.Piece, len(runs))
		for i, p := range pieces {
			unnamed[i] = renamed(p, replacers[i])
		}
		if c.compare(unnamed); c.odd > 0 {
			return c.odd, text
		}
		c.quote(pieces)
	}
	return 0, -1
}

// Echoes returns what stands in JSON in the texts of a run, for what stood in those of a recorded one. Whether it is
// words by which they differ is to be seen once all runs are compared.
func Echoes(recorded, observed []string) map[string]string {
	c := newComparison(2)
	for i, text := range observed {
		if i < len(recorded) && text != recorded[i] {
			c.quote([]plaintext.Piece{plaintext.Dissect(recorded[i]), plaintext.Dissect(text)})
		}
	}
	echoes := map[string]string{}
	for text, both := range c.quoted {
		echoes[text] = both[1]
	}
	return echoes
}

// inOrder returns the words of a run in the order in which they stand in its texts first. Those that stand in none come
// last.
func inOrder(run core.Drawn) []string {
	if len(run.Words) < 2 {
		return run.Words
	}
	at := make(map[string][]int, len(run.Words))
	for _, word := range run.Words {
		at[word] = []int{len(run.Texts), 0}
		for i, text := range run.Texts {
			if begin := strings.Index(plaintext.Of(text), word); begin >= 0 {
				at[word] = []int{i, begin}
				break
			}
		}
	}
	words := slices.Clone(run.Words)
	slices.SortStableFunc(words, func(a, b string) int { return slices.Compare(at[a], at[b]) })
	return words
}

// numbered replaces the words of some lists by what numbers them in their list.
func numbered(lists ...[]string) *strings.Replacer {
	var pairs []string
	for _, words := range lists {
		for i, word := range words {
			pairs = append(pairs, word, "\x00"+strconv.Itoa(i)+"\x00")
		}
	}
	return strings.NewReplacer(pairs...)
}

// renamed replaces words in a piece.
func renamed(p plaintext.Piece, words *strings.Replacer) plaintext.Piece {
	p.Plain = words.Replace(p.Plain)
	parts := make([]plaintext.Piece, len(p.Parts))
	for i, part := range p.Parts {
		parts[i] = renamed(part, words)
	}
	p.Parts = parts
	return p
}

// comparison is one of several runs.
type comparison struct {
	runs int
	// images are what stands in a run for the words of the first one, and originals the words that it stands for.
	images, originals []map[string]string
	words             []string
	// quoted are the texts in JSON that differ: those of all runs, for each of the first one.
	quoted map[string][]string
	// odd is the first run that differs in more than words, 0 if there is none.
	odd int
	// known are the words of the first run. If there are none, they are to be found out.
	known *known
}

func newComparison(runs int) *comparison {
	c := &comparison{runs: runs, quoted: map[string][]string{}, images: make([]map[string]string, runs), originals: make([]map[string]string, runs)}
	for i := range runs {
		c.images[i], c.originals[i] = map[string]string{}, map[string]string{}
	}
	return c
}

// renamed returns what stands in each run for the words of the first one.
func (c *comparison) renamed(runs []core.Drawn) map[string][]string {
	renamed := map[string][]string{}
	for _, word := range c.words {
		texts := []string{word}
		for run := 1; run < c.runs; run++ {
			texts = append(texts, c.images[run][word])
		}
		renamed[word] = texts
	}
	for at, word := range runs[0].Words {
		var texts []string
		for _, run := range runs {
			if at < len(run.Words) {
				texts = append(texts, run.Words[at])
			}
		}
		if len(texts) == len(runs) {
			renamed[word] = texts
		}
	}
	return renamed
}

// differ reports whether a piece is not the same in all runs.
func differ(pieces []plaintext.Piece) bool {
	return slices.ContainsFunc(pieces, func(p plaintext.Piece) bool { return p.Plain != pieces[0].Plain })
}

// each calls a function with each part of a piece of all runs, until it returns false. The piece has as many parts in
// each.
func each(pieces []plaintext.Piece, visit func([]plaintext.Piece) bool) {
	for i := range pieces[0].Parts {
		parts := make([]plaintext.Piece, len(pieces))
		for run, p := range pieces {
			parts[run] = p.Parts[i]
		}
		if !visit(parts) {
			return
		}
	}
}

// quote records the texts in JSON that differ.
func (c *comparison) quote(pieces []plaintext.Piece) {
	if !differ(pieces) {
		return
	}
	first := pieces[0]
	if first.Quoted != "" {
		texts := make([]string, len(pieces))
		for i, p := range pieces {
			texts[i] = p.Quoted
		}
		c.quoted[first.Quoted] = texts
	}
	if slices.ContainsFunc(pieces, func(p plaintext.Piece) bool { return len(p.Parts) != len(first.Parts) }) {
		return
	}
	each(pieces, func(parts []plaintext.Piece) bool {
		c.quote(parts)
		return true
	})
}

// compare compares a piece of all runs.
func (c *comparison) compare(pieces []plaintext.Piece) {
	if !differ(pieces) {
		return
	}
	first := pieces[0]
	other := slices.IndexFunc(pieces, func(p plaintext.Piece) bool {
		return p.Fixed != first.Fixed || p.Object != first.Object || len(p.Parts) != len(first.Parts)
	})
	switch {
	case other < 0 && first.Fixed:
		c.odd = slices.IndexFunc(pieces, func(p plaintext.Piece) bool { return p.Plain != first.Plain })
	case other > 0 && (first.Object || pieces[other].Object):
		c.odd = other
	case other < 0 && len(first.Parts) > 0:
		each(pieces, func(parts []plaintext.Piece) bool {
			c.compare(parts)
			return c.odd == 0
		})
	default:
		c.compareTexts(pieces)
	}
}

// compareTexts compares what cannot be taken apart in the same way.
func (c *comparison) compareTexts(pieces []plaintext.Piece) {
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Plain
	}
	if c.known != nil {
		c.compareKnown(texts[0], texts[1])
		return
	}
	between := func(text string) string { return strings.Join(token.Split(text, -1), "\x00") }
	if slices.ContainsFunc(texts, func(text string) bool { return between(text) != between(texts[0]) }) {
		c.note(middles(texts), whole)
		return
	}
	tokens := make([][]string, len(texts))
	for i, text := range texts {
		tokens[i] = token.FindAllString(text, -1)
	}
	for at := range tokens[0] {
		column := make([]string, len(texts))
		for i := range tokens {
			column[i] = tokens[i][at]
		}
		if c.note(column, 0); c.odd > 0 {
			return
		}
	}
}

// token is what a word may be: a UUID, or letters and digits with nothing of the kind next to them.
var token = regexp.MustCompile(`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}|[A-Za-z0-9]+`)

// whole is how long texts are at least that count as one word although there are other characters in them than letters
// and digits.
const whole = 8

// middles returns what is in the middle of texts that have their beginnings and their ends in common, from one end of a
// word to another one.
func middles(texts []string) []string {
	first := texts[0]
	from, to := len(first), len(first)
	for _, text := range texts[1:] {
		n := 0
		for n < min(from, len(text)) && text[n] == first[n] {
			n++
		}
		m := 0
		for m < min(to, len(text)) && text[len(text)-1-m] == first[len(first)-1-m] {
			m++
		}
		from, to = n, m
	}
	for from > 0 && alphanumeric(first[from-1]) {
		from--
	}
	for to > 0 && alphanumeric(first[len(first)-to]) {
		to--
	}
	middles := make([]string, len(texts))
	for i, text := range texts {
		if from+to <= len(text) {
			middles[i] = text[from : len(text)-to]
		}
	}
	return middles
}

// note records what stands at one place in the runs: the same, or a word that is another one in each.
func (c *comparison) note(column []string, least int) {
	word := column[0]
	switch odd := slices.IndexFunc(column, func(other string) bool { return other != word }); {
	case odd < 0:
		return
	case !c.mayBeWords(column, least):
		c.odd = odd
		return
	}
	c.stand(word, column)
}

// stand records what stands in the runs for a word of the first one.
func (c *comparison) stand(word string, column []string) {
	for run := 1; run < len(column); run++ {
		image, known := c.images[run][word]
		original, used := c.originals[run][column[run]]
		if known && image != column[run] || used && original != word {
			c.odd = run
			return
		}
		c.images[run][word], c.originals[run][column[run]] = column[run], word
	}
	c.words = append(c.words, word)
}

// evidence is how many letters have to be others in all runs together, so that nobody has chosen among a few words.
const evidence = 12

// digits is how many digits there are at least in a number that is no choice among a few.
const digits = 8

// mayBeWords reports whether what differs may be words.
func (c *comparison) mayBeWords(column []string, least int) bool {
	for _, word := range column {
		number := strings.Trim(word, "0123456789") == ""
		if len(word) < max(shortest, least) || number && len(word) < digits || len(word)*(c.runs-1) < evidence {
			return false
		}
	}
	return len(slices.Compact(slices.Sorted(slices.Values(column)))) == len(column)
}

// Package randomness sets the random values that code draws: names, passwords, UUIDs, keys and certificates. It is what
// implements [core.Randomness], but for answers.
//
// The generators of k8s.io/apimachinery/pkg/util/rand, of math/rand and of crypto/rand are each one for the whole
// process. So they are set only while code of a controller runs, by one at a time, and go back to values that nobody
// knows after that run.
package randomness

import (
	"strings"
	"sync"
	"time"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
	"github.com/orrery-dev/orrery/core"
)

// The generators are one for the whole process: they are set by who holds the turn.
var turn sync.Mutex

// patience is how long one waits for a turn, looking again after a while. Code that runs on for longer is stuck, and
// what it draws no longer matters.
const patience, while = time.Minute, 10 * time.Microsecond

// Source sets random values, and knows the words that were drawn by them.
type Source struct {
	// names and numbers are generators as this source has left them. They belong to who holds the turn.
	names, numbers *generator

	mu    sync.Mutex
	words map[string]bool
	// lengths are those of words.
	lengths map[int]bool
	// others are what stands in JSON in the place of texts with words in them, where others are drawn, by the number of
	// the variation, and renamed what words are then.
	others, renamed map[string][]string
	// origins are the words from which words follow directly.
	origins map[string][]string
	// signs tells that there are signatures among them.
	signs bool
	// free are texts in which there are no words.
	free map[string]bool
}

// New returns a source that knows no words. Nothing that draws values may run yet.
func New() *Source {
	standIn()
	return &Source{names: names(), numbers: numbers(), origins: map[string][]string{}}
}

// Set lets the values that are drawn from now on follow from a seed, as [core.Randomness] wants it.
func (s *Source) Set(seed uint64, before int) core.Draw {
	d := &draw{source: s, seed: int64(seed), before: before}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(while) {
		if d.has = turn.TryLock(); d.has {
			break
		}
	}
	if d.has {
		heed()
		s.names.set(d.seed, before)
		s.numbers.set(d.seed, before)
		d.bytes = setReader(seed, before)
	}
	return d
}

// Release implements [core.Randomness]. If somebody else draws just then, it is for him to do.
func (s *Source) Release() {
	if !turn.TryLock() {
		return
	}
	defer turn.Unlock()
	s.names.release()
	s.numbers.release()
}

// word returns the length of the longest word that was drawn and with which a text ends, 0 if there is none.
func (s *Source) word(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := 0
	for n := range s.lengths {
		if n > longest && n <= len(text) && s.words[text[len(text)-n:]] {
			longest = n
		}
	}
	return longest
}

// Knows reports whether any words are known.
func (s *Source) Knows() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.words) > 0
}

func (s *Source) learn(words []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words, s.lengths = map[string]bool{}, map[int]bool{}
	}
	for _, word := range words {
		if !s.words[word] {
			s.words[word], s.lengths[len(word)] = true, true
			clear(s.free)
		}
	}
}

// variations is of how many variations texts are kept.
const variations = 4

func (s *Source) learnOthers(others, renamed map[string][]string, given bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others, s.renamed = map[string][]string{}, map[string][]string{}
	}
	note := func(known, found map[string][]string) {
		for text, texts := range found {
			if given || known[text] == nil {
				known[text] = texts[:min(len(texts), variations)]
			}
		}
	}
	note(s.others, others)
	note(s.renamed, renamed)
}

// Other returns what would stand in JSON in the place of a text if other values had been drawn for it, of some
// variation. If there are words in the text, and nobody knows, it is the text, and not known.
func (s *Source) Other(text string, variation int) (other string, known bool) {
	s.mu.Lock()
	texts, free := s.others[text], s.free[text]
	s.mu.Unlock()
	switch {
	case variation < len(texts):
		return texts[variation], true
	case free:
		return text, true
	case s.Has(text):
		return text, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		s.free = map[string]bool{}
	}
	s.free[text] = true
	return text, true
}

// Renamed returns what a text that names something would be, as [core.Randomness] wants it.
func (s *Source) Renamed(text string, variation int) (other string, known bool) {
	words := s.In(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	var pairs []string
	for _, word := range words {
		texts := s.renamed[word]
		if variation >= len(texts) || !strings.Contains(text, word) {
			return text, false
		}
		pairs = append(pairs, word, texts[variation])
	}
	return strings.NewReplacer(pairs...).Replace(text), true
}

// Has reports whether words that are known to have been drawn stand in a text.
func (s *Source) Has(text string) bool { return len(s.In(text)) > 0 }

// In returns the words that stand in a text, also where they are encoded.
func (s *Source) In(text string) []string { return s.Within(plaintext.Of(text)) }

// Within returns the words that stand in a text, which is as [plaintext.Of] has it.
func (s *Source) Within(text string) []string {
	var words []string
	for _, w := range s.spans(text) {
		words = append(words, text[w.from:w.to])
	}
	return words
}

// span is where a word stands in a text.
type span struct{ from, to int }

// spans returns where words stand in a text, by their ends. They may overlap.
func (s *Source) spans(text string) []span {
	var spans []span
	for at := 1; at <= len(text); at++ {
		if at == len(text) || !alphanumeric(text[at]) {
			if n := s.word(text[:at]); n > 0 {
				spans = append(spans, span{at - n, at})
			}
		}
	}
	return spans
}

// draw is a while in which the generators are set.
type draw struct {
	source *Source
	seed   int64
	before int
	has    bool
	// bytes is the reader that is set, nil if there is none.
	bytes *reader
	// named is how many numbers were drawn to make names, or unknown.
	named int
}

// End implements [core.Draw].
func (d *draw) End() bool {
	if d.named = unknown; !d.has {
		return true
	}
	d.named = d.source.names.drawn()
	counted := d.source.numbers.drawn()
	read := d.bytes.unset()
	turn.Unlock()
	return d.named != 0 || counted != 0 || read
}

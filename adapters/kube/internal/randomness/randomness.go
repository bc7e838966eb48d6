// Package randomness sets the random numbers of k8s.io/apimachinery/pkg/util/rand, from which most controllers draw the names that they make up. It implements
// [core.Randomness].
//
// The generator is one for the whole process. So it is set only while code of a controller runs, by one at a time, and goes back to values that nobody knows after
// that.
package randomness

import (
	"math/rand"
	"strings"
	"sync"
	"time"

	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/orrery-dev/orrery/core"
)

// The generator is one for the whole process: it is set by who holds the turn.
var turn sync.Mutex

// patience is how long one waits for a turn, looking again after a while. Code that runs on for longer is stuck, and what it draws no longer matters.
const patience, while = time.Minute, 10 * time.Microsecond

// Source sets random numbers, and knows the words that were drawn by them. Its zero value knows none.
type Source struct {
	mu    sync.Mutex
	words map[string]bool
	// lengths are those of words.
	lengths map[int]bool
}

var _ core.Randomness = (*Source)(nil)

// Set implements [core.Randomness].
func (s *Source) Set(seed uint64) core.Draw {
	d := &draw{source: s, seed: int64(seed)}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(while) {
		if d.has = turn.TryLock(); d.has {
			break
		}
	}
	if d.has {
		utilrand.Seed(d.seed)
	}
	return d
}

// Word returns the length of the longest word that was drawn and with which a text ends, 0 if there is none.
func (s *Source) Word(text string) int {
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
		s.words[word], s.lengths[len(word)] = true, true
	}
}

// draw is a while in which the generator is set.
type draw struct {
	source *Source
	seed   int64
	has    bool
	// numbers is how many numbers were drawn, or unknown.
	numbers int
}

// unknown stands for more numbers than anybody counts.
const unknown = -1

// most is how many numbers are counted.
const most = 10_000

// End implements [core.Draw].
func (d *draw) End() bool {
	if d.numbers = unknown; !d.has {
		return true
	}
	next := utilrand.Int()
	utilrand.Seed(rand.Int63())
	turn.Unlock()
	again := rand.New(rand.NewSource(d.seed))
	for d.numbers = 0; d.numbers < most; d.numbers++ {
		if again.Int() == next {
			return d.numbers > 0
		}
	}
	d.numbers = unknown
	return true
}

// Words implements [core.Draw]. Words have at least four letters: shorter ones may stand anywhere.
func (d *draw) Words(texts []string) []string {
	numbers := make([]int64, max(0, d.numbers))
	again := rand.New(rand.NewSource(d.seed))
	for i := range numbers {
		numbers[i] = again.Int63()
	}
	var words []string
	for len(numbers) > 0 {
		if word := longest(numbers, texts); len(word) >= shortest {
			words = append(words, word)
			numbers = numbers[used(numbers, len(word)):]
		} else {
			numbers = numbers[1:]
		}
	}
	d.source.learn(words)
	return words
}

const shortest = 4

// Words are made of numbers as rand.String makes them: five bits for each letter, from the lowest on, those left out that stand for none.
const (
	letters       = "bcdfghjklmnpqrstvwxz2456789"
	bitsOfLetter  = 5
	lettersOfEach = 63 / bitsOfLetter
)

// spelled calls a function with one letter after the other that numbers spell, and with how many numbers are used by then, until it returns false.
func spelled(numbers []int64, each func(letter byte, used int) bool) {
	for i, number := range numbers {
		for range lettersOfEach {
			if at := number & (1<<bitsOfLetter - 1); at < int64(len(letters)) && !each(letters[at], i+1) {
				return
			}
			number >>= bitsOfLetter
		}
	}
}

// used returns how many numbers it takes to spell so many letters.
func used(numbers []int64, length int) int {
	last := 0
	spelled(numbers, func(_ byte, used int) bool {
		last = used
		length--
		return length > 0
	})
	return last
}

// longest returns the longest word that numbers spell from the first on and that stands in some text, with no letter or digit behind it.
func longest(numbers []int64, texts []string) string {
	var all []byte
	spelled(numbers, func(letter byte, _ int) bool {
		all = append(all, letter)
		return true
	})
	found := ""
	if len(all) < shortest {
		return found
	}
	for _, text := range texts {
		for rest := text; ; {
			at := strings.Index(rest, string(all[:shortest]))
			if at < 0 {
				break
			}
			rest = rest[at:]
			n := 0
			for n < min(len(rest), len(all)) && rest[n] == all[n] {
				n++
			}
			if n > len(found) && (n == len(rest) || !alphanumeric(rest[n])) {
				found = rest[:n]
			}
			rest = rest[1:]
		}
	}
	return found
}

func alphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

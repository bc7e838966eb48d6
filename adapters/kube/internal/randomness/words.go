package randomness

import (
	"math/rand"
	"strings"

	"github.com/orrery-dev/orrery/adapters/kube/internal/plaintext"
)

// Words implements [core.Draw]. Words have at least four letters: shorter ones may stand anywhere.
func (d *draw) Words(texts []string) []string {
	numbers := make([]int64, max(0, d.named))
	if len(numbers) == 0 {
		return nil
	}
	again := rand.New(rand.NewSource(d.seed))
	for range before(d.before) {
		again.Int63()
	}
	for i := range numbers {
		numbers[i] = again.Int63()
	}
	var plain []string
	for _, text := range texts {
		plain = append(plain, text) // which may be a word that is also the code of something
		if decoded := plaintext.Of(text); decoded != text {
			plain = append(plain, decoded)
		}
	}
	var words []string
	for len(numbers) > 0 {
		if word := longest(numbers, plain); len(word) >= shortest {
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

// Words are made of numbers as rand.String makes them: five bits for each letter, from the lowest on, those left out
// that stand for none.
const (
	letters       = "bcdfghjklmnpqrstvwxz2456789"
	bitsOfLetter  = 5
	lettersOfEach = 63 / bitsOfLetter
)

// spelled calls a function with one letter after the other that numbers spell, and with how many numbers are used by
// then, until it returns false.
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

// longest returns the longest word that numbers spell from the first on and that stands in some text, with no letter or
// digit behind it.
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

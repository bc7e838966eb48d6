package transition

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

// Exchanged has any other six digits be a word that was put to use in another order, if the run was not given it.
func (c *casino) Exchanged(run, other core.Drawn, given [][]string) bool {
	for i, text := range run.Texts {
		if sixDigits.ReplaceAllString(text, "") != sixDigits.ReplaceAllString(other.Texts[i], "") {
			return false
		}
		if slices.ContainsFunc(sixDigits.FindAllString(text, -1), func(word string) bool { return slices.Contains(given[i], word) }) {
			return false
		}
	}
	return true
}

// TestWordsInTheOrderOfAMap has a controller draw words for the keys of a map. As long as nothing else follows from the
// order, nothing is wrong, and what is searched is what one run has done: a word that it writes twice is the same one in
// both. Where the order decides something else, it is not deterministic.
func TestWordsInTheOrderOfAMap(t *testing.T) {
	draw := func(c *casino) (words map[string]string, first string) {
		words = map[string]string{"a": "", "b": "", "c": "", "d": "", "e": ""}
		for key := range words {
			words[key] = c.draw()
			if first == "" {
				first = key
			}
		}
		return words, first
	}
	written := func(words map[string]string) string {
		text := ""
		for _, key := range slices.Sorted(maps.Keys(words)) {
			text += key + words[key] + " "
		}
		return text
	}
	for name, test := range map[string]struct {
		does  func(w world, words map[string]string, first string)
		fails bool
	}{
		"all of them": {func(w world, words map[string]string, _ string) { w.create("all", written(words)) }, false},
		"twice": {func(w world, words map[string]string, _ string) {
			w.create("all", written(words))
			if w.get("all") != "" {
				w.create("c", words["c"])
			}
		}, false},
		"with the first key": {func(w world, words map[string]string, first string) {
			w.create("all", written(words))
			w.create("first", first)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			source := &casino{dice: &dice{}, knows: true}
			a := simple("a", func(w world, _ core.Request) core.Result {
				if w.get("all") == "" {
					words, first := draw(source)
					test.does(w, words, first)
				}
				return core.Result{}
			})
			system := lab([]core.Strategy{sequential(a)})
			system.Randomness = source
			f := explored(t, system, Conditions{})
			if wrong := fmt.Sprint(f.learner.Incidents, f.learner.Machine.Doubts); test.fails != (len(f.learner.Incidents) > 0) || !test.fails && len(f.learner.Machine.Doubts) > 0 {
				t.Errorf("this is wrong: %s", wrong)
			}
		})
	}
}

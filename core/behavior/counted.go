package behavior

import (
	"fmt"
	"maps"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// counted are objects of which more was counted before.
type counted struct {
	core.Further
	// runs are those that are shown them.
	runs []Run
}

// FurtherIn returns the runs of which more was counted before for the objects of some kinds that they are shown, or of
// all kinds: for each a number of its own. It is nil if none of them shows what is counted.
func FurtherIn(runs []Run, store core.Counting, kinds ...core.Kind) Otherwise {
	by := map[core.Key]int{}
	for i, key := range shownKeys(runs) {
		if len(kinds) == 0 || slices.Contains(kinds, key.Kind) {
			by[key] = (i + 1) * core.MostCounted * 2
		}
	}
	c, counts := counted{store.Further(by), runs}, false
	eachShown(runs, func(key core.Key, content core.Content) {
		counts = counts || content != nil && by[key] > 0 && c.Content(key, content).Canonical() != content.Canonical()
	})
	if !counts {
		return nil
	}
	return c
}

// numbers returns the numbers that versions show, by the names of the versions, with what is shown in place of each.
func (c counted) numbers() map[string]map[string]string {
	numbers := map[string]map[string]string{}
	eachShown(c.runs, func(key core.Key, content core.Content) {
		if tagged, names := content.(core.Tagged); names {
			numbers[tagged.Tag()] = numbersThatDiffer(content.Fields(), c.Content(key, content).Fields())
		}
	})
	return numbers
}

// numbersThatDiffer returns the numbers in a tree that are others in one of the same form, with these.
func numbersThatDiffer(one, other any) map[string]string {
	differ := map[string]string{}
	var walk func(one, other any)
	walk = func(one, other any) {
		switch one := one.(type) {
		case map[string]any:
			other, _ := other.(map[string]any)
			for name, below := range one {
				walk(below, other[name])
			}
		case []any:
			other, _ := other.([]any)
			for i := range min(len(one), len(other)) {
				walk(one[i], other[i])
			}
		default:
			if from, to := fmt.Sprint(one), fmt.Sprint(other); from != to {
				differ[from] = to
			}
		}
	}
	walk(one, other)
	return differ
}

// CountedIn returns the kinds of the objects that are shown in some runs of which something is counted, in order.
func CountedIn(runs []Run, store core.Counting) []core.Kind {
	var kinds []core.Kind
	for _, key := range shownKeys(runs) {
		if !slices.Contains(kinds, key.Kind) && FurtherIn(runs, store, key.Kind) != nil {
			kinds = append(kinds, key.Kind)
		}
	}
	return kinds
}

// shownKeys returns the objects that are shown in some runs, in order.
func shownKeys(runs []Run) []core.Key {
	shown := map[core.Key]bool{}
	eachShown(runs, func(key core.Key, content core.Content) { shown[key] = shown[key] || content != nil })
	return slices.SortedFunc(maps.Keys(shown), core.Key.Compare)
}

func (c counted) content(key core.Key, content core.Content) core.Content {
	if content == nil {
		return nil
	}
	return c.Content(key, content)
}

func (c counted) response(response core.Response) core.Response { return c.Response(response) }

func (c counted) recorded(text string) string { return text }

func (c counted) observed(text string) string { return text }

func (c counted) call(call core.Call) core.Call { return c.Call(call) }

// kept excuses the numbers of versions that memory names as well: what it names stays as it was counted.
func (c counted) kept(recorded, left, found map[string]string) {
	var differ []string
	for path, was := range left {
		if now, kept := found[path]; kept && now != was {
			differ = append(differ, path)
		}
	}
	if len(differ) == 0 {
		return
	}
	numbers := c.numbers()
	for _, value := range recorded {
		shown := numbers[value]
		for _, path := range differ {
			if more := shown[left[path]]; more != "" && found[path] == more {
				found[path] = left[path]
			}
		}
	}
}

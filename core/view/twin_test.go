package view_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// text is a content that is its own canonical text: a word, and behind a "!" how often it was written.
type text string

func (c text) Canonical() string { return string(c) }
func (c text) Fields() any       { return string(c) }

// settle brings the numbers behind each word to the smallest ones that keep their order.
func settle(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	settled := make([]core.Content, len(versions))
	for i, v := range versions {
		word, count := counted(v)
		below := map[int]bool{}
		for _, other := range versions {
			if otherWord, otherCount := counted(other); otherWord == word && otherCount < count {
				below[otherCount] = true
			}
		}
		settled[i] = text(word)
		if len(below) > 0 {
			settled[i] = text(fmt.Sprintf("%s!%d", word, len(below)))
		}
	}
	return settled
}

func counted(c core.Content) (word string, count int) {
	word, number, _ := strings.Cut(c.Canonical(), "!")
	count, _ = strconv.Atoi(number) // without a number it is the first
	return word, count
}

// version is one committed change; a nil content deletes.
type version struct {
	key     core.Key
	content core.Content
}

// twin is a stream in the simplest form: every version there ever was, and how many of
// them the view has received.
type twin struct {
	rule     string // without its bound
	bound    int
	versions []version
	received int
}

// at returns the objects after the first n versions.
func (w *twin) at(n int) map[core.Key]core.Content {
	objects := map[core.Key]core.Content{}
	for _, v := range w.versions[:n] {
		if v.content == nil {
			delete(objects, v.key)
		} else {
			objects[v.key] = v.content
		}
	}
	return objects
}

func (w *twin) waiting() int { return len(w.versions) - w.received }

// commit appends a version and returns what must be delivered at once.
func (w *twin) commit(v version, own bool) []string {
	caughtUp := w.waiting() == 0
	w.versions = append(w.versions, v)
	var events []string
	for w.rule != "relist" && w.waiting() > 0 {
		allowed := w.waiting() <= w.bound
		switch w.rule {
		case "own-writes":
			allowed = allowed && !own
		case "restart":
			allowed = allowed && !caughtUp
		}
		if allowed {
			break
		}
		events = append(events, w.deliver()...)
	}
	return events
}

// deliver returns the events of one delivery.
func (w *twin) deliver() []string {
	before, to := w.at(w.received), w.received+1
	if w.rule == "relist" {
		to = len(w.versions)
	}
	touched := map[core.Key]bool{}
	for _, v := range w.versions[w.received:to] {
		touched[v.key] = true
	}
	w.received = to
	after := w.at(to)
	var events []string
	for _, key := range slices.SortedFunc(maps.Keys(touched), core.Key.Compare) {
		if before[key] != nil || after[key] != nil {
			events = append(events, event(key, before[key], after[key]))
		}
	}
	return events
}

// positions returns how far behind a restart may put the view.
func (w *twin) positions() int {
	switch w.rule {
	case "lag", "own-writes":
		return 1 + w.waiting()
	case "restart":
		return 1 + min(w.bound, len(w.versions))
	}
	return 1
}

// window returns the first position that may still be seen.
func (w *twin) window() int {
	if w.rule == "restart" {
		return max(0, min(w.received, len(w.versions)-w.bound))
	}
	return w.received
}

// visible returns the versions of an object that may still be seen, the one in the store included, in the order of
// their texts.
func (w *twin) visible(key core.Key) []core.Content {
	contents := map[core.Content]bool{}
	for i := w.window(); i <= len(w.versions); i++ {
		between := i > w.received && i < len(w.versions)
		if content := w.at(i)[key]; content != nil && (w.rule != "relist" || !between) {
			contents[content] = true
		}
	}
	return slices.SortedFunc(maps.Keys(contents), func(a, b core.Content) int {
		return strings.Compare(a.Canonical(), b.Canonical())
	})
}

// changed returns the objects of which a change is to be delivered, or may be once more.
func (w *twin) changed() []core.Key {
	keys := map[core.Key]bool{}
	before, after := w.at(w.received), w.at(len(w.versions))
	for _, v := range w.versions[w.window():] {
		if w.rule != "relist" || before[v.key] != nil || after[v.key] != nil {
			keys[v.key] = true
		}
	}
	return slices.SortedFunc(maps.Keys(keys), core.Key.Compare)
}

// settle brings the versions of an object that may still be seen to their canonical forms.
func (w *twin) settle(key core.Key) {
	visible := w.visible(key)
	settled := settle(key, visible, nil)
	for i, v := range w.versions {
		if at := slices.Index(visible, v.content); at >= 0 && v.key == key {
			w.versions[i].content = settled[at]
		}
	}
}

// identity says all that may still matter: what is waiting, and what a restart may undo.
func (w *twin) identity() string {
	if w.rule == "relist" {
		now := *w
		return fmt.Sprint(now.deliver())
	}
	var b strings.Builder
	for i := w.window(); i < len(w.versions); i++ {
		key := w.versions[i].key
		if i == w.received {
			b.WriteByte('|')
		}
		b.WriteString(event(key, w.at(i)[key], w.at(i + 1)[key]))
	}
	return b.String()
}

func event(key core.Key, before, after core.Content) string {
	say := func(c core.Content) string {
		if c == nil {
			return "none"
		}
		return strconv.Quote(c.Canonical())
	}
	return fmt.Sprintf("[%s: %s → %s]", key, say(before), say(after))
}

package view_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// text is a content that is its own canonical text. Settling cuts it at the first "!".
type text string

func (c text) Canonical() string { return string(c) }
func (c text) Fields() any       { return string(c) }

func settle(_ core.Key, content core.Content) core.Content {
	before, _, _ := strings.Cut(content.Canonical(), "!")
	return text(before)
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

func (w *twin) settle() {
	for i, v := range w.versions {
		if v.content != nil {
			w.versions[i].content = settle(v.key, v.content)
		}
	}
}

// identity says all that may still matter: what is waiting, and what a restart may undo.
func (w *twin) identity() string {
	if w.rule == "relist" {
		now := *w
		return fmt.Sprint(now.deliver())
	}
	from := w.received
	if w.rule == "restart" {
		from = max(0, min(from, len(w.versions)-w.bound))
	}
	var b strings.Builder
	for i := from; i < len(w.versions); i++ {
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

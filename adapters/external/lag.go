package external

import (
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Where reads of a table may lag behind, each record that they do not show as it is has an object beside it: the
// versions that they have yet to go through, the one that they show first. Once they show the record as it is, that
// object is gone. So a state in which nothing lags behind is that of a table without a lag.

// version is a version of a record, or that there was none.
type version struct {
	Exists bool
	Text   string
}

// backlog is the versions of a record that were there before the one that is there now, the oldest first.
type backlog []version

var _ core.Content = backlog(nil)

// Canonical implements [core.Content].
func (b backlog) Canonical() string {
	text, err := encoded([]version(b))
	if err != nil {
		panic("external: versions cannot be written as JSON: " + err.Error())
	}
	return text
}

// Fields implements [core.Content]. It has what reads show.
func (b backlog) Fields() any {
	shown := make([]any, len(b))
	for i, v := range b {
		shown[i] = "none"
		if v.Exists {
			shown[i] = record{text: v.Text}.Fields()
		}
	}
	return map[string]any{"shown": shown[0], "next": shown[1:]}
}

// lateKind begins the kind of what reads still show of a record.
const lateKind = "earlier "

func lateKey(key core.Key) core.Key {
	return core.Key{Kind: lateKind + key.Kind, Namespace: key.Namespace, Name: key.Name}
}

// late returns the table of which a kind holds what reads still show, nil if it is none.
func (s *Service) late(kind core.Kind) *records {
	of, is := strings.CutPrefix(string(kind), lateKind)
	if !is {
		return nil
	}
	return s.tables[core.Kind(of)]
}

// backlog returns the versions that reads have yet to go through.
func (t *Transaction) backlog(key core.Key) backlog {
	if table := t.service.tables[key.Kind]; table == nil || table.lag == 0 {
		return nil
	}
	kept, _ := t.snapshot.Get(lateKey(key)).(backlog)
	return slices.Clone(kept)
}

// shownNames returns the names of the records that are there, or are still shown, in order.
func (t *Transaction) shownNames(kind core.Kind) []string {
	names := t.names(kind)
	if table := t.service.tables[kind]; table != nil && table.lag > 0 {
		for _, o := range t.snapshot.List(lateKind+kind, "") {
			names = append(names, o.Key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// show is the event that makes reads go on to the next version of a record.
const show = "reads show the next version"

// showsLate adds that event.
func (s *Service) showsLate() {
	if s.operations[show] == nil {
		s.operations[show] = &operation{name: show, event: true, text: true, do: showNext}
	}
}

// showLater lets reads of a record go on some time after the transaction.
func (t *Transaction) showLater(key core.Key) {
	t.catchUp = append(t.catchUp, t.service.item(show, string(key.Kind)+" "+key.Name))
}

// showNext lets reads of a record go on, and again later if that was not the last version.
func showNext(t *Transaction, input string) (output, words string, err error) {
	text, err := decoded[string](input)
	if err != nil {
		return "", "", t.stop("the input %s is no text: %w", input, err)
	}
	kind, name, _ := strings.Cut(text, " ")
	key := core.Key{Kind: core.Kind(kind), Name: name}
	waiting := t.backlog(key)
	if len(waiting) == 0 {
		return "{}", "", nil
	}
	write := core.Write{Key: lateKey(key)}
	if waiting = waiting[1:]; len(waiting) > 0 {
		write.Content = waiting
		t.showLater(key)
	}
	t.shown = append(t.shown, write)
	return "{}", "", nil
}

package external

import (
	"fmt"
	"slices"

	"github.com/orrery-dev/orrery/core"
)

// Transaction is one step of a service: what an operation or an event reads and changes. It is valid only during the
// call that it is handed to.
type Transaction struct {
	service  *Service
	snapshot core.Snapshot
	// reads tells that nothing may be changed, in what the name says.
	reads bool
	name  string

	// written are the records as they are now, nil if they are gone, and order their keys in the order of the first
	// changes.
	written map[core.Key]*string
	order   []core.Key
	// enqueued are the events that are to follow, and catchUp those of the service's own.
	enqueued, catchUp []core.Item
	// shown are changes of what reads show.
	shown []core.Write
	// err is a mistake in the definition of the service. It ends the check.
	err error
}

// Mistake ends the check with an error: for a function of a service that finds out that the service is not defined as
// it should be. What a client asks in vain is none: [Refuse] that.
func (t *Transaction) Mistake(format string, args ...any) { _ = t.stop(format, args...) }

// stop notes a mistake in what is done, and returns it.
func (t *Transaction) stop(format string, args ...any) error {
	if t.err == nil {
		t.err = fmt.Errorf("%q of %s: %w", t.name, t.service.name, fmt.Errorf(format, args...))
	}
	return t.err
}

// mayWrite reports whether something of a service may be changed.
func (t *Transaction) mayWrite(of *Service, what string) bool {
	if of != t.service {
		_ = t.stop("it changes %s of %s: a step changes one service only", what, of.name)
	}
	return of == t.service
}

// text returns a record as it is now, false if there is none.
func (t *Transaction) text(key core.Key) (string, bool) {
	if now, written := t.written[key]; written {
		if now == nil {
			return "", false
		}
		return *now, true
	}
	return textOf(t.snapshot.Get(key))
}

// set changes a record, or deletes it.
func (t *Transaction) set(key core.Key, to *string) {
	if _, written := t.written[key]; !written {
		t.order = append(t.order, key)
	}
	t.written[key] = to
}

// write returns what of a record is to be written, and false if it is as it was. To write what is there already is no
// write. What lagging reads show stays behind.
func (t *Transaction) write(key core.Key) ([]core.Write, bool) {
	before, now := t.snapshot.Get(key), t.written[key]
	was, exists := textOf(before)
	switch {
	case now == nil && !exists, now != nil && exists && *now == was:
		return nil, false
	}
	change := core.Write{Key: key}
	table := t.service.tables[key.Kind]
	if now != nil {
		kept := record{text: *now}
		if table != nil {
			if err := table.hasOutcome(kept); err != nil {
				_ = t.stop("it writes %s, of which TableConfig.Outcome cannot be had: %w", key, err)
			}
		}
		change.Content = kept
	}
	writes := []core.Write{change}
	lag := 0
	if table != nil {
		lag = table.lag
	}
	if lag == 0 {
		return writes, true
	}
	older := append(t.backlog(key), version{Exists: exists, Text: was})
	older = older[max(0, len(older)-lag):]
	t.showLater(key)
	return append(writes, core.Write{Key: lateKey(key), Content: older}), true
}

// names returns the names of the records of a kind as they are now, in order.
func (t *Transaction) names(kind core.Kind) []string {
	var names []string
	for _, o := range t.snapshot.List(kind, "") {
		if now, written := t.written[o.Key]; !written || now != nil {
			names = append(names, o.Key.Name)
		}
	}
	for key, now := range t.written {
		if key.Kind == kind && now != nil {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// record is the content of one record: a value as JSON.
type record struct{ text string }

var _ core.Content = record{}

// Canonical implements [core.Content].
func (r record) Canonical() string { return r.text }

// Fields implements [core.Content].
func (r record) Fields() any {
	fields, err := fieldsOf(r.text)
	if err != nil {
		panic("external: a record is no JSON: " + err.Error())
	}
	return fields
}

// textOf returns the text of a record, false if there is none.
func textOf(content core.Content) (string, bool) {
	if content == nil {
		return "", false
	}
	return content.Canonical(), true
}

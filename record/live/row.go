package live

import (
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Row is an entry as an index has it, for who goes through millions of them: it needs no memory of its own, and has a
// part of what [Outline.Next] returns. Begins and ends of reconciles are left out.
type Row struct {
	// Entry is the entry where it is not an [Object], an [Event] or a [Call] of an index. Then nothing else is set.
	Entry Entry
	// Kind says which of the three it is.
	Kind RowKind
	// Table and Key say of which object an entry is that names one: rows with the same two have the same name.
	Table, Key int
	Name       *core.Key
	UID, Form  string
	Valued     bool
	// Revision is the resource version of an object, or that on which a call was based, as Text says; Order is it as a
	// number if it is one, and then there may be no text.
	Revision    RowRevision
	N           uint64
	At, Took    time.Duration
	Object, Old int
	Initial     bool
	// Verb is that of a call, or the type of an event.
	Verb      string
	Failed    bool
	Code      int
	DryRun    bool
	Reconcile uint64
	Answer    []int
}

// RowKind is a kind of rows.
type RowKind byte

// The kinds of rows.
const (
	RowEntry RowKind = iota // the Entry is set
	RowObject
	RowEvent
	RowCall
)

// RowRevision is a resource version: its number, or its text if it has none that is written just so.
type RowRevision struct {
	Order uint64
	Text  string
}

// Writes is [Call.Writes].
func (r *Row) Writes() bool {
	return r.Verb != Get && r.Verb != List && (!r.Failed || r.Code == 0) && !r.DryRun
}

// NextRow is [Outline.Next] for rows. It overwrites the one that it is given, but for the memory of answers. A file is
// read by one of the two.
func (o *Outline) NextRow(row *Row) error {
	o.flat = true
	for o.failed == nil {
		if o.index == nil || len(o.index.rows) == 0 || !isRow(tag(o.index.rows[0])) {
			if entry := o.accepted(); entry != nil {
				*row = Row{Entry: entry}
				return nil
			}
			continue
		}
		o.index.row(row)
		err := errIndex
		if !o.index.failed {
			err = o.sequence.acceptRow(row)
		}
		if err == nil {
			return nil
		}
		o.failed = &CorruptError{o.current, err}
	}
	return o.failed
}

// isRow reports whether entries of a kind are read as rows.
func isRow(t tag) bool { return t == objectTag || t == eventTag || t == callTag }

// row reads an object, an event or a call.
func (r *indexReader) row(row *Row) {
	*row = Row{Table: r.table}
	switch tag(r.octet()) {
	case objectTag:
		row.Kind = RowObject
		row.Valued = r.octet()&flagValued != 0
		r.named(row)
		row.UID, row.Revision, row.Form = r.text(), r.revision(), r.text()
		r.objects++
	case eventTag:
		row.Kind = RowEvent
		row.Initial = r.octet()&flagInitial != 0
		row.N, row.At = r.moment()
		r.text() // the controller
		row.Verb = r.text()
		row.Object, row.Old = r.reference(), r.reference()
	default:
		row.Kind = RowCall
		flags := r.octet()
		row.N, row.At = r.moment()
		row.Took = time.Duration(r.signed())
		row.Reconcile = r.owner()
		r.text() // the client
		row.Verb = r.text()
		r.named(row)
		r.text() // the subresource
		row.Revision = r.revision()
		r.revision() // of the list
		row.DryRun, row.Failed = flags&flagDryRun != 0, flags&flagFailed != 0
		if row.Failed {
			row.Code = int(r.signed())
		}
		row.Answer = r.answer()
	}
}

// named reads the name of an object.
func (r *indexReader) named(row *Row) {
	number := r.keyNumber()
	if r.failed {
		return
	}
	row.Key, row.Name = number, r.keys[number]
}

// acceptRow is accept for rows.
func (s *sequence) acceptRow(row *Row) error {
	if s.complete {
		return errAfterEnd
	}
	switch row.Kind {
	case RowObject:
		s.objects++
		return nil
	case RowEvent:
		return s.event(row.N, row.Verb, row.Object, row.Old)
	default:
		return s.call(row.N, row.Reconcile, row.Answer)
	}
}

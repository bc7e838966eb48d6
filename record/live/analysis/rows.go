package analysis

import (
	"github.com/orrery-dev/orrery/record/live"
)

// takeRow follows a row as take follows an entry.
func (p *process) takeRow(row *live.Row) {
	switch row.Kind {
	case live.RowObject:
		p.objects = appended(p.objects, numbered{p.revisionOf(row.Revision), p.nameOf(row), formNumber(row.Form)})
	case live.RowEvent:
		p.sees(row.Object, row.At)
	case live.RowCall:
		p.unchanged = p.rowChangesNothing(row)
		for _, number := range row.Answer {
			p.sees(number, row.At+row.Took)
		}
	}
}

// revisionOf returns a resource version in its short form.
func (p *process) revisionOf(r live.RowRevision) revision {
	if r.Text == "" {
		return revision{order: r.Order}
	}
	return p.revision(r.Text)
}

// nameOf returns the place of the name of an object.
func (p *process) nameOf(row *live.Row) int32 {
	if p.table != row.Table {
		p.table, p.named = row.Table, p.named[:0]
	}
	for row.Key >= len(p.named) {
		p.named = append(p.named, 0)
	}
	if at := p.named[row.Key]; at > 0 && p.names[at-1].UID == row.UID {
		return at - 1
	}
	name := p.name(*row.Name, row.UID)
	p.named[row.Key] = name + 1
	return name
}

// rowChangesNothing is changesNothing for a row.
func (p *process) rowChangesNothing(row *live.Row) bool {
	if !row.Writes() || len(row.Answer) != 1 {
		return false
	}
	o := p.objects[row.Answer[0]-1]
	last := p.latest[o.name]
	return o.revision != (revision{}) && (last.revision == o.revision && last.since < row.At || p.revisionOf(row.Revision) == o.revision)
}

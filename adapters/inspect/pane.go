package inspect

import (
	"sort"

	tea "charm.land/bubbletea/v2"
)

// row is what a pane shows in one line, or in several where it is wrapped.
type row struct {
	line line
	// cut tells that the row takes one line only. Else it is wrapped, and lines after the first are moved to the right
	// by indent columns.
	cut    bool
	indent int
	// still tells that the row cannot be chosen.
	still bool
	// open is what happens when the row is opened, nil if nothing does.
	open func() tea.Cmd
}

// gap is an empty row.
func gap() row { return row{still: true, cut: true} }

// heading is a row that says what follows.
func heading(text string) row { return row{line: say(strong, text), still: true, cut: true} }

// pane is a list of rows, of which it shows as many as there is room for. One of them is chosen, if it is a list to
// choose from.
type pane struct {
	rows []row
	// chooses tells that a row is chosen, cursor which.
	chooses bool
	cursor  int
	// top is the first line that is shown.
	top int

	width, height int
	// starts are the first lines of rows, with how many lines there are at the end; nil until they are laid out.
	starts []int
}

// set replaces the rows. What is chosen and shown stays at its place.
func (p *pane) set(rows []row) {
	p.rows, p.starts = rows, nil
	p.cursor = min(p.cursor, max(0, len(rows)-1))
	if p.chooses {
		p.settle(1)
	}
}

// settle moves from a row that cannot be chosen to the nearest one that can, if there is one, first in a direction.
func (p *pane) settle(direction int) {
	for _, by := range []int{direction, -direction} {
		for i := p.cursor; i >= 0 && i < len(p.rows); i += by {
			if !p.rows[i].still {
				p.cursor = i
				return
			}
		}
	}
}

// margin is the room for what marks the chosen row.
func (p *pane) margin() int {
	if p.chooses {
		return 2
	}
	return 0
}

// lines returns the lines of a row.
func (p *pane) lines(r row) [][]cell {
	width := max(0, p.width-p.margin())
	if r.cut {
		return [][]cell{cut(r.line.cells(), width)}
	}
	return wrap(r.line.cells(), width, r.indent)
}

// resize lays the rows out.
func (p *pane) resize(width, height int) {
	changed := width != p.width || p.starts == nil || height != p.height
	if width != p.width || p.starts == nil {
		p.width = width
		p.starts = make([]int, len(p.rows)+1)
		for i, r := range p.rows {
			count := 1
			if !r.cut {
				count = len(p.lines(r))
			}
			p.starts[i+1] = p.starts[i] + count
		}
	}
	p.height = max(0, height)
	if changed {
		p.follow()
	}
}

// limit keeps what is shown within what there is.
func (p *pane) limit() {
	if p.starts != nil {
		p.top = max(0, min(p.top, p.starts[len(p.rows)]-p.height))
	}
}

// follow shows the chosen row.
func (p *pane) follow() {
	if p.starts == nil {
		return
	}
	if p.chooses && len(p.rows) > 0 {
		first, end := p.starts[p.cursor], p.starts[p.cursor+1]
		if p.cursor > 0 && p.rows[p.cursor-1].still { // with the heading above it
			first--
		}
		if end > p.top+p.height {
			p.top = end - p.height
		}
		p.top = min(p.top, first)
	}
	p.limit()
}

// inSight shows the chosen row if the wheel has left it behind.
func (p *pane) inSight() {
	if p.starts == nil || !p.chooses || len(p.rows) == 0 {
		return
	}
	if first, end := p.starts[p.cursor], p.starts[p.cursor+1]; first >= p.top+p.height || end <= p.top {
		p.follow()
	}
}

// move goes to the next row in a direction, or shows more of the chosen one first.
func (p *pane) move(direction int) {
	if !p.chooses || p.starts == nil || len(p.rows) == 0 {
		p.scroll(direction)
		return
	}
	hidden := direction > 0 && p.starts[p.cursor+1] > p.top+p.height || direction < 0 && p.starts[p.cursor] < p.top
	if hidden {
		p.scroll(direction)
		return
	}
	next := p.cursor + direction
	for next >= 0 && next < len(p.rows) && p.rows[next].still {
		next += direction
	}
	if next < 0 || next >= len(p.rows) {
		p.scroll(direction)
		return
	}
	p.cursor = next
	if tall := p.starts[next+1]-p.starts[next] > p.height; tall && direction > 0 {
		p.top = p.starts[next]
		return
	}
	p.follow()
}

// scroll shows what is some lines further down.
func (p *pane) scroll(by int) {
	p.top += by
	p.limit()
}

// page goes on by some lines, and chooses what is shown there.
func (p *pane) page(by int) {
	p.scroll(by)
	if !p.chooses || len(p.rows) == 0 || p.starts == nil {
		return
	}
	at := p.starts[p.cursor] + by
	p.cursor = max(0, min(p.at(max(0, at)), len(p.rows)-1))
	p.settle(map[bool]int{false: -1, true: 1}[by > 0])
	p.follow()
}

// end goes to the first or the last row.
func (p *pane) end(last bool) {
	p.cursor, p.top = 0, 0
	if last && len(p.rows) > 0 {
		p.cursor = len(p.rows) - 1
		if p.starts != nil {
			p.top = p.starts[len(p.rows)]
		}
	}
	if p.chooses {
		p.settle(map[bool]int{false: 1, true: -1}[last])
	}
	p.limit()
	if last {
		p.follow()
	}
}

// at returns the row that a line belongs to.
func (p *pane) at(line int) int {
	return sort.Search(len(p.rows), func(i int) bool { return p.starts[i+1] > line })
}

// click chooses the row in a line of what is shown, and reports whether it was chosen before.
func (p *pane) click(y int) (again bool) {
	if !p.chooses || p.starts == nil {
		return false
	}
	i := p.at(p.top + y)
	if i >= len(p.rows) || p.rows[i].still {
		return false
	}
	again = i == p.cursor
	p.cursor = i
	return again
}

// chosen returns the chosen row, and false if there is none.
func (p *pane) chosen() (row, bool) {
	if !p.chooses || p.cursor >= len(p.rows) || p.rows[p.cursor].still {
		return row{}, false
	}
	return p.rows[p.cursor], true
}

// draw returns the lines that are shown, all of the same width. The chosen row stands out where keys act on it.
func (p *pane) draw(width, height int, focused bool) []string {
	p.resize(width, height)
	shown := make([]string, 0, p.height)
	for i := p.at(p.top); i < len(p.rows) && len(shown) < p.height; i++ {
		lines := p.lines(p.rows[i])
		for n := max(0, p.top-p.starts[i]); n < len(lines) && len(shown) < p.height; n++ {
			cells := lines[n]
			chosen := p.chooses && i == p.cursor && !p.rows[i].still
			if p.chooses {
				lead := "  "
				if chosen && n == 0 {
					lead = "> "
				}
				cells = append(say(strong, lead).cells(), cells...)
			}
			shown = append(shown, paint(cells, width, chosen && focused))
		}
	}
	for len(shown) < p.height {
		shown = append(shown, paint(nil, width, false))
	}
	return shown
}

// more says where in its rows a pane is, empty if it shows all of them.
func (p *pane) more() string {
	if p.starts == nil {
		return ""
	}
	all := p.starts[len(p.rows)]
	switch {
	case all <= p.height:
		return ""
	case p.top == 0:
		return "more below"
	case p.top+p.height >= all:
		return "more above"
	}
	return "more above and below"
}

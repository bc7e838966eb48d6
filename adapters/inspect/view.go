package inspect

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// view is what fills the terminal, but for the first line and the last.
type view interface {
	// title names it in a few words.
	title() string
	// draw returns its lines, each as wide as the terminal, so many as it is high.
	draw(width, height int) []string
	// press acts on a key of its own, and reports whether it was one.
	press(tea.KeyPressMsg) (bool, tea.Cmd)
	// keys are the keys of its own, and hints say of the most important ones in a few words what they do.
	keys() []key.Binding
	hints() string
	// board returns its panes.
	board() *board
	// refresh makes its rows anew, as the graph is there now.
	refresh()
}

// placed is a pane where it is shown.
type placed struct {
	*pane
	x, y, width, height int
}

func (p placed) contains(x, y int) bool {
	return x >= p.x && x < p.x+p.width && y >= p.y && y < p.y+p.height
}

// board are the panes of a view that are shown, with the one on which keys act.
type board struct {
	shown []placed
	focus *pane
}

// place shows panes, of which one is that on which keys act.
func (b *board) place(panes ...placed) {
	b.shown = panes
	for _, p := range panes {
		if p.pane == b.focus {
			return
		}
	}
	b.focus = panes[0].pane
}

// next goes to the next pane.
func (b *board) next() {
	for i, p := range b.shown {
		if p.pane == b.focus {
			b.focus = b.shown[(i+1)%len(b.shown)].pane
			return
		}
	}
}

// under returns the pane at a place.
func (b *board) under(x, y int) (placed, bool) {
	for _, p := range b.shown {
		if p.contains(x, y) {
			return p, true
		}
	}
	return placed{}, false
}

// drawPane draws a pane where it is placed.
func (b *board) drawPane(p placed) []string { return p.draw(p.width, p.height, b.focus == p.pane) }

// beside puts blocks of lines of the same height beside each other.
func beside(left, right []string) []string {
	lines := make([]string, len(left))
	for i := range left {
		lines[i] = left[i] + faint.style().Render("│") + right[i]
	}
	return lines
}

// rule is a line between two parts of a view, which says what comes below it.
func rule(width int, said line) string {
	cells := say(faint, "── ").join(said).and(faint, " ").cells()
	fill := width - widthOf(cells)
	if fill > 0 {
		cells = append(cells, say(faint, strings.Repeat("─", fill)).cells()...)
	}
	return paint(cells, width, false)
}

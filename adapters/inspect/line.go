package inspect

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/orrery-dev/orrery/adapters/internal/story"
)

// ink is how a text looks. What it tells, the text tells as well, as there may be no colours.
type ink byte

const (
	plain ink = iota
	strong
	faint
	good
	bad
	open
	before
	after
)

// style returns how a terminal shows an ink. Colours are those of the terminal's palette.
func (i ink) style() lipgloss.Style {
	s := lipgloss.NewStyle()
	switch i {
	case strong:
		return s.Bold(true)
	case faint:
		return s.Faint(true)
	case good:
		return s.Bold(true).Foreground(lipgloss.Green)
	case bad:
		return s.Bold(true).Foreground(lipgloss.Red)
	case open:
		return s.Bold(true).Foreground(lipgloss.Yellow)
	case before:
		return s.Foreground(lipgloss.Red)
	case after:
		return s.Foreground(lipgloss.Green)
	}
	return s
}

// line is a text in several inks.
type line []span

type span struct {
	ink  ink
	text string
}

// say returns a line of a text, which may be anybody's.
func say(i ink, text string) line { return line{}.and(i, text) }

// and goes on with another text.
func (l line) and(i ink, text string) line {
	if text == "" {
		return l
	}
	return append(l[:len(l):len(l)], span{i, story.Clean(text)})
}

// join goes on with another line.
func (l line) join(other line) line { return append(l[:len(l):len(l)], other...) }

// text returns a line without its inks.
func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// cell is a character with the marks upon it, and how many columns it takes.
type cell struct {
	text  string
	width int
	ink   ink
}

// cells returns the characters of a line.
func (l line) cells() []cell {
	var cells []cell
	for _, s := range l {
		for rest := s.text; rest != ""; {
			character, width, n, _ := ansi.GraphemeWidth.DecodeSequenceInString(rest, ansi.NormalState, nil)
			// Terminals that know no clusters of characters count some of them otherwise.
			width = max(width, ansi.StringWidthWc(character))
			rest = rest[n:]
			if width > 0 {
				cells = append(cells, cell{character, width, s.ink})
			} else if len(cells) > 0 {
				cells[len(cells)-1].text += character
			}
		}
	}
	return cells
}

// widthOf returns how many columns characters take.
func widthOf(cells []cell) int {
	width := 0
	for _, c := range cells {
		width += c.width
	}
	return width
}

// fitting returns how many of the first characters fit into a width.
func fitting(cells []cell, width int) int {
	for i, c := range cells {
		if width -= c.width; width < 0 {
			return i
		}
	}
	return len(cells)
}

// mark stands where a line is cut.
const mark = "…"

// cut returns characters that fit into a width, with a mark if there are others.
func cut(cells []cell, width int) []cell {
	if n := fitting(cells, width); n == len(cells) {
		return cells
	}
	if width < 1 {
		return nil
	}
	n := fitting(cells, width-1)
	return append(cells[:n:n], cell{mark, 1, faint})
}

// wrap returns characters in lines that fit into a width, those after the first moved to the right. A line ends between
// words where it can.
func wrap(cells []cell, width, indent int) [][]cell {
	if indent > width/2 || width-indent < 2 { // each line has room for a wide character
		indent = 0
	}
	margin := make([]cell, indent)
	for i := range margin {
		margin[i] = cell{" ", 1, plain}
	}
	var lines [][]cell
	for first := true; first || len(cells) > 0; first = false {
		room, start := width, []cell(nil)
		if !first {
			room, start = width-indent, margin
		}
		n := fitting(cells, room)
		if n == 0 && len(cells) > 0 { // not even one character fits
			cells[0] = cell{mark, 1, faint}
			n = 1
			if room < 1 {
				return append(lines, nil)
			}
		}
		end := n
		if n < len(cells) && cells[n].text != " " {
			if space := lastSpace(cells[:n]); space > room/3 {
				end = space
			}
		}
		lines = append(lines, append(start[:len(start):len(start)], cells[:end]...))
		for cells = cells[end:]; len(cells) > 0 && cells[0].text == " "; {
			cells = cells[1:]
		}
	}
	return lines
}

func lastSpace(cells []cell) int {
	for i := len(cells) - 1; i >= 0; i-- {
		if cells[i].text == " " {
			return i
		}
	}
	return -1
}

// paint returns characters as a terminal takes them, filled up with spaces to a width. Those that are chosen are shown
// the other way round.
func paint(cells []cell, width int, chosen bool) string {
	cells = cut(cells, width)
	var b strings.Builder
	for i := 0; i < len(cells); {
		from := i
		var text strings.Builder
		for ; i < len(cells) && cells[i].ink == cells[from].ink; i++ {
			text.WriteString(cells[i].text)
		}
		if chosen || cells[from].ink != plain {
			b.WriteString(cells[from].ink.style().Reverse(chosen).Render(text.String()))
		} else {
			b.WriteString(text.String())
		}
	}
	if fill := strings.Repeat(" ", max(0, width-widthOf(cells))); chosen && fill != "" {
		b.WriteString(plain.style().Reverse(true).Render(fill))
	} else {
		b.WriteString(fill)
	}
	return b.String()
}

package specification

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/orrery-dev/orrery/internal/excerpt"
)

// Mistake is an error in a property file, with its place.
type Mistake struct {
	// File is the name of the file.
	File string
	// Line and Column are where the mistake begins, both from 1, the column in characters. Width is how many characters
	// of the line are wrong.
	Line, Column, Width int
	// Message says what is wrong and what to change.
	Message string
	// excerpt is the line.
	excerpt string
}

// Error says what is wrong and where, and shows the line with the place marked below.
func (m *Mistake) Error() string {
	from := m.after(0, m.Column-1)
	shown := excerpt.Excerpt{Line: m.excerpt, From: from, To: m.after(from, m.Width)}
	return fmt.Sprintf("%s:%d:%d: %s\n%s", m.File, m.Line, m.Column, m.Message, shown)
}

// after returns the byte of the line so many characters after another one.
func (m *Mistake) after(at, characters int) int {
	for range characters {
		_, size := utf8.DecodeRuneInString(m.excerpt[at:])
		at += size
	}
	return at
}

func (m *Mistake) compare(other *Mistake) int {
	return cmp.Or(cmp.Compare(m.Line, other.Line), cmp.Compare(m.Column, other.Column))
}

package specification

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mistake is an error in a property file, with its place.
type Mistake struct {
	// File is the name of the file.
	File string
	// Line and Column are where the mistake begins, both from 1, the column in characters. Width is how many characters of the line
	// are wrong.
	Line, Column, Width int
	// Message says what is wrong and what to change.
	Message string
	// excerpt is the line.
	excerpt string
}

// Error says what is wrong and where, and shows the line with the place marked below.
func (m *Mistake) Error() string {
	begin := 0
	for range m.Column - 1 {
		_, size := utf8.DecodeRuneInString(m.excerpt[begin:])
		begin += size
	}
	// Tabs stay, so that the mark is below its place however wide they are.
	margin := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, m.excerpt[:begin])
	mark := strings.Repeat("^", max(1, min(m.Width, utf8.RuneCountInString(m.excerpt[begin:]))))
	return fmt.Sprintf("%s:%d:%d: %s\n  %s\n  %s%s", m.File, m.Line, m.Column, m.Message, m.excerpt, margin, mark)
}

func (m *Mistake) compare(other *Mistake) int {
	return cmp.Or(cmp.Compare(m.Line, other.Line), cmp.Compare(m.Column, other.Column))
}

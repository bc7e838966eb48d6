package ltl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mistake is an error in a formula, with its place.
type Mistake struct {
	// Formula is the whole text, From and To the bytes of it that are wrong.
	Formula  string
	From, To int
	// Message says what is wrong and what to change.
	Message string
}

// Error says what is wrong and shows the line of the formula with the place marked below.
func (m *Mistake) Error() string {
	from := strings.LastIndexByte(m.Formula[:m.From], '\n') + 1
	line := m.Formula[from:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	start := min(m.From-from, len(line))
	end := min(max(m.To-from, start), len(line))
	// Tabs stay, so that the mark is below its place however wide they are.
	margin := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:start])
	where := fmt.Sprintf("column %d", utf8.RuneCountInString(line[:start])+1)
	if row := strings.Count(m.Formula[:from], "\n"); row > 0 || from+len(line) < len(m.Formula) {
		where = fmt.Sprintf("line %d, %s", row+1, where)
	}
	mark := strings.Repeat("^", max(1, utf8.RuneCountInString(line[start:end])))
	return fmt.Sprintf("formula, %s: %s\n  %s\n  %s%s", where, m.Message, line, margin, mark)
}

// mistake is a [Mistake] at a place of a text.
func mistake(text string, at span, format string, args ...any) error {
	return &Mistake{Formula: text, From: at.from, To: at.to, Message: fmt.Sprintf(format, args...)}
}

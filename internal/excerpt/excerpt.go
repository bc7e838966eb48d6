// Package excerpt shows a place in a text: its line, with a mark below.
package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Excerpt is a line with a part of it, given in bytes.
type Excerpt struct {
	Line     string
	From, To int
}

// lineOf returns the line that a part of a text begins in, and what of the part is in it.
func lineOf(text string, from, to int) Excerpt {
	begin := strings.LastIndexByte(text[:from], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	from = min(from-begin, len(line))
	return Excerpt{Line: line, From: from, To: min(max(to-begin, from), len(line))}
}

// Place says where a byte of a text is: in which column and, if there are several, in which line. Both count from 1,
// columns in characters.
func Place(text string, at int) string {
	e := lineOf(text, at, at)
	column := fmt.Sprintf("column %d", utf8.RuneCountInString(e.Line[:e.From])+1)
	if strings.Contains(text, "\n") {
		return fmt.Sprintf("line %d, %s", strings.Count(text[:at], "\n")+1, column)
	}
	return column
}

// String returns the line and the mark, each indented.
func (e Excerpt) String() string {
	// Tabs stay, so that the mark is below its place however wide they are.
	margin := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Line[:e.From])
	mark := strings.Repeat("^", max(1, utf8.RuneCountInString(e.Line[e.From:e.To])))
	return fmt.Sprintf("  %s\n  %s%s", e.Line, margin, mark)
}

// Mistake says what is wrong with a part of a text, and shows the line with the part marked below. What the text is
// called comes first.
func Mistake(what, text string, from, to int, message string) string {
	return fmt.Sprintf("%s, %s: %s\n%s", what, Place(text, from), message, lineOf(text, from, to))
}

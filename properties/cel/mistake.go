package cel

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/operators"

	"github.com/orrery-dev/orrery/internal/excerpt"
)

// Mistake is an error in an expression, with its place: the expression makes no sense, or it does not in a state.
type Mistake struct {
	// Expression is the whole text, From and To the bytes of it that are wrong.
	Expression string
	From, To   int
	// Message says what is wrong and what to change.
	Message string
}

// Error says what is wrong and shows the line of the expression with the place marked below.
func (m *Mistake) Error() string {
	return excerpt.Mistake("expression", m.Expression, m.From, m.To, m.Message)
}

// place says where the mistake is, in a few words.
func (m *Mistake) place() string { return excerpt.Place(m.Expression, m.From) }

// whole is a mistake that is about all of an expression.
func whole(expression, format string, args ...any) *Mistake {
	return &Mistake{Expression: expression, To: len(expression), Message: fmt.Sprintf(format, args...)}
}

// mistakeAt is a mistake at a place that CEL tells: a line from 1 and a column from 0, in characters. The word that is
// there is marked, or the name after a dot or before a parenthesis. If the mistake is about a name, it is looked for
// nearby.
func mistakeAt(expression string, place common.Location, name, message string) *Mistake {
	from := offset(expression, place)
	rest := expression[from:]
	switch at := nearest(expression, name, from); {
	case at >= 0:
		return &Mistake{Expression: expression, From: at, To: at + len(name), Message: message}
	case strings.HasPrefix(rest, "."):
		from += len(rest) - len(strings.TrimLeft(rest, ".? \t\n"))
	case strings.HasPrefix(rest, "("):
		from = len(strings.TrimRightFunc(expression[:from], inWord))
	}
	return &Mistake{Expression: expression, From: from, To: from + extent(expression[from:]), Message: message}
}

// nearest returns where a name is in an expression: right before a byte of it, or else the first time from there, or
// else the last time before. It is negative if the name is not there.
func nearest(expression, name string, from int) int {
	if name == "" {
		return -1
	}
	best := -1
	for at := 0; at+len(name) <= len(expression); at++ {
		end := at + len(name)
		before, _ := utf8.DecodeLastRuneInString(expression[:at])
		after, _ := utf8.DecodeRuneInString(expression[end:])
		if expression[at:end] != name || inWord(before) || inWord(after) {
			continue
		}
		if end == from || at >= from {
			return at
		}
		best = at
	}
	return best
}

// inWord reports whether a character may be part of a name.
func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// offset returns the byte of an expression at a place.
func offset(expression string, place common.Location) int {
	at := 0
	for range place.Line() - 1 {
		end := strings.IndexByte(expression[at:], '\n')
		if end < 0 {
			return len(expression)
		}
		at += end + 1
	}
	for range place.Column() {
		_, size := utf8.DecodeRuneInString(expression[at:])
		at += size
	}
	return at
}

// extent returns how long the word or the text in quotes is that a text begins with.
func extent(rest string) int {
	if word := len(rest) - len(strings.TrimLeftFunc(rest, inWord)); word > 0 {
		return word
	}
	if rest != "" && strings.ContainsRune(`"'`, rune(rest[0])) {
		if end := strings.IndexByte(rest[1:], rest[0]); end >= 0 {
			return end + 2
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return size
}

// first returns the mistake that CEL complains about first, in the words of this package where it has some.
func (c *compiler) first(issues *celgo.Issues) *Mistake {
	e := issues.Errors()[0]
	name, rest := quoted(e.Message)
	switch {
	case strings.HasPrefix(e.Message, "undefined field"):
		return mistakeAt(c.text, e.Location, name, c.noField(name))
	case strings.HasPrefix(e.Message, "undeclared reference"):
		return mistakeAt(c.text, e.Location, name, c.noName(name))
	case strings.HasPrefix(e.Message, "found no matching overload") && name == findFunction:
		return mistakeAt(c.text, e.Location, "object", "the namespace and the name of an object are texts")
	case strings.HasPrefix(e.Message, "found no matching overload"):
		operands, _ := quoted(rest)
		if operator, found := operators.FindReverse(name); found {
			return mistakeAt(c.text, e.Location, "", fmt.Sprintf("%q cannot be used on %s", operator, operands))
		}
		return mistakeAt(c.text, e.Location, name, fmt.Sprintf("%s cannot be used on %s", name, operands))
	case strings.HasPrefix(e.Message, "Syntax error") && strings.Contains(e.Message, "'<EOF>'"):
		return mistakeAt(c.text, e.Location, "", "something is missing at the end")
	}
	message, _, _ := strings.Cut(e.Message, " expecting {") // all that could be there instead
	return mistakeAt(c.text, e.Location, "", message)
}

// quoted returns what a message of CEL has in quotes first, and what follows.
func quoted(message string) (string, string) {
	_, rest, _ := strings.Cut(message, "'")
	name, rest, _ := strings.Cut(rest, "'")
	return name, rest
}

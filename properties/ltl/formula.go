package ltl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/internal/excerpt"
)

// Formula is a formula of linear temporal logic as it was written. It is immutable.
// [Parse] makes one.
type Formula struct {
	text string
	root *node
}

// operator is what a node of a formula does.
type operator uint8

const (
	constTrue operator = iota
	constFalse
	atom
	not
	next
	eventually
	always
	and
	or
	implies
	iff
	until
	release
	unless
	strongRelease
)

// node is a part of a formula. Atoms have a name, prefix operators only a left part.
type node struct {
	operator    operator
	name        string
	left, right *node
	at          span
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// Atoms returns the names of the atoms in the order in which they first occur.
func (f *Formula) Atoms() []string {
	var names []string
	f.root.walk(func(n *node) {
		if n.operator == atom && !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	})
	return names
}

// Place returns which bytes of the text an atom of the formula is where it first occurs, with its quotes.
func (f *Formula) Place(name string) (from, to int) {
	n := f.find(func(n *node) bool { return n.operator == atom && n.name == name })
	return n.at.from, n.at.to
}

// find returns the first part, in the order of the text, that is accepted.
func (f *Formula) find(accept func(*node) bool) *node {
	var found *node
	f.root.walk(func(n *node) {
		if found == nil && accept(n) {
			found = n
		}
	})
	return found
}

// walk visits all parts, in the order in which infix text shows the atoms.
func (n *node) walk(visit func(*node)) {
	if n == nil {
		return
	}
	if n.right == nil {
		visit(n)
		n.left.walk(visit)
		return
	}
	n.left.walk(visit)
	visit(n)
	n.right.walk(visit)
}

// String returns the formula in symbols, with no more parentheses than needed. Parsing it
// gives an equal formula.
func (f *Formula) String() string {
	var b strings.Builder
	f.root.print(&b, lowest)
	return b.String()
}

// print writes a part that stands where operators must bind tighter than before.
func (n *node) print(b *strings.Builder, before binding) {
	switch n.operator {
	case constTrue:
		b.WriteString("true")
		return
	case constFalse:
		b.WriteString("false")
		return
	case atom:
		b.WriteString(quoteAtom(n.name))
		return
	}
	own := bindingOf(n.operator)
	if n.right == nil {
		b.WriteString(n.operator.String())
		if n.operator != not {
			b.WriteByte(' ')
		}
		n.left.print(b, own-1)
		return
	}
	if own <= before {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.left.print(b, own)
	b.WriteString(" " + n.operator.String() + " ")
	n.right.print(b, own-1)
}

// quoteAtom returns the name of an atom as it is written in a formula.
func quoteAtom(name string) string {
	_, reserved := word(name)
	if reserved || name == "leads" || nameEnd(name) < len(name) || strings.Trim(name, "FGX") == "" {
		return strconv.Quote(name)
	}
	return name
}

// String returns the symbol of an operator.
func (o operator) String() string {
	switch o {
	case not:
		return "!"
	case next:
		return "X"
	case eventually:
		return "F"
	case always:
		return "G"
	case and:
		return "&&"
	case or:
		return "||"
	case implies:
		return "->"
	case iff:
		return "<->"
	case until:
		return "U"
	case release:
		return "R"
	case unless:
		return "W"
	case strongRelease:
		return "M"
	}
	return "atom"
}

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
	return excerpt.Mistake("formula", m.Formula, m.From, m.To, m.Message)
}

// mistake is a [Mistake] at a place of a text.
func mistake(text string, at span, format string, args ...any) error {
	return &Mistake{Formula: text, From: at.from, To: at.to, Message: fmt.Sprintf(format, args...)}
}

package ltl

import (
	"strconv"
	"strings"
)

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

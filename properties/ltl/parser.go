package ltl

import "fmt"

// maxNesting bounds how deeply parts of a formula may be nested.
const maxNesting = 1000

// Parse reads a formula. The error is a [*Mistake].
func Parse(text string) (*Formula, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens, empty: len(tokens) == 1}
	root, err := p.expression(lowest)
	if err != nil {
		return nil, err
	}
	switch t := p.peek(); t.kind {
	case endToken:
		return &Formula{text: text, root: root}, nil
	case closeToken:
		return nil, mistake(text, t.at, "no parenthesis is open here: remove this one")
	default:
		return nil, mistake(text, t.at, "an operator is missing before %s", p.written(t))
	}
}

// binding tells how tightly an infix operator binds, and how what it joins is grouped.
type binding int

const (
	lowest binding = iota
	leadsToBinding
	iffBinding
	impliesBinding
	orBinding
	andBinding
	untilBinding
	prefixBinding
)

// bindingOf returns how tightly an operator binds.
func bindingOf(o operator) binding {
	switch o {
	case iff:
		return iffBinding
	case implies:
		return impliesBinding
	case or:
		return orBinding
	case and:
		return andBinding
	case until, release, unless, strongRelease:
		return untilBinding
	}
	return prefixBinding
}

// infixOperator returns the operator of an infix token, but for "leads to", which is none of its own.
func infixOperator(text string) operator {
	switch text {
	case "<->":
		return iff
	case "->":
		return implies
	case "||":
		return or
	case "&&":
		return and
	case "U":
		return until
	case "R":
		return release
	case "W":
		return unless
	case "M":
		return strongRelease
	}
	panic(fmt.Sprintf("ltl: %q is not an infix operator", text))
}

// parser is a parser of operator precedence (Pratt, Top down operator precedence,
// POPL 1973).
type parser struct {
	text   string
	tokens []token
	empty  bool // there is nothing but space
	depth  int
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// written returns how a token was written, in quotes.
func (p *parser) written(t token) string { return fmt.Sprintf("%q", p.text[t.at.from:t.at.to]) }

// expression reads as much as operators hold together that bind tighter than the one before.
func (p *parser) expression(before binding) (*node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return nil, mistake(p.text, p.peek().at, "the formula is nested more than %d deep", maxNesting)
	}
	left, err := p.operand()
	for err == nil && p.peek().kind == infixToken {
		t := p.peek()
		if t.text == "leads to" {
			if before >= leadsToBinding {
				break
			}
			left, err = p.leadsTo(left)
			continue
		}
		o := infixOperator(t.text)
		if bindingOf(o) <= before {
			break
		}
		p.take()
		var right *node
		// One less than the operator's own: to the right, equals are grouped first.
		right, err = p.expression(bindingOf(o) - 1)
		left = &node{operator: o, left: left, right: right, at: t.at}
	}
	return left, err
}

// leadsTo reads the second half of G (p -> F q). A chain of these could mean several
// things, and is refused.
func (p *parser) leadsTo(from *node) (*node, error) {
	t := p.take()
	to, err := p.expression(leadsToBinding)
	if err != nil {
		return nil, err
	}
	if again := p.peek(); again.text == "leads to" && again.kind == infixToken {
		return nil, mistake(p.text, again.at, `a chain of "leads to" is ambiguous: add parentheses, or join the pairs with &&`)
	}
	to = &node{operator: eventually, left: to, at: t.at}
	return &node{operator: always, left: &node{operator: implies, left: from, right: to, at: t.at}, at: t.at}, nil
}

// operand reads an atom, a constant, something in parentheses, or a prefix operator with its operand.
func (p *parser) operand() (*node, error) {
	t := p.take()
	switch t.kind {
	case atomToken:
		return &node{operator: atom, name: t.text, at: t.at}, nil
	case constantToken:
		if t.text == "true" {
			return &node{operator: constTrue, at: t.at}, nil
		}
		return &node{operator: constFalse, at: t.at}, nil
	case prefixToken:
		return p.prefixed(t)
	case openToken:
		inner, err := p.expression(lowest)
		if err != nil {
			return nil, err
		}
		switch end := p.take(); end.kind {
		case closeToken:
			return inner, nil
		case endToken:
			return nil, mistake(p.text, t.at, "the parenthesis is never closed")
		default:
			return nil, mistake(p.text, end.at, "an operator is missing before %s", p.written(end))
		}
	case endToken:
		if p.empty {
			return nil, mistake(p.text, t.at, "the formula is empty")
		}
		return nil, mistake(p.text, t.at, "the formula ends where an atom or a formula in parentheses should follow")
	case infixToken:
		return nil, mistake(p.text, t.at, "%s stands between two formulas, and the one before it is missing", p.written(t))
	}
	return nil, mistake(p.text, t.at, "an atom or a formula should stand before %s", p.written(t))
}

func (p *parser) prefixed(t token) (*node, error) {
	inner, err := p.expression(untilBinding)
	if err != nil {
		return nil, err
	}
	n := &node{left: inner, at: t.at}
	switch t.text {
	case "!":
		n.operator = not
	case "X":
		n.operator = next
	case "F":
		n.operator = eventually
	case "G":
		n.operator = always
	case "stable":
		n.operator, n.left = eventually, &node{operator: always, left: inner, at: t.at}
	}
	return n, nil
}

package ltl

import "slices"

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

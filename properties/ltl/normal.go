package ltl

import (
	"encoding/binary"
	"slices"
)

// form is a formula in negation normal form, as its number in a [pool]. Equal formulas
// have equal numbers.
type form int

// The constants have the same numbers in every pool.
const (
	falsum form = iota
	verum
)

// shape is how a form is built.
type shape uint8

const (
	constantShape shape = iota
	literalShape
	andShape
	orShape
	nextShape
	untilShape
	releaseShape
)

// normal is a form spelled out. And and or have at least two parts, in order.
type normal struct {
	shape   shape
	atom    int
	negated bool
	parts   []form
}

// pool holds forms. It makes them smaller as they are built.
type pool struct {
	atoms []string
	forms []normal
	ids   map[string]form
	duals []form
	// classes are the known answers of [pool.classOf], implied those of [pool.implies].
	classes []class
	implied map[[2]form]bool
}

func newPool() *pool {
	p := &pool{ids: map[string]form{}, implied: map[[2]form]bool{}}
	p.intern(normal{shape: constantShape})
	p.intern(normal{shape: constantShape, negated: true})
	return p
}

// intern returns the number of a form as it is, without making it smaller.
func (p *pool) intern(n normal) form {
	key := binary.AppendUvarint([]byte{byte(n.shape)}, uint64(n.atom))
	if n.negated {
		key = append(key, 1)
	}
	for _, part := range n.parts {
		key = binary.AppendUvarint(key, uint64(part)+2)
	}
	id, known := p.ids[string(key)]
	if !known {
		id = form(len(p.forms))
		p.ids[string(key)] = id
		p.forms = append(p.forms, n)
		p.duals = append(p.duals, -1)
		p.classes = append(p.classes, unknownClass)
	}
	return id
}

// at returns how a form is built.
func (p *pool) at(f form) *normal { return &p.forms[f] }

// is reports whether a form is of a shape with the given left part.
func (p *pool) is(f form, s shape, left form) bool {
	n := p.at(f)
	return n.shape == s && n.parts[0] == left
}

// parts returns the parts of a conjunction or a disjunction, and of anything else itself.
func (p *pool) parts(f form, s shape) []form {
	if n := p.at(f); n.shape == s {
		return n.parts
	}
	return []form{f}
}

// literal returns an atom, or its negation.
func (p *pool) literal(name string, negated bool) form {
	i := slices.Index(p.atoms, name)
	if i < 0 {
		i = len(p.atoms)
		p.atoms = append(p.atoms, name)
	}
	return p.intern(normal{shape: literalShape, atom: i, negated: negated})
}

// dual returns the negation of a form. What cannot be made smaller has a negation that cannot
// be made smaller either, so the negation is mirrored part by part.
func (p *pool) dual(f form) form {
	if p.duals[f] >= 0 {
		return p.duals[f]
	}
	n := *p.at(f)
	switch n.shape {
	case constantShape, literalShape:
		n.negated = !n.negated
	case andShape:
		n.shape = orShape
	case orShape:
		n.shape = andShape
	case untilShape:
		n.shape = releaseShape
	case releaseShape:
		n.shape = untilShape
	}
	mirrored := make([]form, len(n.parts))
	for i, part := range n.parts {
		mirrored[i] = p.dual(part)
	}
	if n.shape == andShape || n.shape == orShape {
		slices.Sort(mirrored)
	}
	n.parts = mirrored
	id := p.intern(n)
	p.duals[f], p.duals[id] = id, f
	return id
}

// normalize returns a part of a formula, or its negation, in negation normal form.
func (p *pool) normalize(n *node, negated bool) form {
	if negated {
		return p.dual(p.normalize(n, false))
	}
	var left, right form
	if n.left != nil {
		left = p.normalize(n.left, false)
	}
	if n.right != nil {
		right = p.normalize(n.right, false)
	}
	switch n.operator {
	case constTrue:
		return verum
	case constFalse:
		return falsum
	case atom:
		return p.literal(n.name, false)
	case not:
		return p.dual(left)
	case next:
		return p.next(left)
	case eventually:
		return p.until(verum, left)
	case always:
		return p.release(falsum, left)
	case and:
		return p.and(left, right)
	case or:
		return p.or(left, right)
	case implies:
		return p.or(p.dual(left), right)
	case iff:
		return p.or(p.and(left, right), p.and(p.dual(left), p.dual(right)))
	case until:
		return p.until(left, right)
	case release:
		return p.release(left, right)
	case unless: // it is released by q, and until then p or q is true
		return p.release(right, p.or(left, right))
	case strongRelease:
		return p.until(right, p.and(left, right))
	}
	panic("ltl: a node without an operator")
}

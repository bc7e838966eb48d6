package ltl

import "slices"

// class tells what adding or dropping a first part of a word does to a form.
type class uint8

const (
	unknownClass class = 0
	knownClass   class = 1 << iota
	// eventualClass forms stay true when something is put before the word: F p.
	eventualClass
	// universalClass forms stay true when the start of the word is dropped: G p.
	universalClass
)

// classOf returns the class of a form (Etessami and Holzmann, Optimizing Büchi automata,
// CONCUR 2000). It goes by the structure, and misses some.
func (p *pool) classOf(f form) class {
	if p.classes[f] != unknownClass {
		return p.classes[f]
	}
	n := *p.at(f)
	c := knownClass
	switch n.shape {
	case constantShape, andShape, orShape, nextShape:
		c |= eventualClass | universalClass
		for _, part := range n.parts {
			c &= p.classOf(part)
		}
	case untilShape:
		c |= p.classOf(n.parts[1])
		if n.parts[0] == verum {
			c |= eventualClass
		}
	case releaseShape:
		c |= p.classOf(n.parts[1])
		if n.parts[0] == falsum {
			c |= universalClass
		}
	}
	p.classes[f] = c
	return c
}

func (p *pool) eventual(f form) bool  { return p.classOf(f)&eventualClass != 0 }
func (p *pool) universal(f form) bool { return p.classOf(f)&universalClass != 0 }

// timeless reports whether a form is true at all positions of a word or at none.
func (p *pool) timeless(f form) bool { return p.eventual(f) && p.universal(f) }

// implies reports whether one form implies another, as far as their structure shows it
// (Somenzi and Bloem, Efficient Büchi automata from LTL formulae, CAV 2000).
func (p *pool) implies(a, b form) bool {
	if a == b || a == falsum || b == verum {
		return true
	}
	if a == verum || b == falsum {
		return false
	}
	key := [2]form{a, b}
	answer, known := p.implied[key]
	if !known {
		answer = p.derive(a, b)
		p.implied[key] = answer
	}
	return answer
}

func (p *pool) derive(a, b form) bool {
	x, y := *p.at(a), *p.at(b)
	toB := func(part form) bool { return p.implies(part, b) }
	fromA := func(part form) bool { return p.implies(a, part) }
	// These are equivalences, so there is nothing else to try.
	if x.shape == orShape {
		return !slices.ContainsFunc(x.parts, func(part form) bool { return !toB(part) })
	}
	if y.shape == andShape {
		return !slices.ContainsFunc(y.parts, func(part form) bool { return !fromA(part) })
	}
	switch x.shape {
	case andShape:
		if slices.ContainsFunc(x.parts, toB) {
			return true
		}
	case untilShape:
		if toB(x.parts[0]) && toB(x.parts[1]) || p.eventual(b) && toB(x.parts[1]) {
			return true
		}
	case releaseShape:
		if toB(x.parts[1]) {
			return true
		}
	case nextShape:
		if p.eventual(b) && toB(x.parts[0]) {
			return true
		}
	}
	switch y.shape {
	case orShape:
		if slices.ContainsFunc(y.parts, fromA) {
			return true
		}
	case untilShape:
		if fromA(y.parts[1]) {
			return true
		}
	case releaseShape:
		if fromA(y.parts[0]) && fromA(y.parts[1]) || p.universal(a) && fromA(y.parts[1]) {
			return true
		}
	case nextShape:
		if p.universal(a) && fromA(y.parts[0]) {
			return true
		}
	}
	return x.shape == y.shape && x.shape >= nextShape && p.stepwise(x, y)
}

// stepwise reports whether each part of one form implies that of another of the same
// shape: the temporal operators are monotone.
func (p *pool) stepwise(x, y normal) bool {
	for i := range x.parts {
		if !p.implies(x.parts[i], y.parts[i]) {
			return false
		}
	}
	return true
}

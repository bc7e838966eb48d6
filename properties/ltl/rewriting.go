package ltl

import "slices"

// The constructors of a pool make forms smaller by equivalences of the logic. Those for
// or and release are the mirror of those for and and until.

// or returns the disjunction.
func (p *pool) or(parts ...form) form {
	duals := make([]form, len(parts))
	for i, part := range parts {
		duals[i] = p.dual(part)
	}
	return p.dual(p.and(duals...))
}

// release returns a R b.
func (p *pool) release(a, b form) form { return p.dual(p.until(p.dual(a), p.dual(b))) }

// and returns the conjunction.
func (p *pool) and(parts ...form) form {
	parts, possible := p.meet(parts)
	if !possible {
		return falsum
	}
	for i, a := range parts {
		for j := i + 1; j < len(parts); j++ {
			if joint, ok := p.join(a, parts[j]); ok {
				rest := slices.Delete(slices.Clone(parts), j, j+1)
				rest[i] = joint
				return p.and(rest...)
			}
		}
	}
	return p.conjunction(parts)
}

// conjunction returns the conjunction of parts that are as [pool.meet] leaves them.
func (p *pool) conjunction(parts []form) form {
	switch len(parts) {
	case 0:
		return verum
	case 1:
		return parts[0]
	}
	return p.intern(normal{shape: andShape, parts: parts})
}

// meet returns the parts that a conjunction needs, in order: those that others imply are
// dropped. It returns false if they contradict each other.
func (p *pool) meet(parts []form) ([]form, bool) {
	var flat []form
	for _, part := range parts {
		flat = append(flat, p.parts(part, andShape)...)
	}
	slices.Sort(flat)
	flat = slices.Compact(flat)
	var needed []form
	for i, a := range flat {
		redundant := false
		for j, b := range flat {
			if i == j {
				continue
			}
			if p.implies(b, p.dual(a)) {
				return nil, false
			}
			// Of those that imply each other, the first stays.
			redundant = redundant || p.implies(b, a) && (j < i || !p.implies(a, b))
		}
		switch {
		case a == falsum:
			return nil, false
		case a != verum && !redundant:
			needed = append(needed, a)
		}
	}
	return needed, true
}

// join returns one form for the conjunction of two, and false if there is none that is smaller.
func (p *pool) join(a, b form) (form, bool) {
	x, y := *p.at(a), *p.at(b)
	switch {
	case p.is(a, releaseShape, falsum) && p.timeless(b):
		return p.release(falsum, p.and(x.parts[1], b)), true
	case p.is(b, releaseShape, falsum) && p.timeless(a):
		return p.release(falsum, p.and(y.parts[1], a)), true
	case x.shape != y.shape:
		return 0, false
	}
	switch x.shape {
	case nextShape:
		return p.next(p.and(x.parts[0], y.parts[0])), true
	case releaseShape:
		if x.parts[0] == y.parts[0] {
			return p.release(x.parts[0], p.and(x.parts[1], y.parts[1])), true
		}
	case untilShape:
		if x.parts[1] == y.parts[1] {
			return p.until(p.and(x.parts[0], y.parts[0]), x.parts[1]), true
		}
		if x.parts[0] == verum && y.parts[0] == verum && p.universal(x.parts[1]) && p.universal(y.parts[1]) {
			return p.until(verum, p.and(x.parts[1], y.parts[1])), true
		}
	}
	return 0, false
}

// next returns X a.
func (p *pool) next(a form) form {
	if p.timeless(a) {
		return a
	}
	return p.intern(normal{shape: nextShape, parts: []form{a}})
}

// until returns a U b.
func (p *pool) until(a, b form) form {
	switch {
	case a == falsum, p.implies(a, b), p.eventual(b):
		return b
	case a != verum && p.implies(p.dual(b), a):
		return p.until(verum, b)
	}
	x, y := *p.at(a), *p.at(b)
	switch y.shape {
	case andShape:
		if out, in := p.divide(y.parts, p.timeless); len(out) > 0 {
			return p.and(append(out, p.until(a, p.and(in...)))...)
		}
	case nextShape:
		if a == verum {
			return p.next(p.until(verum, y.parts[0]))
		}
		if x.shape == nextShape {
			return p.next(p.until(x.parts[0], y.parts[0]))
		}
	case untilShape:
		if a == verum {
			return p.until(verum, y.parts[1])
		}
		if p.implies(a, y.parts[0]) {
			return b
		}
	}
	return p.intern(normal{shape: untilShape, parts: []form{a, b}})
}

// divide returns the parts that are accepted, and the others.
func (p *pool) divide(parts []form, accept func(form) bool) (accepted, others []form) {
	for _, part := range parts {
		if accept(part) {
			accepted = append(accepted, part)
		} else {
			others = append(others, part)
		}
	}
	return accepted, others
}

package ltl

// lassoWord is an infinite word: positions 0 to length-1, of which the last is followed
// by loop.
type lassoWord struct {
	length, loop int
	// holds tells whether an atom is true at a position.
	holds func(name string, position int) bool
}

// accepts tells whether the formula is true of the word, by the definition of the
// logic: each operator is the least or the greatest solution of its unfolding.
func (w *lassoWord) accepts(f *Formula) bool { return w.evaluate(f.root)[0] }

// evaluate returns where a part of a formula is true.
func (w *lassoWord) evaluate(n *node) []bool {
	if n == nil {
		return nil
	}
	left, right := w.evaluate(n.left), w.evaluate(n.right)
	switch n.operator {
	case next:
		return w.at(func(i int) bool { return left[w.after(i)] })
	case eventually:
		return w.solve(false, func(i int, later bool) bool { return left[i] || later })
	case always:
		return w.solve(true, func(i int, later bool) bool { return left[i] && later })
	case until:
		return w.solve(false, func(i int, later bool) bool { return right[i] || left[i] && later })
	case unless:
		return w.solve(true, func(i int, later bool) bool { return right[i] || left[i] && later })
	case release:
		return w.solve(true, func(i int, later bool) bool { return right[i] && (left[i] || later) })
	case strongRelease:
		return w.solve(false, func(i int, later bool) bool { return right[i] && (left[i] || later) })
	}
	return w.at(func(i int) bool {
		switch n.operator {
		case constTrue:
			return true
		case atom:
			return w.holds(n.name, i)
		case not:
			return !left[i]
		case and:
			return left[i] && right[i]
		case or:
			return left[i] || right[i]
		case implies:
			return !left[i] || right[i]
		case iff:
			return left[i] == right[i]
		}
		return false
	})
}

func (w *lassoWord) after(i int) int {
	if i == w.length-1 {
		return w.loop
	}
	return i + 1
}

func (w *lassoWord) at(value func(i int) bool) []bool {
	values := make([]bool, w.length)
	for i := range values {
		values[i] = value(i)
	}
	return values
}

// solve starts with one value everywhere and unfolds until nothing changes.
func (w *lassoWord) solve(start bool, unfold func(i int, later bool) bool) []bool {
	values := w.at(func(int) bool { return start })
	for changed := true; changed; {
		changed = false
		for i := w.length - 1; i >= 0; i-- {
			if v := unfold(i, values[w.after(i)]); v != values[i] {
				values[i], changed = v, true
			}
		}
	}
	return values
}

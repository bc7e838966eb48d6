package ltl

import (
	"fmt"
	"math/bits"
	"slices"
)

// term is one way to make a form true: now the letters of a cube, and in the next state
// all of some forms. Untils that are put off are owed.
type term struct {
	on   cube
	next []form // in order
	owed uint64
}

// maxTerms bounds the ways to make one form true, maxUntils is the number of bits there
// are for untils, maxAtoms the one for atoms.
const (
	maxTerms  = 1 << 12
	maxUntils = 64
	maxAtoms  = 64
)

// sizeError is why a formula is not translated.
type sizeError struct{ what string }

func (e sizeError) Error() string {
	return fmt.Sprintf("the formula is too large to be checked: %s; split it into several", e.what)
}

// expander finds the terms of forms.
type expander struct {
	*pool
	untils map[form]int
	terms  map[form][]term
}

// expand returns the terms of a form, of which none covers another.
func (x *expander) expand(f form) ([]term, error) {
	if known, ok := x.terms[f]; ok {
		return known, nil
	}
	terms, err := x.unfold(f)
	if err != nil {
		return nil, err
	}
	x.terms[f] = terms
	return terms, nil
}

// unfold makes one step with the operator of a form.
func (x *expander) unfold(f form) ([]term, error) {
	n := *x.at(f)
	switch n.shape {
	case constantShape:
		if f == falsum {
			return nil, nil
		}
		return []term{{}}, nil
	case literalShape:
		bit := letter(1) << n.atom
		if n.negated {
			return []term{{on: cube{without: bit}}}, nil
		}
		return []term{{on: cube{with: bit}}}, nil
	case nextShape:
		return []term{{next: x.parts(n.parts[0], andShape)}}, nil
	case andShape, orShape:
		all, err := x.expand(n.parts[0])
		for _, part := range n.parts[1:] {
			var more []term
			if err == nil {
				more, err = x.expand(part)
			}
			if err != nil {
				return nil, err
			}
			if n.shape == orShape {
				all, err = least(slices.Concat(all, more))
			} else {
				all, err = conjoin(all, more)
			}
		}
		return all, err
	}
	left, err := x.expand(n.parts[0])
	if err != nil {
		return nil, err
	}
	right, err := x.expand(n.parts[1])
	if err != nil {
		return nil, err
	}
	again := term{next: []form{f}}
	if n.shape == releaseShape {
		goOn, err := least(append(slices.Clone(left), again))
		if err != nil {
			return nil, err
		}
		return conjoin(right, goOn)
	}
	until, known := x.untils[f]
	if !known {
		until = len(x.untils)
		x.untils[f] = until
	}
	if until >= maxUntils {
		return nil, sizeError{fmt.Sprintf("more than %d promises have to be kept", maxUntils)}
	}
	again.owed = 1 << until
	putOff, err := conjoin(left, []term{again})
	if err != nil {
		return nil, err
	}
	return least(append(slices.Clone(right), putOff...))
}

// covers reports whether a term asks for nothing that another does not ask for.
func (t term) covers(other term) bool {
	if !t.on.covers(other.on) || t.owed&^other.owed != 0 || len(t.next) > len(other.next) {
		return false
	}
	return !slices.ContainsFunc(t.next, func(f form) bool {
		_, found := slices.BinarySearch(other.next, f)
		return !found
	})
}

// conjoin returns the terms of a conjunction.
func conjoin(a, b []term) ([]term, error) {
	var all []term
	for _, s := range a {
		for _, t := range b {
			on := cube{s.on.with | t.on.with, s.on.without | t.on.without}
			if on.with&on.without != 0 {
				continue
			}
			next := slices.Concat(s.next, t.next)
			slices.Sort(next)
			all = append(all, term{on, slices.Compact(next), s.owed | t.owed})
		}
		if len(all) > maxTerms*4 {
			return nil, tooManyTerms()
		}
	}
	return least(all)
}

func tooManyTerms() error {
	return sizeError{fmt.Sprintf("a part of it can become true in more than %d ways", maxTerms)}
}

// least leaves out the terms that another one covers; of equal ones the first stays.
func least(terms []term) ([]term, error) {
	size := func(t term) int {
		return len(t.next) + bits.OnesCount64(uint64(t.on.with|t.on.without)) + bits.OnesCount64(t.owed)
	}
	slices.SortStableFunc(terms, func(a, b term) int { return size(a) - size(b) })
	var kept []term
	for _, t := range terms {
		if !slices.ContainsFunc(kept, func(k term) bool { return k.covers(t) }) {
			kept = append(kept, t)
		}
		if len(kept) > maxTerms {
			return nil, tooManyTerms()
		}
	}
	return kept, nil
}

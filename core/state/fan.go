package state

import "iter"

// Fan finds what belongs to a value of a cell. Most fans hold one or two values of a cell, some
// all of them, and a few some of very many: each gets the form that suits it. The zero fan is
// empty.
type Fan[T comparable] struct {
	// few holds the first values, in the order in which they came.
	few []ray[T]
	// dense holds all of them by value, sparse the rest where dense would be mostly
	// empty. At most one of the two is set.
	dense  []T
	sparse map[Value]T
}

type ray[T any] struct {
	value Value
	to    T
}

const (
	// fewest is how many values are looked through one by one.
	fewest = 4
	// emptiest is how many places a dense fan may have for each value in it.
	emptiest = 8
)

// Get returns what belongs to a value, the zero T if nothing was put there.
func (f *Fan[T]) Get(value Value) T {
	if f.dense != nil {
		if int(value) < len(f.dense) {
			return f.dense[value]
		}
		var none T
		return none
	}
	for i := range f.few {
		if f.few[i].value == value {
			return f.few[i].to
		}
	}
	return f.sparse[value]
}

// All returns what was put there, in no order of values.
func (f *Fan[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		var none T
		for _, r := range f.few {
			if !yield(r.to) {
				return
			}
		}
		for _, to := range f.dense {
			if to != none && !yield(to) {
				return
			}
		}
		for _, to := range f.sparse {
			if !yield(to) {
				return
			}
		}
	}
}

// Put sets what belongs to a value.
func (f *Fan[T]) Put(value Value, to T) {
	for i := range f.few {
		if f.few[i].value == value {
			f.few[i].to = to
			return
		}
	}
	switch {
	case int(value) < 2*len(f.dense):
		var none T
		for int(value) >= len(f.dense) {
			f.dense = append(f.dense, none)
		}
		f.dense[value] = to
	case f.dense == nil && f.sparse == nil && len(f.few) < fewest:
		f.few = append(f.few, ray[T]{value, to})
	default:
		f.spread(value, to)
	}
}

// spread adds a value that is far beyond the dense part or belongs to the sparse
// one, and chooses between the two again.
func (f *Fan[T]) spread(value Value, to T) {
	var none T
	all := f.sparse
	if all == nil {
		all = map[Value]T{}
		for i, known := range f.dense {
			if known != none {
				all[Value(i)] = known
			}
		}
	}
	all[value] = to
	highest := value
	for v := range all {
		highest = max(highest, v)
	}
	for _, r := range f.few {
		highest = max(highest, r.value)
	}
	if int(highest) >= emptiest*(len(all)+len(f.few)) {
		f.dense, f.sparse = nil, all
		return
	}
	dense := make([]T, highest+1)
	for v, known := range all {
		dense[v] = known
	}
	for _, r := range f.few {
		dense[r.value] = r.to
	}
	f.few, f.dense, f.sparse = nil, dense, nil
}

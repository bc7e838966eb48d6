package state

import "slices"

// Arrangement says by number, for each interchangeable name, which name takes its place. Names only take the places of
// others of their group.
type Arrangement []int

// Inverse returns the arrangement that takes this one back.
func (a Arrangement) Inverse() Arrangement {
	inverse := make(Arrangement, len(a))
	for name, place := range a {
		inverse[place] = name
	}
	return inverse
}

// After returns the arrangement that does what another one does and then what this one does.
func (a Arrangement) After(first Arrangement) Arrangement {
	both := make(Arrangement, len(a))
	for name, place := range first {
		both[name] = a[place]
	}
	return both
}

// Moves reports whether any name changes its place.
func (a Arrangement) Moves() bool {
	for name, place := range a {
		if name != place {
			return true
		}
	}
	return false
}

// permuted returns what becomes of arrangements if the names of a group from one on are put in each order.
func permuted(all []Arrangement, group []int, from int) []Arrangement {
	if from == len(group) {
		return all
	}
	var more []Arrangement
	for _, a := range permuted(all, group, from+1) {
		for i := from; i < len(group); i++ {
			next := slices.Clone(a)
			next[group[from]], next[group[i]] = next[group[i]], next[group[from]]
			more = append(more, next)
		}
	}
	return more
}

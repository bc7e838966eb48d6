// Package tally says of ways that were taken one after the other whether it was by chance.
package tally

import "slices"

// Often reports whether each of some ways, which have numbers from 0, was taken so often at least.
func Often(taken []int, ways, least int) bool {
	counts := make([]int, ways)
	for _, way := range taken {
		counts[way]++
	}
	return slices.Min(counts) >= least
}

// Regular reports whether ways were taken in such an order that it is hardly chance: in turn, or each no more once
// another one came. So it is with what code counts up in a package variable, or has found there before.
func Regular(taken []int, ways int) bool {
	if ways == 1 {
		return false
	}
	changes := 0
	for i := range taken[1:] {
		if taken[i] != taken[i+1] {
			changes++
		}
	}
	if changes < ways {
		return true
	}
	for period := 1; period <= len(taken)/2; period++ {
		if slices.Equal(taken[period:], taken[:len(taken)-period]) {
			return true
		}
	}
	return false
}

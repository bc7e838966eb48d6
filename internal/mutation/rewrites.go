package main

import (
	"cmp"
	"slices"
)

// rewrites are changes of a text that nest, as the expressions do in which they are made.
type rewrites struct{ list []rewrite }

type rewrite struct {
	at, length int
	order      order
	// depth is higher for what is inside.
	depth int
	text  string
}

// order is what comes first at one place of the text.
type order int

const (
	closes order = iota
	opens
	replaces
)

// wrap puts something around a part of the text. What is around it has to be wrapped before.
func (r *rewrites) wrap(from, to int, before, after string) {
	depth := len(r.list)
	r.list = append(r.list, rewrite{from, 0, opens, depth, before}, rewrite{to, 0, closes, -depth, after})
}

// replace puts something in place of a part of the text.
func (r *rewrites) replace(at, length int, text string) {
	r.list = append(r.list, rewrite{at, length, replaces, 0, text})
}

// apply returns the changed text.
func (r *rewrites) apply(text []byte) []byte {
	slices.SortStableFunc(r.list, func(a, b rewrite) int {
		return cmp.Or(a.at-b.at, int(a.order-b.order), a.depth-b.depth)
	})
	var out []byte
	at := 0
	for _, change := range r.list {
		out = append(append(out, text[at:change.at]...), change.text...)
		at = change.at + change.length
	}
	return append(out, text[at:]...)
}

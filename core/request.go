package core

import "cmp"

// Request is one entry of a controller's work queue, in the words of the
// controller: "namespace/name" for most, a message for an actor, a fixed word
// for an action of a textbook model. It is opaque to the core.
type Request string

// Item is a request together with the strategy that has to work on it.
type Item struct {
	Strategy string
	Request  Request
}

// String returns "strategy(request)".
func (i Item) String() string { return i.Strategy + "(" + string(i.Request) + ")" }

// Compare orders items by strategy and request.
func (i Item) Compare(other Item) int {
	return cmp.Or(cmp.Compare(i.Strategy, other.Strategy), cmp.Compare(i.Request, other.Request))
}

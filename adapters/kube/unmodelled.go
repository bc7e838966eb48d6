package kube

import "github.com/orrery-dev/orrery/core"

// Unmodelled is a call for a request to an API server that cannot be written as a
// [Request]. A [Server] answers it with [core.Unsupported], so a check that meets it
// is inconclusive. It implements [core.Call].
type Unmodelled struct {
	// Asked is the request in a few words, such as its HTTP method and its path.
	Asked string
	// Reason says what of it is not modelled, and what the user can do instead.
	Reason string
}

var _ core.Call = (*Unmodelled)(nil)

// Identity implements [core.Call].
func (u *Unmodelled) Identity() string { return "unmodelled " + u.String() }

// String implements [core.Call].
func (u *Unmodelled) String() string { return u.Asked + " (" + u.Reason + ")" }

// Source implements [core.Call].
func (u *Unmodelled) Source() core.Source { return core.Live }

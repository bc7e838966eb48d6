package memo_test

import (
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
)

// strategy is one that can be told apart from others by its name, if it has one.
type strategy struct {
	core.Strategy
	name string
}

// incomparable is one that cannot.
type incomparable struct {
	core.Strategy
	names []string
}

// TestDigests has digests tell strategies, runs and circumstances apart, and nothing be remembered of what cannot be
// told apart.
func TestDigests(t *testing.T) {
	m := memo.New()
	one, other := behavior.Run{Activation: behavior.Activation{Request: "a"}}, behavior.Run{Activation: behavior.Activation{Request: "b"}}
	of := m.Digest(strategy{name: "s"}, nil, one)
	for what, digest := range map[string]memo.Digest{
		"another strategy": m.Digest(strategy{name: "t"}, nil, one), "another run": m.Digest(strategy{name: "s"}, nil, other), "no run": m.Digest(strategy{name: "s"}, nil),
		"two runs": m.Digest(strategy{name: "s"}, nil, one, one), "circumstances": of.In("x"), "others": of.In("x", ""),
	} {
		if digest == of || digest == of.In("y") {
			t.Errorf("%s makes no difference", what)
		}
	}
	if m.Digest(strategy{name: "s"}, nil, one) != of || memo.Run(one) == memo.Run(other) {
		t.Error("the same has two digests, or two runs have one")
	}
	nobody := m.Digest(incomparable{names: []string{"s"}}, nil, one)
	if nobody != (memo.Digest{}) || nobody.In("x") != nobody {
		t.Error("a strategy that cannot be told apart has a digest")
	}
	for digest, known := range map[memo.Digest]bool{of: true, nobody: false} {
		m.Histories.Set(digest, struct{}{})
		if _, found := m.Histories.Get(digest); found != known {
			t.Errorf("it is remembered: %t", found)
		}
	}
}

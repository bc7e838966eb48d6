package behavior

import (
	"fmt"
	"strings"
)

// overdue returns how a run ends that is given up, before it is aborted.
func (s *Session) overdue() *Leaf {
	leaf := &Leaf{Failure: Overdue, Message: fmt.Sprintf("did not return within %s", s.limits.Deadline)}
	if s.virtual && connected(stacks()) {
		leaf.Failure = Connected
	}
	return leaf
}

// connected reports whether a goroutine of a bubble waits for the network.
func connected(stacks string) bool {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		header, _, _ := strings.Cut(stack, "\n")
		if strings.Contains(header, "IO wait") && strings.Contains(header, "synctest bubble") {
			return true
		}
	}
	return false
}

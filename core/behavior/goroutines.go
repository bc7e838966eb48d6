package behavior

import (
	"regexp"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// LeavesGoroutines sets up an instance of a strategy, and reports whether goroutines are left that the code of its author has started there: they work beside its
// runs, in whose bubbles they have to be. Those of libraries of Kubernetes are at rest.
func LeavesGoroutines(strategy core.Strategy) bool {
	found := make(chan bool, 1)
	go func() {
		left := false
		contain(func() ending {
			_, _ = setUp(strategy)
			left = leaves(stacks())
			return ending{}
		}, func() bool { return false }, func(ending) { found <- left })
	}()
	return <-found
}

var (
	// numbered finds the number of a goroutine in the first line of its stack, and begun who has started it.
	numbered = regexp.MustCompile(`^goroutine (\d+) `)
	begun    = regexp.MustCompile(`(?m)^created by (\S+) in goroutine (\d+)$`)
)

// leaves reports whether, of the stacks of all goroutines, the first of which is that of a set-up, some are of those that it has started.
func leaves(stacks string) bool {
	all := strings.Split(stacks, "\n\n")
	own := numbered.FindStringSubmatch(all[0])
	return own != nil && slices.ContainsFunc(all[1:], func(stack string) bool {
		by := begun.FindStringSubmatch(stack)
		return by != nil && by[2] == own[1] && !atRest(by[1])
	})
}

// atRest reports whether goroutines that a function of a library starts in a set-up do nothing by themselves.
func atRest(function string) bool {
	return slices.ContainsFunc([]string{"k8s.io/", "sigs.k8s.io/"}, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

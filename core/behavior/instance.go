package behavior

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Manner is how a fresh instance is put to work.
type Manner struct {
	// Sequential tells that its code starts no goroutines and looks at no clock.
	Sequential bool
	// Active tells that it works between activations, too, and Ticks that something is known to tick there for ever,
	// see [Session.Ticks].
	Active, Ticks bool
	// Later is how much later than others an active instance starts.
	Later time.Duration
	// Of names the strategy whose memory is looked at. Empty is that of the process. Beside are the others, where it is
	// one of several.
	Of     string
	Beside []string
	// Exchanges tells that it puts the words that it draws to use in another order each time.
	Exchanges bool
	// Reorders tells that it makes calls that have nothing to do with each other in another order each time, and that
	// this makes no difference to anybody.
	Reorders bool
}

// newInstance makes a fresh instance of a strategy. A panic, an exit of the goroutine
// and a wait beyond the deadline are errors that name the controller. When the context ends, its error is returned.
func newInstance(ctx context.Context, strategy core.Strategy, limits Limits) (made, error) {
	g := guarded{guard: limits.Guard, words: "setting up " + strategy.Describe().Name}
	if !g.runs(g.words) {
		return made{}, fatalSetUp(strategy, g.ended)
	}
	defer g.rests()
	result := make(chan made, 1)
	go func() {
		var m made
		contain(func() ending {
			before := runtime.NumGoroutine()
			m.instance, m.err = setUp(strategy)
			m.outside = runtime.NumGoroutine() > before
			return ending{}
		}, func() bool { return false }, func(end ending) {
			m.end = end
			result <- m
		})
	}()
	watch := time.NewTimer(limits.Deadline)
	defer watch.Stop()
	select {
	case m := <-result:
		return m, m.wrong(strategy)
	case <-ctx.Done():
		return made{}, ctx.Err()
	case <-watch.C:
		return made{}, overdueSetUp(strategy, limits.Deadline, 0)
	}
}

// setUp makes an instance of a strategy. Whose name it is on a stack is not in a run.
func setUp(strategy core.Strategy) (core.Instance, error) { return strategy.New() }

// made is what has become of an instance that was to be made.
type made struct {
	instance core.Instance
	// outside tells that goroutines may be left which are in no bubble.
	outside bool
	err     error
	end     ending
}

// wrong returns what the user is to change, nil if the instance was made.
func (m made) wrong(strategy core.Strategy) error {
	name := strategy.Describe().Name
	switch {
	case m.end.failure == Panicked:
		return fmt.Errorf("setting up controller %q panicked: %s", name, m.end.message)
	case m.end.failure != None:
		return fmt.Errorf("setting up controller %q: it %s", name, m.end.message)
	case m.err != nil:
		return fmt.Errorf("setting up controller %q: %w", name, m.err)
	case m.instance == nil:
		return fmt.Errorf("setting up controller %q: Strategy.New returned neither an instance nor an error", name)
	}
	return nil
}

// overdueSetUp is the error for an instance that does not come, or does not come to rest. What it waits for outside of
// its bubble, if it has one, is named.
func overdueSetUp(strategy core.Strategy, deadline time.Duration, bubble uint64) error {
	name, place := strategy.Describe().Name, outsideOf(goroutine.Stacks(), bubble)
	if place != "" {
		return fmt.Errorf("setting up controller %q, or what is started with it, did not finish within %s: it waits for the network or a file in %s: leave that out", name, deadline, place)
	}
	return fmt.Errorf("setting up controller %q did not finish within %s: do not wait for anything there", name, deadline)
}

// fatalSetUp is the error for an instance that would end the process.
func fatalSetUp(strategy core.Strategy, how string) error {
	return fmt.Errorf("setting up controller %q %s", strategy.Describe().Name, how)
}

// memoryOf returns what an instance shows of the memory of a strategy, or of all of the process if none is named. It is
// nil if nothing is shown.
func memoryOf(instance core.Instance, strategy string) map[string]string {
	if divided, ok := instance.(core.Divided); ok && strategy != "" {
		return divided.MemoryOf(strategy)
	}
	if introspective, ok := instance.(core.Introspective); ok {
		return introspective.Memory()
	}
	return nil
}

// LeavesGoroutines sets up an instance of a strategy, and reports whether goroutines are left that the code of its
// author has started there: they work beside its runs, in whose bubbles they have to be. Those of libraries of
// Kubernetes are at rest.
func LeavesGoroutines(strategy core.Strategy) bool {
	found := make(chan bool, 1)
	go func() {
		left := false
		contain(func() ending {
			_, _ = setUp(strategy)
			left = leaves(goroutine.Stacks())
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

// leaves reports whether, of the stacks of all goroutines, the first of which is that of a set-up, some are of those
// that it has started.
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
	return slices.ContainsFunc([]string{"k8s.io/", "sigs.k8s.io/controller-runtime"}, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

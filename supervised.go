package orrery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/supervisor"
)

// Controllers may end the process that they run in, which is that of the tests. Then a witness says who was at work; and with a flag, all tests are run in another process,
// which begins again when code has ended it, and knows that.

// flagSupervisor is the flag that runs tests in a process of their own.
const flagSupervisor = "orrery.supervisor"

// guardian is the guard of all checks in a process with a supervisor, nil in any other.
var guardian *supervisor.Child

// A test binary with the flag is the supervisor of itself, before any test begins.
func init() {
	if !testing.Testing() || !asksForSupervisor(os.Args[1:]) {
		return
	}
	child, err := supervisor.Supervised()
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "orrery: %v\n", err)
		os.Exit(1)
	case child != nil:
		guardian = child
		return
	case !supervisor.Wanted():
		return
	}
	code, err := supervisor.RunTests(os.Stderr)
	var unreported *supervisor.Unreported
	switch {
	case err == nil:
		os.Exit(code)
	case errors.As(err, &unreported):
		fmt.Fprintf(os.Stderr, "orrery: the tests have come to no end. %v\n", err)
	default:
		fmt.Fprintf(os.Stderr, "orrery: no process can be started for the tests, so leave out -%s: %v\n", flagSupervisor, err)
	}
	os.Exit(1)
}

// asksForSupervisor reports whether the flag is among arguments. They are looked at before flags are parsed.
func asksForSupervisor(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(argument, "-"), "-"), "=")
		return name == flagSupervisor && argument != name && (!given || value == "true" || value == "1")
	})
}

// guarded returns the guard and the context of a check in a test, which has to be released.
func guarded(t T) (ctx context.Context, guard core.Guard, release func()) {
	if guardian != nil {
		return guardian.Context(), guardian.In(t.Name()), func() {}
	}
	guard, release = supervisor.Watch(t.Name())
	return context.Background(), guard, release
}

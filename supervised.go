package orrery

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/supervisor"
)

// Controllers may end the process that they run in, which is that of the tests. Then a witness says who was at work;
// and with a flag, all tests are run in another process, which begins again when code has ended it, and knows that.

// outliving is the flag that runs tests in a process of their own, and what the process has of it.
type outliving struct {
	wanted bool
	// child is this process if it has a supervisor.
	child *supervisor.Child
	// witness is who watches this process if it has none. It is started for the first check.
	witness func() *supervisor.Witness
}

var _ flag.Value = (*outliving)(nil)

// String implements [flag.Value].
func (o *outliving) String() string { return strconv.FormatBool(o.wanted) }

// Set implements [flag.Value].
func (o *outliving) Set(text string) (err error) {
	o.wanted, err = strconv.ParseBool(text)
	return err
}

// IsBoolFlag tells package flag that the flag needs no value.
func (o *outliving) IsBoolFlag() bool { return true }

// outliveControllers makes a test binary with the flag the supervisor of itself, before any test begins, and a child of
// it the process with the tests.
func outliveControllers() *outliving {
	o := &outliving{witness: sync.OnceValue(supervisor.StartWitness)}
	if !asksForSupervisor(os.Args[1:]) {
		return o
	}
	var err error
	if o.child, err = supervisor.Supervised(); err != nil {
		fmt.Fprintf(os.Stderr, "orrery: %v\n", err)
		os.Exit(1)
	}
	if o.child != nil || !supervisor.Wanted() {
		return o
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
	return nil
}

// asksForSupervisor reports whether the flag is among arguments. They are looked at before flags are parsed.
func asksForSupervisor(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(argument, "-"), "-"), "=")
		on, err := strconv.ParseBool(value)
		return name == flagSupervisor && argument != name && (!given || on && err == nil)
	})
}

// guarded returns the guard and the context of a check in a test, which has to be released.
func guarded(t T) (ctx context.Context, guard core.Guard, release func()) {
	given := flag.Lookup(flagSupervisor)
	if given == nil { // this is no test binary
		return context.Background(), nil, func() {}
	}
	o, ours := given.Value.(*outliving)
	switch {
	case !ours:
		return context.Background(), nil, func() {}
	case o.child != nil:
		return o.child.Context(), o.child.In(t.Name()), func() {}
	}
	guard, release = o.witness().Watch(t.Name())
	return context.Background(), guard, release
}

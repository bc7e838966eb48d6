package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/internal/supervisor"
)

// Main runs the command that the process was started with, for the given systems,
// and exits.
func Main(entries ...catalog.Entry) {
	Command{Entries: entries, Engine: realEngine()}.Main()
}

// Main runs the command that the process was started with, and exits. SIGINT and
// SIGTERM end a search cleanly; a second one ends the process.
//
// Verbs that run controllers do so in a process of their own, which the controllers may end.
func (c Command) Main() {
	// Without this a closed pipe would end the process before it can say so.
	signal.Ignore(syscall.SIGPIPE)
	streams := processStreams()
	child, err := supervisor.Supervised()
	switch {
	case err != nil:
		fmt.Fprintf(streams.Err, "orrery: %v\n", err)
		os.Exit(ExitUsage)
	case child != nil:
		c.guard, c.began, streams.Live = child, child.Began, child.Live
		code := c.Run(child.Context(), os.Args[1:], streams)
		child.Done()
		os.Exit(code)
	case supervisor.Wanted() && slices.ContainsFunc(os.Args[1:], runsControllers):
		code, err := supervisor.Run(streams.Err, streams.Live)
		var unreported *supervisor.Unreported
		switch {
		case err == nil:
			os.Exit(code)
		case errors.As(err, &unreported):
			fmt.Fprintf(streams.Err, "orrery: the check has come to no end. %v\n", err)
			if slices.ContainsFunc(os.Args[1:], keepsCheckpoint) {
				fmt.Fprintln(streams.Err, "orrery: the checkpoint has what was found until then: go on with --resume")
			}
			os.Exit(ExitInconclusive)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(c.Run(ctx, os.Args[1:], streams))
}

// runsControllers reports whether an argument is a verb that runs controllers.
func runsControllers(argument string) bool {
	return argument == "check" || argument == "replay" || argument == "confirm" || argument == "serve"
}

// processStreams returns the streams of the process.
func processStreams() Streams {
	return Streams{
		Out:   os.Stdout,
		Err:   os.Stderr,
		Color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Live:  term.IsTerminal(int(os.Stderr.Fd())),
		Width: func() int {
			columns, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 0
			}
			return columns
		},

		Terminal: processTerminal(),
	}
}

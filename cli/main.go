package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/orrery-dev/orrery/catalog"
)

// Main runs the command that the process was started with, for the given systems,
// and exits.
func Main(entries ...catalog.Entry) {
	Command{Entries: entries, Engine: realEngine()}.Main()
}

// Main runs the command that the process was started with, and exits. SIGINT and
// SIGTERM end a search cleanly; a second one ends the process.
func (c Command) Main() {
	// Without this a closed pipe would end the process before it can say so.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(c.Run(ctx, os.Args[1:], processStreams()))
}

// processStreams returns the streams of the process.
func processStreams() Streams {
	return Streams{
		Out:   os.Stdout,
		Err:   os.Stderr,
		Color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Live:  term.IsTerminal(int(os.Stderr.Fd())),
	}
}

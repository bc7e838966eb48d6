package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/orrery-dev/orrery/adapters/inspect"
)

func (s *session) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Look around in a record, in the terminal",
		Long: `Inspect shows a record in the terminal: the report, each finding step by step with the
objects after the step, and the state graph, in which you go from state to state, see what
led there and which outcomes can still be reached, and find states by object, field or
controller. Press ? for the keys, q to quit.

It needs a terminal for input and output. To get a record as text, use orrery export.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.inspect(command.Context(), args[0])
		},
	}
}

// inspect shows a record in the terminal.
func (s *session) inspect(ctx context.Context, path string) error {
	r, err := readRecord(ctx, path)
	if err != nil {
		return err
	}
	if err := s.streams.Terminal.usable(); err != nil {
		return err
	}
	return inspect.Run(ctx, r, inspect.Terminal(*s.streams.Terminal))
}

// Terminal is the terminal that a command may take over.
type Terminal inspect.Terminal

// processTerminal returns the terminal of the process, nil if its input or its output is none.
func processTerminal() *Terminal {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	return &Terminal{In: os.Stdin, Out: os.Stdout, Environment: os.Environ()}
}

// usable returns why a terminal cannot be taken over, if it cannot.
func (t *Terminal) usable() error {
	if t == nil {
		return errors.New("inspect needs a terminal for input and output, and one of them is none: to get a record as text, use orrery export FILE --format json, or html for a page")
	}
	kind := ""
	for _, variable := range t.Environment {
		if value, found := strings.CutPrefix(variable, "TERM="); found {
			kind = value
		}
	}
	if kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return errors.New("inspect needs a terminal that moves its cursor, but TERM says that this one cannot (" + describeTerm(kind) +
			"): run it in another one, set TERM to what yours is (such as xterm), or use orrery export FILE --format html")
	}
	return nil
}

func describeTerm(kind string) string {
	if kind == "" {
		return "it is not set"
	}
	return "TERM=" + kind
}

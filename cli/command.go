package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/typo"
	"slices"
)

// The exit codes of the command.
const (
	// ExitHolds is the exit code when all went well: the system holds, a recorded
	// finding does not happen any more, a list or an export is written.
	ExitHolds = 0
	// ExitViolated is the exit code when something wrong was found.
	ExitViolated = 1
	// ExitUsage is the exit code when the command or a file was not as it should be.
	ExitUsage = 2
	// ExitInconclusive is the exit code when not everything was searched.
	ExitInconclusive = 3
)

// Streams are where a command writes.
type Streams struct {
	// Out gets the result, Err what is said besides.
	Out, Err io.Writer
	// Color allows colours on Out, and Live a line on Err that changes while the
	// search goes on: both are for terminals.
	Color, Live bool
	// Width returns how many columns the terminal has that Err is, 0 if nobody knows. It may be nil.
	Width func() int
	// Terminal is what can be taken over, nil if there is none.
	Terminal *Terminal
}

// Command is the orrery command with everything it works with.
type Command struct {
	// Entries are the systems that it knows.
	Entries []catalog.Entry
	// Engine runs them.
	Engine Engine

	// guard is told what code runs, nil if nobody is, and began is when the command began if that was in a process
	// before.
	guard core.Guard
	began time.Time
}

// Run runs a command line, without the name of the program, for the given systems
// and returns the exit code. When the context ends, a search ends cleanly.
func Run(ctx context.Context, args []string, streams Streams, entries []catalog.Entry) int {
	return Command{Entries: entries, Engine: realEngine()}.Run(ctx, args, streams)
}

// Run runs a command line and returns the exit code.
func (c Command) Run(ctx context.Context, args []string, streams Streams) int {
	out := &outlet{to: streams.Out}
	streams.Out = out
	s := &session{Command: c, streams: streams}
	err := s.validate()
	if err == nil {
		root := s.root()
		root.SetArgs(args)
		root.SetOut(streams.Out)
		root.SetErr(streams.Err)
		err = root.ExecuteContext(ctx)
	}
	if out.err != nil {
		err = fmt.Errorf("write to standard output: %w", out.err)
	}
	if err == nil {
		return s.code
	}
	fmt.Fprintf(streams.Err, "orrery: %v\n", err)
	if errors.Is(err, context.Canceled) {
		return ExitInconclusive
	}
	return ExitUsage
}

// session is one run of the command.
type session struct {
	Command
	streams Streams
	// logger gets what the command and the engine do.
	logger hclog.Logger
	// code is the exit code, if there is no error.
	code int
}

// validate returns an error if two systems share a name.
func (s *session) validate() error {
	known := map[string]bool{}
	for _, entry := range s.Entries {
		if known[entry.Name] {
			return fmt.Errorf("two systems are called %q: give each catalog entry its own name", entry.Name)
		}
		known[entry.Name] = true
	}
	return nil
}

func (s *session) root() *cobra.Command {
	level := "info"
	root := &cobra.Command{
		Use:   "orrery",
		Short: "Check that control loops always settle",
		Long: `Orrery is a model checker for control loops. It runs controllers against a simulated
API server, explores every order in which they can act, and reports whether the system
always settles where it should.

Exit codes: 0 holds, 1 violated, 2 bad usage or bad input, 3 inconclusive.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRun: func(*cobra.Command, []string) {
			s.logger = hclog.New(&hclog.LoggerOptions{Name: "orrery", Level: hclog.LevelFromString(level), Output: s.streams.Err})
		},
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command given: use init, list, check, inspect, export, serve, replay, confirm, trace or bench (see orrery --help)")
			}
			return unknown("command", args[0], verbs(command), "orrery --help")
		},
	}
	root.PersistentFlags().Var(&flagValue[string]{to: &level, parse: oneOf(logLevels...), text: level, kind: "LEVEL"}, "log-level",
		"how much to log to standard error: "+strings.Join(logLevels, ", ")+"; each includes those before it; from debug on there is no progress line")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			var known []string
			command.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
			if nearest := typo.Nearest(unknown.GetSpecifiedName(), known); nearest != "" {
				return fmt.Errorf("%w: did you mean --%s? (see %s --help)", err, nearest, command.CommandPath())
			}
		}
		return fmt.Errorf("%w (see %s --help)", err, command.CommandPath())
	})
	root.AddCommand(s.initCommand(), s.listCommand(), s.checkCommand(), s.inspectCommand(), s.exportCommand(), s.replayCommand(), s.confirmCommand(), s.serveCommand(), s.traceCommand(), s.benchCommand())
	return root
}

// logLevels are the levels of logging, from the least to the most.
var logLevels = []string{"off", "error", "warn", "info", "debug", "trace"}

func verbs(root *cobra.Command) []string {
	var names []string
	for _, command := range root.Commands() {
		names = append(names, command.Name())
	}
	return names
}

// exactly returns a check that a verb got one argument, and says what it is for.
func exactly(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, but got %d arguments", command.CommandPath(), what, len(args))
		}
		return nil
	}
}

// outlet remembers that a write failed, so that it need not be checked at every
// place that writes.
type outlet struct {
	to  io.Writer
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// unknown returns an error about a name that is none of the known ones. It
// suggests the nearest one, or else tells how to see them all.
func unknown(what, name string, known []string, how string) error {
	if suggestion := typo.Nearest(name, slices.Sorted(slices.Values(known))); suggestion != "" {
		return fmt.Errorf("there is no %s %q: did you mean %q? (%s shows all)", what, name, suggestion, how)
	}
	return fmt.Errorf("there is no %s %q (%s shows all)", what, name, how)
}

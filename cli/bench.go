package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/bench"
)

func (s *session) benchCommand() *cobra.Command {
	format, quick, with := "text", false, []string(nil)
	command := &cobra.Command{
		Use:   "bench",
		Short: "Run the benchmarks: time and memory of searches, compared with SPIN and Rumur",
		Long: `Bench measures the time and memory of searches, and compares them with targets. Each
search runs in a process of its own: a check, whose command is shown, or SPIN or Rumur, if
spin or rumur are installed, and gcc. Bench takes about six minutes on an idle machine.
Searches that are compared with each other take turns, so that other load affects both.

The JobSet controllers are in a command of their own. To measure them, too:

  (cd examples/jobset && go build)
  orrery bench --with examples/jobset/jobset

Exit codes: 0 all targets met, 1 a target was missed, 2 bad usage, 3 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.bench(command.Context(), format, quick, with)
		},
	}
	addFormat(command, &format)
	command.Flags().BoolVar(&quick, "quick", false, "run small searches that take seconds; do not compare times and memory with targets")
	command.Flags().StringArrayVar(&with, "with", nil, "also measure systems of this orrery command, a `FILE` or a name in PATH (repeatable)")
	return command
}

// bench measures and writes what was measured.
func (s *session) bench(ctx context.Context, format string, quick bool, with []string) (err error) {
	commands, err := s.measured(ctx, with)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "orrery-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b := &bench.Bench{Commands: commands, Rivals: bench.FindRivals(folder)}
	if s.streams.Live {
		defer fmt.Fprint(s.streams.Err, "\r\x1b[K")
		b.Progress = func(number, of int, t bench.Trial) {
			fmt.Fprintf(s.streams.Err, "\r\x1b[K%d of %d: %s", number, of, t)
		}
	}
	plan := bench.FullPlan(runtime.GOMAXPROCS(0))
	if quick {
		plan = bench.QuickPlan(runtime.GOMAXPROCS(0))
	}
	report, err := b.Measure(ctx, plan)
	if report == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	switch {
	case err != nil:
		s.code = ExitInconclusive
		report.Notes = append(report.Notes, "The benchmark was interrupted; the remaining searches were not measured")
	case report.Missed():
		s.code = ExitViolated
	}
	if format == "json" {
		return writeJSON(s.streams.Out, report)
	}
	bench.WriteText(s.streams.Out, report)
	return nil
}

// measured returns the commands whose systems are measured: this one, and those that were asked for.
func (s *session) measured(ctx context.Context, with []string) ([]bench.Command, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program to measure: %w", err)
	}
	own := bench.Command{Tool: bench.Program{Path: path, Name: os.Args[0]}}
	for _, entry := range s.Entries {
		own.Systems = append(own.Systems, entry.Name)
	}
	commands := []bench.Command{own}
	for _, name := range with {
		command, err := bench.FindProgram(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("--with %s: %w; name a command with the verbs of orrery, such as go build makes in examples/jobset", name, err)
		}
		commands = append(commands, command)
	}
	return commands, nil
}

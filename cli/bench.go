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
	format, quick := "text", false
	command := &cobra.Command{
		Use:   "bench",
		Short: "Run the benchmarks: time and memory of searches, compared with SPIN",
		Long: `Bench measures the time and memory of searches, and compares them with targets. Each
search runs in a process of its own: a check, whose command is shown, or SPIN, if spin and
gcc are installed. Bench takes about two minutes on an idle machine. Searches that are
compared with each other take turns, so that other load affects both.

Exit codes: 0 all targets met, 1 a target was missed, 2 bad usage, 3 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.bench(command.Context(), format, quick)
		},
	}
	addFormat(command, &format)
	command.Flags().BoolVar(&quick, "quick", false, "run small searches that take seconds; do not compare times and memory with targets")
	return command
}

// bench measures and writes what was measured.
func (s *session) bench(ctx context.Context, format string, quick bool) (err error) {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program to measure: %w", err)
	}
	b := &bench.Bench{Orrery: bench.Program{Path: path, Name: os.Args[0]}}
	for _, entry := range s.Entries {
		b.Systems = append(b.Systems, entry.Name)
	}
	if spin, missing := bench.FindSpin(); missing != nil {
		b.WhyNot = missing.Error()
	} else {
		defer func() { err = errors.Join(err, spin.Close()) }()
		b.Spin = spin
	}
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

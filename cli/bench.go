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
		Short: "Measure searches: full and reduced ones, beside SPIN, by workers, in time and memory",
		Long: `Bench measures searches, and holds them against targets. Every search is a process of
its own: a check, whose command is shown, or a run of SPIN, if spin and gcc are installed.
It takes about two minutes on a machine that has nothing else to do. What is compared is
run in turn, so that other work on the machine bears on both sides.

Exit codes: 0 no target was missed, 1 one was, 2 bad usage, 3 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.bench(command.Context(), format, quick)
		},
	}
	addFormat(command, &format)
	command.Flags().BoolVar(&quick, "quick", false, "measure small searches, in seconds: times and memory are not judged")
	return command
}

// bench measures and writes what was measured.
func (s *session) bench(ctx context.Context, format string, quick bool) (err error) {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program that is to be measured: %w", err)
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
		report.Notes = append(report.Notes, "The benchmark was interrupted: the rest was not measured")
	case report.Missed():
		s.code = ExitViolated
	}
	if format == "json" {
		return writeJSON(s.streams.Out, report)
	}
	bench.WriteText(s.streams.Out, report)
	return nil
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

func (s *session) replayCommand() *cobra.Command {
	number := 1
	command := &cobra.Command{
		Use:   "replay FILE --finding N",
		Short: "Run the trace of a finding again, and report whether it still happens",
		Long: `Replay builds the recorded system again and runs the trace of a finding, step by
step, with the current code of the controllers.

Exit codes: 1 it still happens, 0 it does not, 2 bad usage or bad input.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.replay(command.Context(), args[0], number)
		},
	}
	command.Flags().Var(&flagValue[int]{to: &number, parse: findingNumber, text: "1", kind: "N"}, "finding", "the number of the finding")
	return command
}

// replay runs a recorded finding again.
func (s *session) replay(ctx context.Context, path string, number int) error {
	system, report, finding, err := s.recorded(ctx, path, number)
	if err != nil {
		return err
	}
	options, err := orrery.Options{}.Again(report)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	options.Logger, options.Guard = s.logger, s.guard
	for i, trace := range traces(finding) {
		s.logger.Debug("a trace is replayed", "finding", number, "run", i+1, "steps", len(trace.Steps))
		deviation, err := s.Engine.Replay(ctx, system, trace, options)
		if err != nil {
			return err
		}
		if deviation != nil {
			fmt.Fprintf(s.streams.Out, "Finding %d no longer happens: %s\n", number, describe(*deviation))
			return nil
		}
	}
	s.code = ExitViolated
	fmt.Fprintf(s.streams.Out, "Finding %d still happens: %s\n", number, finding.Summary)
	return nil
}

// recorded returns a finding of a run record, with the report that it is in and the system that it
// was found in, built anew.
func (s *session) recorded(ctx context.Context, path string, number int) (*core.System, *core.Report, *core.Finding, error) {
	r, err := readRecord(ctx, path)
	if err != nil {
		return nil, nil, nil, err
	}
	finding, err := findingOf(&r.Report, number)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	system, err := s.rebuild(ctx, r.Header)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return system, &r.Report, &finding, nil
}

// traces returns the runs of a finding.
func traces(finding *core.Finding) []core.Trace {
	if finding.Other != nil {
		return []core.Trace{finding.Trace, *finding.Other}
	}
	return []core.Trace{finding.Trace}
}

// describe says where a run goes another way.
func describe(d core.Deviation) string {
	if d.Step == 0 {
		return d.Reason
	}
	return fmt.Sprintf("step %d differs: %s", d.Step, d.Reason)
}

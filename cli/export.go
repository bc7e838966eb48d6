package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
)

func (s *session) exportCommand() *cobra.Command {
	var format string
	var choice drawing
	command := &cobra.Command{
		Use:   "export FILE --format dot|json",
		Short: "Export a record as JSON, or as a drawing in the DOT language",
		Long: `Export writes a record to standard output, as JSON or as a drawing in the DOT
language of Graphviz. By default, the drawing shows the first finding; if there is
no finding, the state graph; and if that is too large, the outcomes.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.export(command.Context(), args[0], format, choice)
		},
	}
	flags := command.Flags()
	flags.Var(&flagValue[string]{to: &format, parse: oneOf("dot", "json"), kind: "dot|json"}, "format", "output format")
	flags.Var(&flagValue[int]{to: &choice.finding, parse: findingNumber, kind: "N"}, "finding", "draw the trace of finding N")
	flags.BoolVar(&choice.outcomes, "outcomes", false, "draw the outcomes, and the steps that decide between them")
	flags.BoolVar(&choice.graph, "graph", false, "draw the state graph, if it is small")
	command.MarkFlagsMutuallyExclusive("finding", "outcomes", "graph")
	return command
}

// export writes a record in another form.
func (s *session) export(ctx context.Context, path, format string, choice drawing) error {
	if format == "" {
		return errors.New("choose an output format: --format dot or --format json")
	}
	if format == "json" && choice != (drawing{}) {
		return errors.New("--finding, --outcomes and --graph choose what to draw: use them with --format dot")
	}
	r, err := readRecord(ctx, path)
	if err != nil {
		return err
	}
	out := interruptibleWriter{ctx, s.streams.Out}
	if format == "json" {
		return r.WriteJSON(out)
	}
	return draw(out, &r.Report, func() (dot.Space, error) { return recordedSpace(r), nil }, choice)
}

// findingNumber takes the number of a finding.
func findingNumber(text string) (int, error) {
	n, err := natural(text)
	if err != nil || n == 0 {
		return 0, errors.New("use the number of a finding, 1 or more")
	}
	return n, nil
}

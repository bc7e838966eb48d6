package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/page"
)

func (s *session) exportCommand() *cobra.Command {
	var format string
	var choice drawing
	command := &cobra.Command{
		Use:   "export FILE --format dot|html|json",
		Short: "Export a record as a page for browsers, as JSON, or as a drawing in the DOT language",
		Long: `Export writes a record to standard output: as a page for browsers with all stories,
which needs nothing else; as JSON; or as a drawing in the DOT language of Graphviz. By default, the drawing shows the first finding; if there is
no finding, the state graph; and if that is too large, the outcomes.`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.export(command.Context(), args[0], format, choice)
		},
	}
	flags := command.Flags()
	flags.Var(&flagValue[string]{to: &format, parse: oneOf("dot", "html", "json"), kind: "dot|html|json"}, "format", "output format")
	flags.Var(&flagValue[int]{to: &choice.finding, parse: findingNumber, kind: "N"}, "finding", "draw the trace of finding N")
	flags.BoolVar(&choice.outcomes, "outcomes", false, "draw the outcomes, and the steps that decide between them")
	flags.BoolVar(&choice.graph, "graph", false, "draw the state graph, if it is small")
	command.MarkFlagsMutuallyExclusive("finding", "outcomes", "graph")
	return command
}

// export writes a record in another form.
func (s *session) export(ctx context.Context, path, format string, choice drawing) error {
	if format == "" {
		return errors.New("choose an output format: --format dot, --format html or --format json")
	}
	if format != "dot" && choice != (drawing{}) {
		return errors.New("--finding, --outcomes and --graph choose what to draw: use them with --format dot")
	}
	r, err := readRecord(ctx, path)
	if err != nil {
		return err
	}
	out := interruptibleWriter{ctx, s.streams.Out}
	switch format {
	case "json":
		return r.WriteJSON(out)
	case "html":
		return page.Report(out, &r.Report)
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

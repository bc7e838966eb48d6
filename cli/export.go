package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/record"
)

func (s *session) exportCommand() *cobra.Command {
	var format string
	var choice drawing
	command := &cobra.Command{
		Use:   "export FILE --format dot|json",
		Short: "Write a recorded run in a form that other tools read",
		Long: `Export writes a recorded run to standard output: as JSON all of it, or as a
drawing in the DOT language of Graphviz. Without a choice the drawing shows the
first finding, or else the graph, or else, if that is too large, the outcomes.`,
		Args: exactly("one file that was written by orrery check --out"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.export(args[0], format, choice)
		},
	}
	flags := command.Flags()
	flags.Var(&flagValue[string]{to: &format, parse: oneOf("dot", "json"), kind: "dot|json"}, "format", "the form to write")
	flags.Var(&flagValue[int]{to: &choice.finding, parse: findingNumber, kind: "N"}, "finding", "draw the story of finding N")
	flags.BoolVar(&choice.outcomes, "outcomes", false, "draw the ways to end, and the steps that decide which")
	flags.BoolVar(&choice.graph, "graph", false, "draw all states, if they are few")
	command.MarkFlagsMutuallyExclusive("finding", "outcomes", "graph")
	return command
}

// export writes a record in another form.
func (s *session) export(path, format string, choice drawing) error {
	if format == "" {
		return errors.New("say in which form to write: --format dot or --format json")
	}
	if format == "json" && choice != (drawing{}) {
		return errors.New("--finding, --outcomes and --graph choose what is drawn: use them with --format dot")
	}
	r, err := record.ReadFile(path)
	if err != nil {
		return err
	}
	if format == "json" {
		return r.WriteJSON(s.streams.Out)
	}
	return draw(s.streams.Out, &r.Report, func() dot.Space { return recordedSpace(r) }, choice)
}

// findingNumber takes the number of a finding.
func findingNumber(text string) (int, error) {
	n, err := natural(text)
	if err != nil || n == 0 {
		return 0, errors.New("use the number of a finding, from 1 on")
	}
	return n, nil
}

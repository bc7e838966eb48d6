package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// whyAnswer is what why writes as JSON.
type whyAnswer struct {
	Schema   string          `json:"schema"`
	Question string          `json:"question"`
	Answer   analysis.Answer `json:"answer"`
	Notes    analysis.Notes  `json:"notes"`
}

func (s *session) traceWhy() *cobra.Command {
	form := newAnswerForm()
	var drawing pageFile
	command := &cobra.Command{
		Use:   "why FILE... OBJECT[.FIELD]",
		Short: "Show what led to the last version of an object, or to the last change of a field",
		Long: `Why follows the chain of causes from a version of an object: the write that made it, the reconcile that wrote it, the events
that made the reconcile begin, the writes that these events told of, and so on.

OBJECT is kind/namespace/name, kind/name, or namespace/name. FIELD is names and numbers between dots, such as
spec.replicas or status.conditions.0.status, and in brackets what has dots itself: metadata.annotations[example.com/x].`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("%s takes recordings, and an object such as ConfigMap/default/web, with a field behind a dot", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			about := args[len(args)-1]
			files, err := sources(ctx, args[:len(args)-1])
			if err != nil {
				return err
			}
			answer, notes, err := analysis.Why(files, about)
			var nobody *analysis.UnknownObjectError
			if errors.As(err, &nobody) {
				return unknown("object", about, nobody.Known, "orrery trace show")
			}
			if err != nil {
				return err
			}
			if drawing.wanted() {
				if err := drawing.write(s.streams.Out, func(w io.Writer) error { return dot.Causes(w, answer) }); err != nil || !form.html.wanted() {
					return err
				}
			}
			a := newAnswers(ctx, s.streams.Out, form, "why", about)
			switch {
			case a.page != nil:
				if err := a.add(answer); err != nil {
					return err
				}
				return a.end("", notes)
			case a.json:
				return writeJSON(s.streams.Out, whyAnswer{TraceSchema, "why", answer, notes})
			}
			answer.Text(s.streams.Out)
			notes.Text(s.streams.Out)
			return nil
		},
	}
	form.flags(command)
	command.Flags().StringVar(drawing.flag("--dot"), "dot", "", "draw the causes in `FILE`, in the DOT language of Graphviz, instead of text")
	command.MarkFlagsMutuallyExclusive("dot", "format")
	return command
}

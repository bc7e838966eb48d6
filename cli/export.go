package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/export"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/regression"
	"github.com/orrery-dev/orrery/record"
)

// formats are the forms that a record is exported in.
func formats() []string {
	return []string{"dot", "html", "svg", "mermaid", "sarif", "junit", "itf", "go", "json"}
}

func (s *session) exportCommand() *cobra.Command {
	var format string
	var choice drawing
	command := &cobra.Command{
		Use:   "export FILE --format " + strings.Join(formats(), "|"),
		Short: "Export a record as a page for browsers, as a drawing, or for other tools",
		Long: `Export writes a record to standard output, in one of these forms:
  dot      a drawing in the DOT language of Graphviz; by default of the first finding; if
           there is no finding, of the state graph; and if that is too large, of the outcomes
  html     a page for browsers with all stories, which needs nothing else
  svg      the first finding as a picture, with a column for each controller
  mermaid  the first finding as a sequence diagram in the language of Mermaid, which
           GitHub and GitLab draw in descriptions
  sarif    all findings for code hosts and editors that read SARIF 2.1.0
  junit    a report of JUnit with a test for each property
  itf      the run of the first finding in the Informal Trace Format
  go       a Go test that replays the first finding: it fails as long as that happens; a test with
           -orrery.regression writes one that makes the system, too
  json     all that is in the record`,
		Args: exactly("one record that orrery check --out wrote"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.export(command.Context(), args[0], format, choice)
		},
	}
	flags := command.Flags()
	flags.Var(&flagValue[string]{to: &format, parse: oneOf(formats()...), kind: strings.Join(formats(), "|")}, "format", "output format")
	flags.Var(&flagValue[int]{to: &choice.finding, parse: findingNumber, kind: "N"}, "finding", "export finding N (dot, svg, mermaid, itf, go)")
	flags.BoolVar(&choice.outcomes, "outcomes", false, "draw the outcomes, and the steps that decide between them (dot)")
	flags.BoolVar(&choice.graph, "graph", false, "draw the state graph, if it is small (dot)")
	command.MarkFlagsMutuallyExclusive("finding", "outcomes", "graph")
	return command
}

// export writes a record in another form.
func (s *session) export(ctx context.Context, file, format string, choice drawing) error {
	single := slices.Contains([]string{"svg", "mermaid", "itf", "go"}, format)
	switch {
	case format == "":
		return fmt.Errorf("choose an output format: --format %s", strings.Join(formats(), "|"))
	case (choice.outcomes || choice.graph) && format != "dot":
		return errors.New("--outcomes and --graph choose what to draw: use them with --format dot")
	case choice.finding > 0 && format != "dot" && !single:
		return errors.New("--finding chooses one finding: use it with --format dot, svg, mermaid, itf or go")
	}
	r, err := readRecord(ctx, file)
	if err != nil {
		return err
	}
	out := interruptibleWriter{ctx, s.streams.Out}
	var finding core.Finding
	if single {
		if finding, err = findingOf(&r.Report, max(1, choice.finding)); err != nil {
			return err
		}
	}
	switch format {
	case "json":
		return r.WriteJSON(out)
	case "html":
		return page.Report(out, &r.Report)
	case "svg":
		return export.SVG(out, finding)
	case "mermaid":
		return export.Mermaid(out, finding)
	case "sarif":
		return export.SARIF(out, &r.Report)
	case "junit":
		return export.JUnit(out, &r.Report)
	case "itf":
		return export.ITF(out, finding)
	case "go":
		return writeTest(out, file, finding, r)
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

// writeTest writes a test that replays a finding of a record.
func writeTest(w io.Writer, file string, finding core.Finding, r *record.Record) error {
	kept := path.Join("testdata", "orrery", filepath.Base(file))
	name := fmt.Sprintf("%sRegression%d", regression.TestName(r.Header.System), finding.ID)
	source, err := regression.Alone(regression.Pinned{Name: name, Of: r.Header.System, Summary: finding.Summary, Record: kept}, text.SystemName(&r.Report), finding.ID)
	if err != nil {
		return fmt.Errorf("the test of %s cannot be written: %w", r.Header.System, err)
	}
	_, err = w.Write(source)
	return err
}

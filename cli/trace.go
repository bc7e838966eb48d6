package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// TraceSchema names the form of what the verbs of trace write as JSON: an object with the question, the answer, which
// is a list but for why, and notes on what is not recorded.
const TraceSchema = "orrery.trace/v1"

func (s *session) traceCommand() *cobra.Command {
	trace := &cobra.Command{
		Use:   "trace",
		Short: "Explain recordings of running controllers",
		Long: `Trace explains what controllers did in a cluster, from recordings that a manager wrote which was wrapped
with adapters/observe. FILE is a recording, or a folder with the recordings of one or several processes.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no question given: use show, why, stale, fights, idle, slow, replay or validate (see orrery trace --help)")
			}
			return unknown("question", args[0], verbs(command), "orrery trace --help")
		},
	}
	trace.AddCommand(s.traceShow(), s.traceWhy(), s.traceStale(), s.traceFights(), s.traceIdle(), s.traceSlow(),
		s.traceReplay(), s.traceValidate(), s.traceImport())
	return trace
}

// recordings wants at least one file.
func recordings(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s takes recordings, or folders with recordings", command.CommandPath())
	}
	return nil
}

// sources returns the recordings that arguments name.
func sources(ctx context.Context, args []string) ([]analysis.Source, error) {
	var all []analysis.Source
	for _, arg := range args {
		names := []string{arg}
		if info, err := os.Stat(arg); err != nil {
			return nil, err
		} else if info.IsDir() {
			if names, err = filepath.Glob(filepath.Join(escaped(arg), "*.ort")); err != nil {
				return nil, err
			}
			if len(names) == 0 {
				return nil, fmt.Errorf("there is no recording (*.ort) in %s", arg)
			}
		} else if !info.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "read", Path: arg, Err: errors.New("it is read twice, so it has to be a file")}
		}
		for _, name := range names {
			all = append(all, analysis.Source{Name: name, Open: func() (io.ReadCloser, error) {
				file, err := os.Open(name)
				if err != nil {
					return nil, err
				}
				return interruptibleFile{interruptibleReader{ctx, file}, file, file}, nil
			}})
		}
	}
	return all, nil
}

// escaped returns a name that a pattern takes as it is.
func escaped(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// interruptibleFile is a file that is read until a context ends.
type interruptibleFile struct {
	interruptibleReader
	io.Seeker
	io.Closer
}

// answers writes the answers to a question, one after the other, as text, as one JSON object, or as a page.
type answers struct {
	out      io.Writer
	json     bool
	question string
	number   int
	// page is nil if none is wanted.
	page *page.Trace
	to   *pageFile
}

// told is an answer that is a text as well.
type told interface{ Text(io.Writer) }

func newAnswers(ctx context.Context, out io.Writer, form *answerForm, question, about string) *answers {
	a := &answers{out: interruptibleWriter{ctx, out}, json: form.format == "json", question: question}
	if form.html.wanted() {
		a.page, a.to = page.NewTrace(question, about), &form.html
	}
	return a
}

// add writes an answer.
func (a *answers) add(one told) error {
	if a.page != nil {
		if err := a.page.Add(one); err != nil {
			return err
		}
		a.number++
		return nil
	}
	a.number++
	if !a.json {
		text := &outlet{to: a.out}
		one.Text(text)
		return text.err
	}
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	before := ","
	if a.number == 1 {
		before = a.head()
	}
	_, err = fmt.Fprintf(a.out, "%s\n    %s", before, text)
	return err
}

// head returns how the JSON object begins.
func (a *answers) head() string {
	return fmt.Sprintf("{\n  \"schema\": %q,\n  \"question\": %q,\n  \"answer\": [", TraceSchema, a.question)
}

// end writes what is not known, and what to say if there is no answer.
func (a *answers) end(none string, notes analysis.Notes) error {
	if a.page != nil {
		return a.to.write(a.out, func(w io.Writer) error { return a.page.Write(w, none, notes) })
	}
	if !a.json {
		if a.number == 0 {
			fmt.Fprintln(a.out, none)
		}
		notes.Text(a.out)
		return nil
	}
	text, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	before := "\n  "
	if a.number == 0 {
		before = a.head()
	}
	_, err = fmt.Fprintf(a.out, "%s],\n  \"notes\": %s\n}\n", before, text)
	return err
}

// question makes a verb of trace.
func question(use, short, long string, flags func(*cobra.Command), run func(context.Context, []string) error) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: long, Args: recordings,
		RunE: func(command *cobra.Command, args []string) error { return run(command.Context(), args) },
	}
	flags(command)
	return command
}

func (s *session) traceShow() *cobra.Command {
	form := newAnswerForm()
	var filter analysis.Filter
	command := question("show FILE...", "Show each reconcile: why it began, what it asked and wrote, how it ended",
		`Show tells each reconcile when it ends. Times are seconds since the recording began, and @N is the resource version N.`, form.flags,
		func(ctx context.Context, args []string) error {
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			a := newAnswers(ctx, s.streams.Out, form, "show", strings.Trim(filter.Controller+", "+filter.Object, ", "))
			notes, err := analysis.Show(files, filter, func(shown analysis.Shown) error { return a.add(shown) })
			if err = a.enough(err, "choose with --controller or --object"); err != nil {
				return err
			}
			return a.end("No reconcile is recorded.", notes)
		})
	command.Flags().StringVar(&filter.Controller, "controller", "", "show only the reconciles of this controller")
	command.Flags().StringVar(&filter.Object, "object", "", "show only reconciles of this request, or that read or wrote this object (kind/namespace/name)")
	return command
}

func (s *session) traceStale() *cobra.Command {
	form := newAnswerForm()
	return question("stale FILE...", "Show reads of the cache that were behind the server, and the writes that followed",
		`Stale shows each read of a cache that was certainly behind: when it was made, the server held a version that is newer. How far
behind a read was is counted in versions that the recording knows of. What a read would have changed is not known.`, form.flags,
		func(ctx context.Context, args []string) error {
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			a := newAnswers(ctx, s.streams.Out, form, "stale", "")
			notes, err := analysis.Stale(files, func(read analysis.StaleRead) error { return a.add(read) })
			if err = a.enough(err, "name fewer files"); err != nil {
				return err
			}
			return a.end("No read is known to have been stale.", notes)
		})
}

func (s *session) traceFights() *cobra.Command {
	form, atLeast := newAnswerForm(), 2
	command := question("fights FILE...", "Show fields that go back and forth, and who writes them",
		`Fights shows the fields that got a value which they had before the last change, again and again.`, form.flags,
		func(ctx context.Context, args []string) error {
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			fights, notes, err := analysis.Fights(files, atLeast)
			if err != nil {
				return err
			}
			return all(ctx, s.streams.Out, form, "fights", "No field goes back and forth.", fights, notes)
		})
	command.Flags().Var(&flagValue[int]{to: &atLeast, parse: positive, text: "2", kind: "N"}, "at-least", "show fields that went back at least N times")
	return command
}

func (s *session) traceIdle() *cobra.Command {
	form := newAnswerForm()
	return question("idle FILE...", "Count the reconciles that changed nothing, and what woke them",
		`Idle counts, for each controller, the reconciles that changed nothing and did not fail, what they cost, and what woke them.`, form.flags,
		func(ctx context.Context, args []string) error {
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			idle, notes, err := analysis.Idle(files)
			if err != nil {
				return err
			}
			return all(ctx, s.streams.Out, form, "idle", "No reconcile is recorded.", idle, notes)
		})
}

func (s *session) traceSlow() *cobra.Command {
	form, top := newAnswerForm(), 20
	command := question("slow FILE...", "Show which objects took the longest to converge",
		`Slow shows how long it took from what woke a controller to the end of its last reconcile of a request that changed something or failed,
before one that did neither.`, form.flags,
		func(ctx context.Context, args []string) error {
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			slow, notes, err := analysis.Slow(files, top)
			if err != nil {
				return err
			}
			return all(ctx, s.streams.Out, form, "slow", "No reconcile changed anything or failed.", slow, notes)
		})
	command.Flags().Var(&flagValue[int]{to: &top, parse: positive, text: "20", kind: "N"}, "top", "show the N slowest")
	return command
}

// all writes answers that are complete.
func all[T told](ctx context.Context, out io.Writer, form *answerForm, question, none string, list []T, notes analysis.Notes) error {
	a := newAnswers(ctx, out, form, question, "")
	for i, one := range list {
		err := a.add(one)
		if errors.Is(err, page.ErrFull) {
			a.page.LeaveOut(fmt.Sprintf("These are the first %d of %d. All are in the answer as text, and with --format json.", i, len(list)))
			break
		}
		if err != nil {
			return err
		}
	}
	return a.end(none, notes)
}

// positive takes a whole number from 1 on.
func positive(text string) (int, error) {
	n, err := natural(text)
	if err != nil || n == 0 {
		return 0, errors.New("use a whole number, 1 or more")
	}
	return n, nil
}

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

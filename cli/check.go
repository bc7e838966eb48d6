package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/grace"
	"github.com/orrery-dev/orrery/internal/resident"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/atomicfile"
)

func (s *session) checkCommand() *cobra.Command {
	var flags *checkFlags
	command := &cobra.Command{
		Use:   "check NAME",
		Short: "Check a system: explore every order in which its controllers can act",
		Long: `Check explores every order in which the controllers of a system can act, and reports
which of its properties hold.

By default it judges the properties that the system declares. --property judges one
property instead: by its name, or as a formula of linear temporal logic, such as
'G F settled' or '"no pod is left" leads to quiescent'. Atoms are quiescent, terminal and
settled, and, in quotes, the names of invariants and expressions in the Common
Expression Language, such as "pods.size() > 0".
--properties adds the properties of a YAML file. Check reports mistakes in formulas
and files before it runs the system.

--stale says how stale caches may be, by one of these rules:
  fresh          show each change as soon as it is committed
  lag(N)         miss up to N of the latest changes
  own-writes(N)  like lag(N), but show the controller's own writes immediately
  restart(N)     be fresh, but miss up to N changes after the controller restarts
  relist         miss any number of changes, then receive them all at once

--checkpoint keeps what the search has found in a file, and --resume goes on from there after the process was ended, whatever
ended it, or a limit was hit: the result is that of a check that was never interrupted. It takes the same binary, system, parameters and options,
but for limits, workers and files to write. A checkpoint holds what objects hold, Secrets as well.

--thorough says by itself what may go wrong, and takes a minute more than a check in which nothing does, or
--max-time for all of it. It reports on what was found first. What there was no time for is told.

--logs tells what controllers log in each step, and changes nothing else. In a record (--out), and in what orrery export --format json
makes of it, a step has the lines in the field logs, each with its level, logger, message, values, the number of calls before it, and the event handler
or other goroutine (aside) that logged it; missing_logs says what is left out. Lines are as controllers log them: they may hold what is in Secrets.

A signal (SIGINT, SIGTERM) or --max-time ends the check within a second. The report then says
what is missing. A record (--out) has all findings all the same, and as many states as there was
time for; a drawing (--dot) that is not finished is not written. A page (--html) has all that is reported.

Exit codes: 0 holds, 1 violated, 2 bad usage or bad input, 3 inconclusive.`,
		Args: exactly("the name of one system (orrery list shows them)"),
		RunE: func(command *cobra.Command, args []string) error {
			return s.check(command.Context(), args[0], flags, recorded(command.Flags()))
		},
	}
	flags = addCheckFlags(command)
	return command
}

// check checks a system and writes what was found.
func (s *session) check(ctx context.Context, name string, flags *checkFlags, given map[string][]string) error {
	system, values, err := s.build(name, flags.params)
	if err != nil {
		return err
	}
	if system, err = flags.from.begin(ctx, system); err != nil {
		return err
	}
	options, err := flags.options()
	if err != nil {
		return err
	}
	if options.Comparisons, err = comparisons(flags.without); err != nil {
		return err
	}
	if err := options.Validate(system); err != nil {
		return err
	}
	s.logger.Debug("the system is built", "system", name, "params", values.Strings(), "controllers", len(system.Strategies))
	began := time.Now()
	if !s.began.IsZero() && options.MaxTime > 0 {
		options.MaxTime, began = max(time.Millisecond, (options.MaxTime-time.Since(s.began)).Round(time.Millisecond)), s.began
	}
	asked, err := s.chosen(system, flags.properties, flags.propertyFiles)
	if err != nil {
		return err
	}
	system.Properties = asked.Properties
	options.Comparisons = append(options.Comparisons, asked.Comparisons...)
	// A file that cannot be written is better known before a long search than after it.
	files, err := flags.openFiles()
	if err != nil {
		return err
	}
	defer files.discard()

	if options.Checkpoint, err = s.openCheckpoint(flags, name, values); err != nil {
		return err
	}
	// Until the end, as the record and the pages are made of what was found.
	defer resident.Keep(options.MaxMemory)()
	if options.Compact {
		defer resident.Economize()()
	}
	result, err := s.search(ctx, system, options, flags.thorough)
	kept := s.closeCheckpoint(options.Checkpoint)
	if err != nil {
		return errors.Join(err, kept)
	}
	report := &result.Report
	report.System, report.Params = name, values.Strings()
	complete(report, flags.out)
	s.code = exitCode(ctx, report.Verdict)

	// What was found comes before the files, which may take some time.
	if flags.format == "json" {
		err = writeJSON(s.streams.Out, report)
	} else {
		err = text.Report(s.streams.Out, report, text.Options{Color: s.streams.Color, Full: flags.full})
	}
	writing, stop := writingTime(ctx, began, flags.maxTime)
	defer stop()
	header := record.Header{System: name, Params: report.Params, Options: given}
	note, written := files.write(writing, result, header, flags.recordStates)
	if flags.out != "" || flags.dot != "" || flags.html != "" {
		s.logger.Debug("the files are written", "out", flags.out, "dot", flags.dot, "html", flags.html, "error", written)
	}
	if note != "" {
		fmt.Fprintf(s.streams.Err, "orrery: %s: %s\n", flags.out, note)
	}
	return errors.Join(err, written, kept)
}

// writingGrace is how long files are still written after the command was interrupted or has reached its limit on time.
const writingGrace = 600 * time.Millisecond

// writingTime returns the context in which files are written.
func writingTime(ctx context.Context, began time.Time, limit time.Duration) (context.Context, context.CancelFunc) {
	later, stop := grace.After(ctx, writingGrace)
	if limit == 0 {
		return later, stop
	}
	limited, cancel := context.WithDeadline(later, began.Add(limit+writingGrace))
	return limited, func() {
		cancel()
		stop()
	}
}

// build finds a system by name and makes it.
func (s *session) build(name string, params []string) (*core.System, catalog.Values, error) {
	i := slices.IndexFunc(s.Entries, func(e catalog.Entry) bool { return e.Name == name })
	if i < 0 {
		names := make([]string, len(s.Entries))
		for i, entry := range s.Entries {
			names[i] = entry.Name
		}
		return nil, nil, unknown("system", name, names, "orrery list")
	}
	values, err := s.Entries[i].Parse(params)
	if err != nil {
		return nil, nil, err
	}
	system, err := s.Entries[i].Build(values)
	if err != nil {
		return nil, nil, fmt.Errorf("build %s: %w", name, err)
	}
	return system, values, system.Validate()
}

// search runs the engine, with a progress line unless a log says more or is to say less.
func (s *session) search(ctx context.Context, system *core.System, options orrery.Options, thorough bool) (*orrery.Result, error) {
	options.Logger, options.Guard = s.logger, s.guard
	if !s.logger.IsDebug() && (s.streams.Live || s.logger.IsInfo()) {
		line := newProgressLine(s.streams.Err, s.streams.Live, s.streams.Width)
		defer line.clear()
		options.Progress = line.show
	}
	if !thorough {
		return s.Engine.Check(ctx, system, options)
	}
	ladder, err := s.Engine.Climb(ctx, system, options)
	if err != nil {
		return nil, err
	}
	return ladder.Result(), nil
}

// complete fills in what only the command knows.
func complete(report *core.Report, out string) {
	report.Schema = core.ReportSchema
	report.PeakRSSBytes = max(report.PeakRSSBytes, resident.Peak())
	// In JSON, no entries are an empty list.
	report.Reasons = append([]string{}, report.Reasons...)
	report.Assumptions = append([]string{}, report.Assumptions...)
	report.Properties = append([]core.PropertyReport{}, report.Properties...)
	report.Findings = append([]core.Finding{}, report.Findings...)
	for i := range report.Findings {
		finding := &report.Findings[i]
		finding.Controllers = append([]string{}, finding.Controllers...)
		finding.Fields = append([]string{}, finding.Fields...)
		if out != "" {
			finding.Replay = fmt.Sprintf("orrery replay %s --finding %d", shellWord(out), finding.ID)
		}
	}
}

// shellWord returns a word as it must be typed into a shell.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// exitCode returns the exit code for a verdict. A search that was interrupted
// ends with [ExitInconclusive], unless it was complete by then.
func exitCode(ctx context.Context, verdict core.Verdict) int {
	switch {
	case verdict == core.Holds:
		return ExitHolds
	case verdict == core.Violated && ctx.Err() == nil:
		return ExitViolated
	}
	return ExitInconclusive
}

// outputFiles are the files that a check writes besides its report.
type outputFiles struct {
	record, drawing, page *atomicfile.File
}

// openFiles opens the files that flags name.
func (f *checkFlags) openFiles() (files outputFiles, err error) {
	if f.out == "" && f.recordStates != record.DefaultLimit {
		return outputFiles{}, errors.New("no record is written: give its file with --out, or leave out --record-states")
	}
	wanted := []struct {
		flag, path string
		file       **atomicfile.File
	}{{"--out", f.out, &files.record}, {"--dot", f.dot, &files.drawing}, {"--html", f.html, &files.page}}
	for i, one := range wanted {
		for _, other := range wanted[:i] {
			if one.path != "" && other.path != "" && same(one.path, other.path) {
				return files, fmt.Errorf("%s and %s both name %s: give each its own file", other.flag, one.flag, other.path)
			}
		}
	}
	for _, one := range wanted {
		if one.path == "" {
			continue
		}
		if *one.file, err = atomicfile.Create(one.path); err != nil {
			files.discard()
			return outputFiles{}, err
		}
	}
	return files, nil
}

// same reports whether two names are of one file, which may be there or not.
func same(one, other string) bool {
	if filepath.Clean(one) == filepath.Clean(other) {
		return true
	}
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// write writes the files. One that cannot be written does not keep the other from being. The record has so many states
// at most. The note says what is missing from the record because it was interrupted, empty if nothing is; a drawing is
// whole or not written.
func (f outputFiles) write(ctx context.Context, result *orrery.Result, header record.Header, states int) (note string, err error) {
	err = errors.Join(
		commit(f.record, func(w io.Writer) error {
			extent, err := record.Write(ctx, w, header, &result.Report, graphOf(result), states)
			if extent.Interrupted {
				note = extent.Note + "; its report, findings and outcomes are complete"
			}
			return err
		}),
		commit(f.drawing, func(w io.Writer) error {
			return draw(w, &result.Report, func() (dot.Space, error) {
				return dot.SpaceOf(ctx, text.SystemName(&result.Report), result.Report.OutcomeList, result.Graph, record.DefaultLimit)
			}, drawing{})
		}),
		commit(f.page, func(w io.Writer) error { return page.Report(w, &result.Report) }),
	)
	return note, err
}

// graphOf returns the graph of a check to record, nil if it has none.
func graphOf(result *orrery.Result) record.Graph {
	if result.Graph == nil {
		return nil
	}
	return result.Graph
}

func commit(file *atomicfile.File, write func(io.Writer) error) error {
	if file == nil {
		return nil
	}
	if err := write(file); err != nil {
		return err
	}
	return file.Commit()
}

func (f outputFiles) discard() {
	for _, file := range []*atomicfile.File{f.record, f.drawing, f.page} {
		if file != nil {
			file.Discard()
		}
	}
}

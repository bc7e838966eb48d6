package orrery

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/adapters/dot"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/supervisor"
	"github.com/orrery-dev/orrery/record"
	"github.com/orrery-dev/orrery/record/atomicfile"
)

// The flags of tests with which what a check finds comes to the tools of the command, and back.
const (
	flagOut    = "orrery.out"
	flagDot    = "orrery.dot"
	flagHTML   = "orrery.html"
	flagReplay = "orrery.replay"
	flagLogs   = "orrery.logs"
	// flagRegression asks for a test of what is found.
	flagRegression = "orrery.regression"
	// flagSupervisor runs the tests in a process of their own.
	flagSupervisor = "orrery.supervisor"
)

// Tests have these flags as soon as they import the package: whoever runs them can use them at once.
func init() {
	if !testing.Testing() {
		return
	}
	supervisor.Testify()
	flag.String(flagOut, "", "write a record of each check to this `file`, or into this folder, by the name of the test")
	flag.String(flagDot, "", "draw the first finding of each check, or its states if there is none, to this `file` in the DOT language, or into this folder, by the name of the test")
	flag.String(flagHTML, "", "write the report of each check with all stories to this `file` as a page for browsers, or into this folder, by the name of the test")
	flag.Bool(flagLogs, false, "tell in stories what controllers log in each step; records and pages then hold it, too, whatever it is")
	flag.String(flagRegression, "", "write a Go test that runs the first finding of a check again and fails as long as it happens, beside the check: . or a `file` that ends in _test.go; its record is in testdata/orrery")
	flag.Var(outliveControllers(), flagSupervisor, "run the tests in a process of their own: controllers that end it are a finding, and the tests go on in another one")
	flag.String(flagReplay, "", "do not check, but replay the findings of the record in this `file`, in the checks of its system")
}

// flagged returns the value of a flag, empty if it is not given.
func flagged(name string) string {
	given := flag.Lookup(name)
	if given == nil {
		return ""
	}
	return given.Value.String()
}

// logged reports whether stories are to say what controllers log.
func logged() bool { return flagged(flagLogs) == "true" }

// fileFor returns the file that a test writes for a flag: the one that it names, or one in a folder that it names.
// Several tests, and several checks of a test, write one file one after the other if it is not a folder.
func fileFor(t T, given, extension string) string {
	info, err := os.Stat(given)
	if err != nil || !info.IsDir() {
		return given
	}
	return filepath.Join(given, strings.ReplaceAll(t.Name(), "/", "-")+extension)
}

// keep writes the files that the flags of a test ask for.
func keep(t T, result *Result) {
	t.Helper()
	ctx := context.Background()
	if given := flagged(flagOut); given != "" {
		file := fileFor(t, given, ".orr")
		header := record.Header{System: result.Report.System, Params: result.Report.Params}
		if _, err := record.WriteFile(ctx, file, header, &result.Report, result.Graph, record.DefaultLimit); err != nil {
			t.Errorf("the record of the check cannot be written: %v", err)
		} else {
			t.Logf("the record of the check is in %s: look at it with orrery export, and replay it with go test -%s", file, flagReplay)
		}
	}
	if given := flagged(flagDot); given != "" {
		file := fileFor(t, given, ".dot")
		if err := writeTo(file, func(w io.Writer) error { return draw(ctx, w, result) }); err != nil {
			t.Errorf("the check cannot be drawn: %v", err)
		} else {
			t.Logf("the check is drawn in %s", file)
		}
	}
	pin(t, result)
	if given := flagged(flagHTML); given != "" {
		file := fileFor(t, given, ".html")
		if err := writeTo(file, func(w io.Writer) error { return page.Report(w, &result.Report) }); err != nil {
			t.Errorf("the page of the check cannot be written: %v", err)
		} else {
			t.Logf("the report is in %s: open it in a browser", file)
		}
	}
}

// writeTo writes a file, or leaves it as it is if there is an error.
func writeTo(path string, write func(io.Writer) error) error {
	file, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return err
	}
	return file.Commit()
}

// draw draws the first finding, or the states if there is none, or the outcomes if there are too many of them.
func draw(ctx context.Context, w io.Writer, result *Result) error {
	if len(result.Report.Findings) > 0 {
		return dot.Finding(w, result.Report.Findings[0])
	}
	space, err := dot.SpaceOf(ctx, text.SystemName(&result.Report), result.Report.OutcomeList, result.Graph, record.DefaultLimit)
	if err != nil {
		return err
	}
	if result.Report.States > dot.StateLimit {
		return dot.Outcomes(w, space)
	}
	return dot.States(w, space)
}

// replayInstead replays the findings of the record that the flags of a test name, if there is one, and ends the test:
// it fails by a finding that happens again, and is skipped otherwise, as nothing was checked.
func replayInstead(t T, system *core.System) {
	t.Helper()
	file := flagged(flagReplay)
	if file == "" {
		return
	}
	recorded, err := record.ReadFile(file)
	if err != nil {
		t.Fatalf("the record cannot be read: %v", err)
	}
	report := recorded.Report
	if report.System != system.Name {
		t.Skipf("the record in %s is of %s, and this checks %s", file, report.System, system.Name)
	}
	replayAll(t, system, file, &report)
	if t.Failed() {
		t.FailNow()
	}
	t.Skip("the findings of the record no longer happen")
}

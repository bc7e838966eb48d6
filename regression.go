package orrery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/regression"
	"github.com/orrery-dev/orrery/record"
)

// ReplayFile runs the findings of a record again, with the controllers of a system as they are now, and fails the test
// if one happens: it is a regression test for a single order of steps, which takes a moment. The flag
// -orrery.regression writes such tests. A run that goes another way at some step does not happen any more, whatever
// comes of it: the check itself searches all other orders. Of a record with several findings, some can be chosen by
// their numbers. A record whose initial objects the system no longer starts with pins nothing, and fails the test.
func ReplayFile(t T, system *core.System, file string, findings ...int) {
	t.Helper()
	checked := checkedAs(t, system, nil)
	recorded, err := record.ReadFile(file)
	if err != nil {
		t.Fatalf("the record cannot be read: %v", err)
	}
	if len(recorded.Report.Findings) == 0 {
		t.Fatalf("%s has no finding to replay: write a record of a check that fails", file)
	}
	for _, number := range findings {
		if number < 1 || number > len(recorded.Report.Findings) {
			t.Fatalf("%s has no finding %d: it has %d", file, number, len(recorded.Report.Findings))
		}
	}
	if len(findings) > 0 {
		recorded.Report.Findings = slices.DeleteFunc(recorded.Report.Findings, func(f core.Finding) bool { return !slices.Contains(findings, f.ID) })
	}
	for id, deviation := range replayAll(t, checked, file, &recorded.Report) {
		if deviation.Step == 0 {
			t.Fatalf("finding %d of %s pins nothing: %s. Write the record again, or remove the test", id, file, deviation.Reason)
		}
	}
}

// replayAll replays the findings of a record, and fails the test by each that happens again. It returns where the
// others go another way, by their numbers.
func replayAll(t T, system *core.System, file string, report *core.Report) map[int]*core.Deviation {
	t.Helper()
	options, err := Options{}.Again(report)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	deviations := map[int]*core.Deviation{}
	for _, finding := range report.Findings {
		deviation, err := Replay(context.Background(), system, finding.Trace, options)
		switch {
		case err != nil:
			t.Fatalf("finding %d of %s cannot be replayed: %v", finding.ID, file, err)
		case deviation != nil:
			deviations[finding.ID] = deviation
			t.Logf("finding %d no longer happens: step %d: %s", finding.ID, deviation.Step, deviation.Reason)
		default:
			var story strings.Builder
			if err := text.Story(&story, finding, text.Options{}); err != nil {
				t.Fatalf("finding %d of %s cannot be told: %v", finding.ID, file, err)
			}
			t.Errorf("finding %d happens again: %s\n%s", finding.ID, finding.Summary, &story)
		}
	}
	return deviations
}

// pin writes a test that runs the first finding of a check again, and its record, if the flags of the test ask for
// that. The test stands beside the check, or in the file that the flag names.
func pin(t T, result *Result) {
	t.Helper()
	given := flagged(flagRegression)
	if given == "" || result.Report.Verdict != core.Violated {
		return
	}
	finding := result.Report.Findings[0]
	for _, f := range result.Report.Findings {
		if !f.Warning {
			finding = f
			break
		}
	}
	if len(finding.Trace.Steps) == 0 {
		t.Logf("no regression test is written: the finding is about the initial state, and has no steps")
		return
	}
	written, err := regressionTest(t.Name(), given, finding, &result.Report)
	if err != nil {
		t.Errorf("the regression test cannot be written: %v", err)
		return
	}
	t.Logf("%s", written)
}

// regressionTest writes the test and the record, and says which, or that there is such a record already.
func regressionTest(of, given string, finding core.Finding, report *core.Report) (said string, err error) {
	file, line := caller()
	if file == "" {
		return "", errors.New("the check is not called by a test: call it in one")
	}
	source := filepath.Base(file) // tests run in the folder of their package, which the compiler may have left out of the name
	folder, name := given, ""
	if strings.HasSuffix(given, ".go") {
		folder, name = filepath.Dir(given), given
		if !strings.HasSuffix(given, "_test.go") {
			return "", fmt.Errorf("%s is not the name of a test: let it end in _test.go", given)
		}
	}
	if !sameFolder(folder, ".") {
		return "", fmt.Errorf("%s is not the folder of the package: the test needs what the check is made of, so write -%s=. there", folder, flagRegression)
	}
	words := regression.TestName(of)
	for n := 1; ; n++ {
		test := fmt.Sprintf("%sRegression%d", words, n)
		kept := path.Join("testdata", "orrery", test+".orr")
		same, err := alreadyPinned(kept, finding)
		switch {
		case err != nil:
			return "", err
		case same:
			return fmt.Sprintf("the finding is pinned already, by the record %s", kept), nil
		}
		target := name
		if target == "" {
			target = strings.ToLower(test) + "_test.go"
		}
		if exists(kept) || name == "" && exists(target) {
			continue
		}
		if exists(target) {
			return "", fmt.Errorf("%s is there already: name another file, or a folder", target)
		}
		check, err := regression.Find(source, line)
		if err != nil {
			return "", err
		}
		text, err := check.Source(regression.Pinned{Name: test, Of: of, Summary: finding.Summary, Record: kept})
		if err != nil {
			return "", fmt.Errorf("%w. Make the system in a function, and call orrery.ReplayFile with what it returns and with a record (-%s)", err, flagOut)
		}
		if err := writePinned(kept, finding, report); err != nil {
			return "", err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return "", err
		}
		return fmt.Sprintf("the test %s in %s runs the finding again: it fails as long as that happens", test, target), nil
	}
}

// writePinned writes a record with one finding, and with nothing that differs from run to run.
func writePinned(file string, finding core.Finding, report *core.Report) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	pinned := *report
	finding.ID = 1
	pinned.Findings, pinned.OutcomeList, pinned.Rungs = []core.Finding{finding}, nil, nil
	pinned.Elapsed, pinned.ElapsedMS, pinned.StatesPerSecond, pinned.PeakRSSBytes = 0, 0, 0, 0
	pinned.LeftBehind = nil
	header := record.Header{System: report.System, Params: report.Params}
	_, err := record.WriteFile(context.Background(), file, header, &pinned, nil, 0)
	return err
}

// alreadyPinned reports whether a record has a run.
func alreadyPinned(file string, finding core.Finding) (bool, error) {
	r, err := record.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	for _, other := range r.Report.Findings {
		if reflect.DeepEqual(asRecorded(other.Trace), asRecorded(finding.Trace)) {
			return true, nil
		}
	}
	return false, nil
}

// asRecorded returns a run as it is in a record, without the numbers of states.
func asRecorded(trace core.Trace) any {
	trace.Steps = slices.Clone(trace.Steps)
	for i := range trace.Steps {
		trace.Steps[i] = trace.Steps[i].Unlogged()
		trace.Steps[i].From, trace.Steps[i].To = 0, 0
	}
	var plain any
	encoded, err := json.Marshal(trace)
	if err != nil || json.Unmarshal(encoded, &plain) != nil {
		return nil
	}
	return plain
}

// caller returns where the check is called that is going on: the first place outside of this package.
func caller() (file string, line int) {
	const most = 64
	counters := make([]uintptr, most)
	frames := runtime.CallersFrames(counters[:runtime.Callers(1, counters)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "github.com/orrery-dev/orrery.") {
			return frame.File, frame.Line
		}
		if !more {
			return "", 0
		}
	}
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

func sameFolder(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

package cli_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/expectations"
)

// TestThorough checks a controller that relies on what it keeps in memory: it is right until its cache is old. The
// report is of where that was found, and names what was searched before, and what was not.
func TestThorough(t *testing.T) {
	command := cli.Command{Entries: expectations.Catalog(), Engine: cli.Engine{Check: orrery.Run, Climb: orrery.Climb}}
	run := func(args string) (stdout, stderr string, code int) {
		var out, complaints bytes.Buffer
		code = command.Run(t.Context(), strings.Fields(args), cli.Streams{Out: &out, Err: &complaints})
		return out.String(), complaints.String(), code
	}
	text, complaints, code := run("check expectations --param defect=1 --thorough")
	for _, want := range []string{
		"VIOLATED  expectations", "\nWhat may go wrong\n    holds         nothing goes wrong: 3 states\n    violated      caches miss the latest change: 8 states\n    not searched  caches miss all that one reconcile changes: 2 of Pod\n    not searched  a controller crashes once\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s%s", want, text, complaints)
		}
	}
	if code != 1 {
		t.Errorf("the exit code is %d, want 1", code)
	}

	text, complaints, code = run("check expectations --thorough --format json")
	var report core.Report
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v: %s", err, complaints)
	}
	searched := !slices.ContainsFunc(report.Rungs, func(r core.RungReport) bool { return r.Verdict == "" })
	if code != 0 || report.Verdict != core.Holds || report.Crashes > 0 || len(report.Rungs) < 6 || !searched {
		t.Errorf("exit code %d, %s, rungs %+v", code, report.Verdict, report.Rungs)
	}

	if text, complaints, code = run("check expectations --thorough --crashes 1"); code != 2 || text != "" || !strings.Contains(complaints, "leave out") {
		t.Errorf("with conditions: exit code %d, %s%s", code, text, complaints)
	}
}

package orrery_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/record"
)

// flaggedTest says in the environment which loops the test is to check that another one runs with flags.
const flaggedTest = "ORRERY_FLAGGED_TEST"

// TestFlagged is run by [TestFlags].
func TestFlagged(t *testing.T) {
	switch os.Getenv(flaggedTest) {
	case "fighting":
		orrery.Check(t, scaled(bounds{"savings", 0, 2}, bounds{"availability", 3, 9}))
	case "settling":
		orrery.CheckWith(t, orrery.Options{}, scaled(bounds{"savings", 0, 3}, bounds{"availability", 2, 9}))
	case "other":
		other := scaled(bounds{"savings", 0, 3})
		other.Name = "other"
		orrery.Check(t, other)
	default:
		t.Skip("it is run by another test")
	}
}

// TestFlags runs a test with the flags that tests have: what it finds is recorded and drawn, and replayed with
// controllers that still do it, with others that do not, and with those of another system.
func TestFlags(t *testing.T) {
	folder := t.TempDir()
	run := func(loops string, flags ...string) (output string, passes bool) {
		command := exec.Command(os.Args[0], append([]string{"-test.run", "^TestFlagged$", "-test.v"}, flags...)...)
		command.Env = append(os.Environ(), flaggedTest+"="+loops)
		text, err := command.CombinedOutput()
		return string(text), err == nil
	}
	wants := func(what, output string, passes, want bool, said ...string) {
		t.Helper()
		for _, text := range said {
			if !strings.Contains(output, text) {
				t.Errorf("%s: %q is not in %s", what, text, output)
			}
		}
		if passes != want {
			t.Errorf("%s: it passes: %t, want %t: %s", what, passes, want, output)
		}
	}
	file := filepath.Join(folder, "fight.orr")
	output, passes := run("fighting", "-orrery.out", file, "-orrery.dot", folder, "-orrery.html", folder)
	wants("a finding", output, passes, false, "VIOLATED", file, "is drawn in", "go test -orrery.replay")
	recorded, err := record.ReadFile(file)
	if err != nil || len(recorded.Report.Findings) != 1 || recorded.Header.System != "scaled" {
		t.Fatalf("the record is %+v, %v", recorded, err)
	}
	if drawn, err := os.ReadFile(filepath.Join(folder, "TestFlagged.dot")); err != nil || !strings.Contains(string(drawn), "Finding 1: savings and availability") {
		t.Errorf("the drawing is %s, %v", drawn, err)
	}

	if page, err := os.ReadFile(filepath.Join(folder, "TestFlagged.html")); err != nil || !strings.Contains(string(page), "savings and availability") {
		t.Errorf("the page is %s, %v", page, err)
	}

	output, passes = run("fighting", "-orrery.replay", file)
	wants("the same loops", output, passes, false, "finding 1 happens again")
	output, passes = run("settling", "-orrery.replay", file)
	wants("mended loops", output, passes, true, "finding 1 no longer happens", "SKIP")
	output, passes = run("other", "-orrery.replay", file)
	wants("another system", output, passes, true, `is of scaled, and this checks other`, "SKIP")
	output, passes = run("fighting", "-orrery.replay", filepath.Join(folder, "none.orr"))
	wants("no record", output, passes, false, "the record cannot be read")

	output, passes = run("settling", "-orrery.dot", folder, "-orrery.out", folder)
	wants("no finding", output, passes, true, "is drawn in", "TestFlagged.orr")
	output, passes = run("settling", "-orrery.out", filepath.Join(folder, "none", "run.orr"))
	wants("no folder", output, passes, false, "the record of the check cannot be written")
}

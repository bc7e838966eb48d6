package orrery_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndedProcesses runs tests whose controllers end the process. Without a supervisor it is said who was at work;
// with one it is a finding, and the other tests go on.
func TestEndedProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a test binary")
	}
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ending.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, "./testdata/ending").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) (string, int) {
		command := exec.Command(binary, append(args, "-test.v")...)
		out, _ := command.CombinedOutput() // how it ended is in the exit code
		return string(out), command.ProcessState.ExitCode()
	}
	const atWork = "orrery: counter, reconciling count, was at work in "
	for test, code := range map[string]int{"TestExit": 3, "TestPanic": 2} {
		out, got := run("-test.run", "Before|"+test)
		if got != code || !strings.Contains(out, "--- PASS: TestBefore") || !strings.Contains(out, atWork+test+" when the process of the tests ended") {
			t.Errorf("%s: exit code %d, and it says\n%s", test, got, out)
		}
	}
	if out, code := run("-test.run", "Before|After"); code != 0 || strings.Contains(out, "was at work") {
		t.Errorf("exit code %d, and it says\n%s", code, out)
	}
	out, code := run("-orrery.supervisor")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"--- PASS: TestBefore", "--- FAIL: TestExit", "--- FAIL: TestPanic", "--- PASS: TestAfter",
		"exited with the code 3", "panic: left behind", "1 → 2", "counter, reconciling count: the code ended the process; this is known from now on, and the tests begin again",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	if out, code := run("-orrery.supervisor", "-test.run", "Before|After"); code != 0 || strings.Count(out, "--- PASS") != 2 {
		t.Errorf("exit code %d, and it says\n%s", code, out)
	}
}

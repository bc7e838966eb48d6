package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command as a process of its own, as scripts do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"interrupts": interrupts,
			"timeless":   timeless,
			"records":    records,
		},
	})
}

// exits runs a command and compares its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	wantExit(ts, args[0], err)
}

// wantExit compares the exit code in the error of a process. A process that was
// killed has the code "killed".
func wantExit(ts *testscript.TestScript, want string, err error) {
	got := "0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		got = "killed"
	case errors.As(err, &exit):
		got = strconv.Itoa(exit.ExitCode())
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %s, want %s", got, want)
	}
}

// interrupts runs orrery, waits until its search has begun, sends it signals, and
// compares its exit code: interrupts SIGNAL[,SIGNAL] CODE ARGUMENT...
func interrupts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupts SIGNALS CODE ARGUMENT...")
	}
	program, err := os.Executable()
	ts.Check(err)
	started := ts.MkAbs("started")
	ts.Check(os.RemoveAll(started))
	command := &exec.Cmd{
		Path: program, Args: append([]string{"orrery"}, args[2:]...), Dir: ts.MkAbs("."),
		Env:    append(os.Environ(), startedVariable+"="+started),
		Stdout: ts.Stdout(), Stderr: ts.Stderr(),
	}
	ts.Check(command.Start())
	deadline := time.Now().Add(30 * time.Second)
	for !exists(started) && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
	for i, name := range strings.Split(args[0], ",") {
		if i > 0 { // let the first one take effect
			time.Sleep(200 * time.Millisecond)
		}
		ts.Check(command.Process.Signal(signals[name]))
	}
	wantExit(ts, args[1], command.Wait())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// timeless copies the result of the last command to a file without what may
// differ from run to run: times, and memory: timeless FILE
func timeless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: timeless FILE")
	}
	var kept []string
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		changing := []string{"Took ", `"elapsed_ms"`, `"states_per_second"`, `"peak_rss_bytes"`, `"workers"`}
		if !startsWithAny(strings.TrimSpace(line), changing) {
			kept = append(kept, line)
		}
	}
	ts.Check(os.WriteFile(filepath.Clean(ts.MkAbs(args[0])), []byte(strings.Join(kept, "")), 0o644))
}

func startsWithAny(line string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

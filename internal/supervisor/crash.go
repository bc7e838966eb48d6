//go:build unix

package supervisor

import (
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"
)

// mostFrames is how many functions of a stack are told.
const mostFrames = 12

// how says in words how a process ended: by what it was ended in the first line, and where on the others.
func how(state *os.ProcessState, crash string) string {
	headline, stack := readCrash(crash)
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case headline != "" && len(stack) > 0:
		return fmt.Sprintf("ended the process: %s (at %s)\n%s", headline, stack[0], strings.Join(stack, "\n"))
	case headline != "":
		return "ended the process: " + headline
	case status.Signaled():
		return fmt.Sprintf("ended the process: it got the signal %q", status.Signal())
	}
	return fmt.Sprintf("ended the process: it exited with the code %d, by os.Exit or a fatal line of a log", state.ExitCode())
}

// readCrash reads what the Go runtime prints about the end of a process: by what it was ended, and the functions of the
// goroutine at work, the innermost first. Those of the runtime and the standard library in front of them are left out,
// and so is how code is called. Both are empty if the runtime printed nothing.
func readCrash(text string) (headline string, stack []string) {
	lines := strings.Split(text, "\n")
	isHeadline := func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	}
	for i := len(lines) - 1; i >= 0; i-- {
		// A panic that is raised again has more than one, of which the first says more.
		if isHeadline(lines[i]) && (i == 0 || !isHeadline(strings.TrimSpace(lines[i-1]))) {
			lines = lines[i:]
			break
		}
	}
	within := false
	for i, line := range lines {
		switch {
		case headline == "" && isHeadline(line):
			headline = line
		case !within && strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, ":"):
			within = true
		case within && line == "":
			return headline, stack
		case within && !strings.HasPrefix(line, "\t") && i+1 < len(lines) && len(stack) < mostFrames:
			function, created := strings.CutPrefix(line, "created by ")
			if created {
				function, _, _ = strings.Cut(function, " in goroutine ")
			} else if end := strings.LastIndexByte(function, '('); end > 0 {
				function = function[:end]
			}
			if strings.Contains(function, "orrery/core/behavior.") || len(stack) == 0 && standard(function) {
				continue
			}
			file, _, _ := strings.Cut(strings.TrimPrefix(lines[i+1], "\t"), " +0x")
			place := function + ", " + path.Base(file)
			if created {
				place = "started by " + place
			}
			stack = append(stack, place)
		}
	}
	return headline, stack
}

// standard reports whether a function is one of the standard library: its package has no domain.
func standard(function string) bool {
	first, _, nested := strings.Cut(function, "/")
	if nested {
		return !strings.Contains(first, ".")
	}
	name, _, _ := strings.Cut(first, ".")
	return name == "runtime" || name == "panic" || name == "sync" || name == "testing" || name == "os" || name == "log" || name == "reflect" || name == "syscall"
}

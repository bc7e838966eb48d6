package transition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var errInterrupted = errors.New("it was interrupted")

// interrupted is a context that ends once: when code is run, or an instance set up, for a line of the package, the
// first time that comes by.
type interrupted struct {
	context.Context
	line string
	// lines are those that have come by.
	lines       map[string]bool
	ends, ended bool
}

// Done implements [context.Context].
func (c *interrupted) Done() <-chan struct{} {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if file := filepath.Base(frame.File); strings.Contains(frame.Function, "core/internal/transition.") && !strings.HasSuffix(file, "_test.go") {
			line := fmt.Sprintf("%s:%d", file, frame.Line)
			c.lines[line] = true
			c.ends = c.ends || line == c.line && !c.ended
		}
	}
	if !c.ends {
		return nil
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Err implements [context.Context].
func (c *interrupted) Err() error {
	if !c.ends {
		return nil
	}
	c.ends, c.ended = false, true
	return errInterrupted
}

// interruptions has searches of scenarios be interrupted wherever they run code: each ends with the error, as it does
// not know what it wanted to find out, and leaves nothing behind. A line that was interrupted in one search is not
// interrupted again in another one. If files are named, others are not interrupted, as they are by other scenarios.
func interruptions(t *testing.T, scenarios []scenario, files ...string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	tried := map[string]bool{}
	for _, s := range scenarios {
		all := &interrupted{Context: t.Context(), lines: map[string]bool{}}
		if _, err := roam(all, s.system(), s.conditions); err != nil {
			t.Fatal(err)
		}
		for _, line := range slices.Sorted(maps.Keys(all.lines)) {
			if file, _, _ := strings.Cut(line, ":"); tried[line] || len(files) > 0 && !slices.Contains(files, file) {
				continue
			}
			one := &interrupted{Context: t.Context(), lines: map[string]bool{}, line: line}
			_, err := roam(one, s.system(), s.conditions)
			if one.ended && !errors.Is(err, errInterrupted) {
				t.Errorf("%s: interrupted in %s, it ends with %v", s.name, line, err)
			}
			tried[line] = one.ended
		}
	}
	if err := goleak.Find(before); err != nil {
		t.Errorf("something is left of the searches: %.300v", err)
	}
}

package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/core"
)

func TestMemorySize(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "1B": 1, "1k": 1000, "1KB": 1000, "1Ki": 1024, "1KiB": 1024, "1 MiB": 1 << 20,
		"512Mi": 512 << 20, "1.5GiB": 3 << 29, "2GB": 2_000_000_000, "1TiB": 1 << 40,
	}
	for text, want := range tests {
		if got, err := memorySize(text); err != nil || got != want {
			t.Errorf("memorySize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "MiB", "123", "-1", "1XiB", "1i", "1iB", "1kk", "99999999TiB", "1e300", "NaN", "Inf"} {
		if got, err := memorySize(text); err == nil {
			t.Errorf("memorySize(%q) = %d, want an error", text, got)
		}
	}
}

func TestShellWord(t *testing.T) {
	tests := map[string]string{
		"run.orr": "run.orr", "a/b-c_1.orr": "a/b-c_1.orr", "": "''", "my run.orr": "'my run.orr'",
		"it's": `'it'\''s'`, "$HOME": "'$HOME'",
	}
	for word, want := range tests {
		if got := shellWord(word); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestExitCode(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		verdict           core.Verdict
		calm, interrupted int
	}{
		{core.Holds, ExitHolds, ExitHolds},
		{core.Violated, ExitViolated, ExitInconclusive},
		{core.Inconclusive, ExitInconclusive, ExitInconclusive},
	}
	for _, test := range tests {
		if got := exitCode(context.Background(), test.verdict); got != test.calm {
			t.Errorf("%s: exit code %d, want %d", test.verdict, got, test.calm)
		}
		if got := exitCode(ended, test.verdict); got != test.interrupted {
			t.Errorf("%s, interrupted: exit code %d, want %d", test.verdict, got, test.interrupted)
		}
	}
}

func TestProgressLine(t *testing.T) {
	var out bytes.Buffer
	line := newProgressLine(&out, true, nil)
	line.clear()
	if out.Len() > 0 {
		t.Errorf("nothing was shown, but cleared: %q", &out)
	}
	for i := range 100 {
		line.show(orrery.Progress{States: i, Elapsed: time.Duration(i) * 10 * time.Millisecond})
	}
	line.show(orrery.Progress{Elapsed: time.Second, Estimate: orrery.Estimate{Growth: 0.5, Ends: true, More: 1_234_567}})
	if !strings.HasSuffix(out.String(), ", about 1.2 million more expected") {
		t.Errorf("the line does not say what is to come: %q", &out)
	}
	line.clear()
	if got := strings.Count(out.String(), "states"); got != 11 {
		t.Errorf("shown %d times within a second, want 11", got)
	}
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line stays: %q", &out)
	}
}

// TestProgressFits wants no line to be longer than the terminal is wide, and the time that is left where it can be
// told.
func TestProgressFits(t *testing.T) {
	progress := orrery.Progress{States: 1_234_567, StatesPerSecond: 20_000, Frontier: 5_000, Runs: 300, Elapsed: time.Minute, Estimate: orrery.Estimate{Growth: 0.5, Ends: true, More: 1_234_567}}
	for _, test := range []struct {
		columns int
		want    string
	}{
		{0, "1,234,567 states, 20,000 per second, 5,000 to visit, depth 0, 300 runs of code, 0 MiB, about 1.2 million more expected (about 1m2s)"},
		{200, "1,234,567 states, 20,000 per second, 5,000 to visit, depth 0, 300 runs of code, 0 MiB, about 1.2 million more expected (about 1m2s)"},
		{20, "1,234,567 states, …"},
		{1, "1,234,567 states, 20,000 per second, 5,000 to visit, depth 0, 300 runs of code, 0 MiB, about 1.2 million more expected (about 1m2s)"},
	} {
		var out bytes.Buffer
		newProgressLine(&out, true, func() int { return test.columns }).show(progress)
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); got != test.want {
			t.Errorf("%d columns: %q, want %q", test.columns, got, test.want)
		}
	}
	progress.Estimate.More = 1e15
	if got := left(progress); got != " (more than 1000h)" {
		t.Errorf("of a great many states: %q", got)
	}
	progress.Estimate.Ends = false
	if got := left(progress); got != "" {
		t.Errorf("without an estimate: %q", got)
	}
}

// TestProgressInLogs wants a line every ten seconds where lines stay, and none of a short search.
func TestProgressInLogs(t *testing.T) {
	var out bytes.Buffer
	line := newProgressLine(&out, false, nil)
	for second := range 35 {
		line.show(orrery.Progress{States: 100 * second, StatesPerSecond: 100, Runs: 300, Elapsed: time.Duration(second) * time.Second})
	}
	line.clear()
	want := ""
	for second, states := range []string{10: "1,000", 20: "2,000", 30: "3,000"} {
		if states == "" {
			continue
		}
		want += fmt.Sprintf("orrery: after %ds: %s states, 100 per second, 0 to visit, depth 0, 300 runs of code, 0 MiB\n", second, states)
	}
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &out, want)
	}
}

package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
)

// TestLogLevel checks that what the command and the engine do is logged to standard error, from the level on that is
// asked for, and that the result stays as it is.
func TestLogLevel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.orr")
	command := fakeCommand()
	check := command.Engine.Check
	command.Engine.Check = func(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
		options.Logger.Debug("a lamp is tried")
		options.Logger.Trace("it is dark")
		return check(ctx, system, options)
	}
	run := func(args ...string) (int, string, string) {
		var out, log bytes.Buffer
		code := command.Run(t.Context(), args, cli.Streams{Out: &out, Err: &log})
		result, _, _ := strings.Cut(out.String(), "\nTook ") // what follows differs from run to run
		return code, result, log.String()
	}
	code, plain, log := run("check", "fake/violated", "--out", file)
	if code != cli.ExitViolated || log != "" {
		t.Errorf("exit code %d, with nothing to log: %q", code, log)
	}
	for _, test := range []struct {
		level     string
		logged    []string
		notLogged []string
	}{
		{"off", nil, []string{"[DEBUG]", "[INFO]"}},
		{"info", nil, []string{"[DEBUG]"}},
		{"debug", []string{"[DEBUG] orrery: the system is built: system=fake/violated", "[DEBUG] orrery: a lamp is tried", "the files are written"}, []string{"it is dark"}},
		{"trace", []string{"[DEBUG] orrery: a lamp is tried", "[TRACE] orrery: it is dark"}, nil},
	} {
		for _, args := range [][]string{
			{"check", "fake/violated", "--out", file, "--log-level", test.level},
			{"--log-level=" + test.level, "check", "fake/violated", "--out", file},
		} {
			code, out, log := run(args...)
			if code != cli.ExitViolated || out != plain {
				t.Errorf("%q: exit code %d: %s", args, code, out)
			}
			for _, line := range test.logged {
				if !strings.Contains(log, line) {
					t.Errorf("%q: it does not log %q:\n%s", args, line, log)
				}
			}
			for _, line := range test.notLogged {
				if strings.Contains(log, line) {
					t.Errorf("%q: it logs %q:\n%s", args, line, log)
				}
			}
		}
	}
	if _, _, log := run("confirm", file); !strings.Contains(log, "[INFO]  orrery: starting a real house") {
		t.Errorf("what takes long is not told: %q", log)
	}
	if _, _, log := run("confirm", file, "--log-level", "error"); log != "" {
		t.Errorf("it logs %q", log)
	}
	if code, _, log := run("check", "fake/holds", "--log-level", "loud"); code != cli.ExitUsage || !strings.Contains(log, "use off or error or warn or info or debug or trace") {
		t.Errorf("exit code %d: %s", code, log)
	}
}

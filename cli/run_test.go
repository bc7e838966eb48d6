package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
)

// run runs the fake command within the test.
func run(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = fakeCommand().Run(context.Background(), args, cli.Streams{Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args string
		// want is what must be said on standard error.
		want string
	}{
		{"", "no command given"},
		{"chek", `there is no command "chek": did you mean "check"?`},
		{"dance", `there is no command "dance" (orrery --help shows all)`},
		{"list all", "unknown command"},
		{"check", "takes the name of one system (orrery list shows them), but got 0 arguments"},
		{"check fake/holds fake/slow", "got 2 arguments"},
		{"check fake/hold", `there is no system "fake/hold": did you mean "fake/holds"?`},
		{"check violatd", `did you mean "fake/violated"?`},
		{"check something/else", `there is no system "something/else" (orrery list shows all)`},
		{"check fake/unbuildable", "build fake/unbuildable: the bulb is missing: screw one in"},
		{"check fake/invalid", "the system has no name"},
		{"check fake/refused", "the lamp is bolted down: unscrew it"},
		{"check fake/holds --nonsense", "unknown flag: --nonsense (see orrery check --help)"},
		{"check fake/holds --param m=1", `has no parameter "m": it takes n`},
		{"check fake/holds --param n=10", "give a number from 1 to 9"},
		{"check fake/holds --param n", "not of the form name=value"},
		{"check fake/holds --reduction some", "use none or por"},
		{"check fake/holds --granularity step", "use reconcile or call"},
		{"check fake/holds --stale watch", `staleness "watch": use CONTROLLER/KIND=RULE, such as web/Pod=lag(1), or all=RULE`},
		{"check fake/holds --stale Lamp=lag(1)", "use CONTROLLER/KIND=RULE"},
		{"check fake/holds --stale night/watch/Lamp=lag(-1)", "write lag(N) with a whole number from 0 to 1000, for example lag(2)"},
		{"check fake/holds --stale night/watch/Lamp=old", `there is no rule "old": use fresh, lag(N), own-writes(N), restart(N) or relist`},
		{"check fake/holds --stale all=", `there is no rule "": use fresh`},
		{"check fake/holds --stale night/watch/lamp=relist", `controller "night/watch" does not watch "lamp": it watches Lamp`},
		{"check fake/holds --stale day/Lamp=fresh", `there is no controller "day": use one of night/watch`},
		{"check fake/holds --stale all=lag(1) --stale day/Lamp=fresh", `there is no controller "day"`},
		{"check fake/holds --double day", `there is no controller "day" to run twice: use one of night/watch`},
		{"check fake/holds --crashes -1", "use a whole number, 0 or more"},
		{"check fake/holds --failures many", "use a whole number, 0 or more"},
		{"check fake/holds --search best", "use bfs or dfs"},
		{"check fake/holds --workers -1", "use a whole number, 0 or more"},
		{"check fake/holds --max-states many", "use a whole number, 0 or more"},
		{"check fake/holds --max-depth 1.5", "use a whole number, 0 or more"},
		{"check fake/holds --max-time 5", "use a duration such as 90s"},
		{"check fake/holds --max-time -5s", "use a duration such as 90s"},
		{"check fake/holds --max-memory lots", "use a size with its unit, such as 512MiB"},
		{"check fake/holds --property dark", `there is no property "dark": choose from "the lamp stays off", "same outcome"`},
		{"check fake/holds --properties none.yaml", "none.yaml: no such file"},
		{"check fake/holds --format yaml", "use text or json"},
		{"check fake/holds --seed x", "invalid argument"},
		{"serve", "orrery serve takes one record that orrery check --out wrote, but got 0 arguments"},
		{"serve none.orr", "none.orr: no such file"},
		{"serve none.orr --addr 0.0.0.0:80", "a record is served to this machine only: use localhost"},
		{"serve none.orr --addr example.com:80", "a record is served to this machine only: use localhost"},
		{"serve none.orr --addr localhost", "use a host and a port, such as localhost:8733"},
		{"serve none.orr --addr localhost:99999", `there is no port "99999"`},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			code, out, complaints := run(t, strings.Fields(test.args)...)
			if code != cli.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cli.ExitUsage)
			}
			if out != "" {
				t.Errorf("standard output holds %q", out)
			}
			if !strings.Contains(complaints, test.want) {
				t.Errorf("standard error holds %q, want %q", complaints, test.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		args string
		want int
	}{
		{"--help", 0},
		{"check --help", 0},
		{"list", 0},
		{"check fake/holds", 0},
		{"check fake/holds --format json", 0},
		{"check fake/holds --reduction none --granularity reconcile --stale night/watch/Lamp=fresh --crashes 0 --failures 0", 0},
		{"check fake/holds --granularity call --stale night/watch/Lamp=lag(2) --stale all=relist --crashes 1 --failures 2 --double night/watch", 0},
		{"check fake/holds --search dfs --workers 3 --max-states 9 --max-depth 9 --max-time 1m --max-memory 1.5GiB --seed 7", 0},
		{"check fake/holds --param n=9", 0},
		{"check fake/violated", 1},
		{"check fake/violated --format json", 1},
		{"check fake/refused", 2},
		{"check fake/inconclusive", 3},
		{"check fake/inconclusive --format json", 3},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			code, _, complaints := run(t, strings.Fields(test.args)...)
			if code != test.want {
				t.Errorf("exit code %d, want %d: %s", code, test.want, complaints)
			}
		})
	}
}

func TestTwoSystemsOfOneName(t *testing.T) {
	command := cli.Command{Entries: []catalog.Entry{{Name: "a"}, {Name: "a"}}}
	var out, complaints bytes.Buffer
	code := command.Run(context.Background(), []string{"list"}, cli.Streams{Out: &out, Err: &complaints})
	if code != cli.ExitUsage || !strings.Contains(complaints.String(), `two systems are called "a"`) {
		t.Errorf("exit code %d: %s", code, &complaints)
	}
}

func TestColor(t *testing.T) {
	var out, complaints bytes.Buffer
	streams := cli.Streams{Out: &out, Err: &complaints, Color: true}
	if code := fakeCommand().Run(context.Background(), []string{"check", "fake/holds"}, streams); code != 0 {
		t.Fatalf("exit code %d: %s", code, &complaints)
	}
	if !strings.HasPrefix(out.String(), "\x1b[") {
		t.Errorf("no colour in %q", &out)
	}
}

// TestBrokenOutput gives the process a standard output that cannot be written.
func TestBrokenOutput(t *testing.T) {
	reader, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer closed.Close()
	outputs := map[string]*os.File{"closed pipe": closed}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer full.Close()
		outputs["full disk"] = full
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(t.TempDir(), "run.orr")
	if code, _, complaints := run(t, "check", "fake/violated", "--out", record); code != 1 {
		t.Fatalf("exit code %d: %s", code, complaints)
	}
	for name, output := range outputs {
		for _, args := range []string{"list", "--help", "check fake/holds", "check fake/violated --format json", "export RECORD --format dot", "replay RECORD", "confirm RECORD"} {
			t.Run(name+"/"+args, func(t *testing.T) {
				var complaints bytes.Buffer
				command := &exec.Cmd{
					Path: program, Args: append([]string{"orrery"}, strings.Fields(strings.ReplaceAll(args, "RECORD", record))...),
					Stdout: output, Stderr: &complaints,
				}
				if err := command.Run(); err == nil || command.ProcessState.ExitCode() != cli.ExitUsage {
					t.Errorf("%v, want exit code %d", err, cli.ExitUsage)
				}
				if !strings.Contains("\n"+complaints.String(), "\norrery: write to standard output: ") {
					t.Errorf("standard error holds %q", &complaints)
				}
			})
		}
	}
}

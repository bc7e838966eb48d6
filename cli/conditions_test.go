package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// maker is a controller that keeps one thing in the world. It numbers the things it makes, and trusts its cache on how
// many there are.
func maker(catalog.Values) (*core.System, error) {
	things, next := plain.NewFamily[int]("thing"), plain.NewVar[int]("next")
	count := func(s core.State) int { return len(s.List(things.Kind(), "")) }
	return plain.Model{
		Name:    "maker",
		Initial: []core.Initial{plain.Start(next.Is(0))},
		Controllers: []plain.Controller{{
			Name:      "auditor",
			Requests:  []core.Request{"audit"},
			Reconcile: func(w *plain.World, _ core.Request) core.Result { next.Get(w); return core.Result{} },
		}, {
			Name:     "maker",
			Requests: []core.Request{"make"},
			Watches:  []plain.Watch{{Kind: things.Kind(), Map: func(core.Key) []core.Request { return []core.Request{"make"} }}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				number := next.Get(w)
				if len(things.All(w)) > 0 || number == 3 {
					return core.Result{}
				}
				next.Set(w, number+1)
				things.At(number).Set(w, 1)
				return core.Result{Requeue: true}
			},
		}},
		Properties: []core.Property{
			{Name: "at most one", Invariant: func(s core.State) error {
				if count(s) > 1 {
					return errors.New("there are two")
				}
				return nil
			}},
			properties.EventuallyAlways("no number is lost", func(s core.State) bool { return count(s) == next.Get(s) }),
		},
	}.System()
}

// TestConditions checks a system that is right only as long as nothing goes wrong, and runs each finding again.
func TestConditions(t *testing.T) {
	entries := []catalog.Entry{{Name: "maker", Doc: "Keeps one thing.", Build: maker}}
	run := func(args ...string) (code int, out, complaints string) {
		var stdout, stderr bytes.Buffer
		code = cli.Run(context.Background(), args, cli.Streams{Out: &stdout, Err: &stderr}, entries)
		return code, stdout.String(), stderr.String()
	}
	for _, test := range []struct {
		flags string
		code  int
		// want is what the report says.
		want string
	}{
		{"", cli.ExitHolds, "Caches are fresh"},
		{"--granularity call", cli.ExitHolds, "granularity: call"},
		{"--stale maker/thing=lag(1)", cli.ExitViolated, "there are two"},
		{"--stale all=lag(1) --stale maker/thing=fresh", cli.ExitHolds, "as these rules allow: all=lag(1), maker/thing=fresh"},
		{"--stale all=own-writes(2)", cli.ExitHolds, "as these rules allow: all=own-writes(2)"},
		{"--crashes 1", cli.ExitViolated, "it crashes after"},
		{"--crashes 1 --faults-in maker", cli.ExitViolated, "it crashes after"},
		{"--crashes 1 --faults-in auditor", cli.ExitHolds, "At most 1 crash and 0 failed calls happen in a run, only in auditor."},
		{"--failures 1", cli.ExitInconclusive, "no call that was made can"},
		{"--granularity call --double maker", cli.ExitViolated, "maker (second instance)"},
	} {
		t.Run(test.flags, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.orr")
			code, out, complaints := run(append([]string{"check", "maker", "--out", file}, strings.Fields(test.flags)...)...)
			if code != test.code || !strings.Contains(out, test.want) {
				t.Fatalf("exit code %d, want %d with %q: %s\n%s", code, test.code, test.want, complaints, out)
			}
			if code != cli.ExitViolated {
				return
			}
			if code, out, complaints := run("replay", file); code != cli.ExitViolated || !strings.Contains(out, "still happens") {
				t.Errorf("replay: exit code %d: %s%s", code, out, complaints)
			}
			code, out, complaints = run("confirm", file)
			if code != cli.ExitUsage || !strings.Contains(complaints, "confirm cannot run it on a real one") {
				t.Errorf("confirm: exit code %d: %s%s", code, out, complaints)
			}
		})
	}
}

// TestConditionsAreRecorded checks that a finding is run again under the conditions that it was found under.
func TestConditionsAreRecorded(t *testing.T) {
	var checked, replayed orrery.Options
	command := fakeCommand()
	check, replay := command.Engine.Check, command.Engine.Replay
	command.Engine.Check = func(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
		checked = options
		return check(ctx, system, options)
	}
	command.Engine.Replay = func(ctx context.Context, system *core.System, trace core.Trace, options orrery.Options) (*core.Deviation, error) {
		replayed = options
		return replay(ctx, system, trace, options)
	}
	file := filepath.Join(t.TempDir(), "run.orr")
	var out, complaints bytes.Buffer
	for _, args := range []string{
		"check fake/violated --granularity call --stale all=relist --stale night/watch/Lamp=lag(2) --crashes 1 --failures 2 --double night/watch --out " + file,
		"replay " + file,
	} {
		if code := command.Run(context.Background(), strings.Fields(args), cli.Streams{Out: &out, Err: &complaints}); code != cli.ExitViolated {
			t.Fatalf("%s: exit code %d: %s", args, code, &complaints)
		}
	}
	for _, o := range []orrery.Options{checked, replayed} {
		if o.Granularity != orrery.PerCall || !slices.Equal(o.Stale, []orrery.Staleness{{Rule: orrery.Relist}, {Controller: "night/watch", Kind: "Lamp", Rule: orrery.Lag(2)}}) ||
			o.Crashes != 1 || o.Failures != 2 || !slices.Equal(o.Doubles, []string{"night/watch"}) {
			t.Errorf("the options are %+v", o)
		}
	}
}

// TestBadConditionsLeaveNoFile checks that what cannot be checked is refused before files are touched.
func TestBadConditionsLeaveNoFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.orr")
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	command := fakeCommand()
	command.Engine.Check = func(context.Context, *core.System, orrery.Options) (*orrery.Result, error) {
		t.Error("it was searched")
		return nil, errors.New("it was searched")
	}
	for _, flags := range []string{"--stale day/Lamp=lag(1)", "--stale all=often", "--double day"} {
		var out, complaints bytes.Buffer
		args := append([]string{"check", "fake/holds", "--out", file, "--dot", filepath.Join(dir, "run.dot")}, strings.Fields(flags)...)
		if code := command.Run(context.Background(), args, cli.Streams{Out: &out, Err: &complaints}); code != cli.ExitUsage {
			t.Errorf("%s: exit code %d: %s", flags, code, &complaints)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

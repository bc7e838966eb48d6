package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
	"github.com/orrery-dev/orrery/record"
)

// patience is how long a command may take to end after it was interrupted: a second, and as much again for a machine
// that has other things to do. What is interrupted here takes several times as long. Races are looked for in short
// tests, and slow down all code.
func patience() time.Duration {
	if testing.Short() {
		return 10 * time.Second
	}
	return 2 * time.Second
}

// wide is some counters that many hands turn: every state has thousands of steps, and there are hundreds of thousands
// of states. In short tests there are fewer hands, as all that each does is learned first.
func wide(more ...core.Property) plain.Model {
	const counters, hands = 12, 80
	model := plain.Model{Name: "wide", Properties: more}
	var start []core.Object
	for i := range counters {
		counter := plain.NewVar[int](fmt.Sprint("counter", i))
		start = append(start, counter.Is(0))
		for j := range hands {
			model.Processes = append(model.Processes, plain.Process{Name: fmt.Sprint("hand", i, "-", j), Actions: []plain.Action{{Name: "turn", Do: func(w *plain.World) {
				now := counter.Get(w)
				w.Require(now < 2)
				counter.Set(w, now+1)
			}}}})
		}
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}

// long counts to a number. Once it is slow, each step takes a while.
func long(steps int, slow *atomic.Bool, more ...core.Property) plain.Model {
	count := plain.NewVar[int]("count")
	return plain.Model{
		Name: "long", Properties: more, Initial: []core.Initial{plain.Start(count.Is(0))},
		Processes: []plain.Process{{Name: "counter", Actions: []plain.Action{{Name: "count", Do: func(w *plain.World) {
			if slow.Load() {
				time.Sleep(30 * time.Millisecond)
			}
			now := count.Get(w)
			w.Require(now < steps)
			count.Set(w, now+1)
		}}}}},
	}
}

// stopper interrupts a command, and knows when.
type stopper struct {
	context context.Context
	cancel  context.CancelFunc
	at      atomic.Pointer[time.Time]
}

func newStopper(t *testing.T) *stopper {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &stopper{context: ctx, cancel: cancel}
}

// stop interrupts the command, the first time.
func (s *stopper) stop() {
	now := time.Now()
	s.at.CompareAndSwap(nil, &now)
	s.cancel()
}

// limit says that the command has a limit on time, from now on.
func (s *stopper) limit(period time.Duration) {
	end := time.Now().Add(period)
	s.at.Store(&end)
}

// run runs a command on a model, and checks that it ends soon after it was interrupted.
func (s *stopper) run(t *testing.T, model plain.Model, out *bytes.Buffer, onOutput func(), args ...string) (code int, complaints string) {
	t.Helper()
	entry := catalog.Entry{Name: "m", Doc: "m", Build: func(catalog.Values) (*core.System, error) { return model.System() }}
	var err bytes.Buffer
	code = cli.Run(s.context, args, cli.Streams{Out: noticing{out, onOutput}, Err: &err}, []catalog.Entry{entry})
	at := s.at.Load()
	if at == nil {
		t.Fatalf("it ended before it was interrupted: %s%s", out, &err)
	}
	if took := time.Since(*at); took > patience() {
		t.Errorf("it took %s to end", took)
	} else {
		t.Logf("it took %s to end", took)
	}
	return code, err.String()
}

// noticing is a buffer that tells when something is written to it.
type noticing struct {
	*bytes.Buffer
	notice func()
}

func (n noticing) Write(p []byte) (int, error) {
	if n.notice != nil {
		n.notice()
	}
	return n.Buffer.Write(p)
}

// wantInconclusive checks that a check says why it did not come to an end.
func wantInconclusive(t *testing.T, code int, out, reason string) {
	t.Helper()
	if code != cli.ExitInconclusive || !strings.Contains(out, "INCONCLUSIVE") || !strings.Contains(out, reason) {
		t.Errorf("exit code %d, want %d, with the reason %q: %s", code, cli.ExitInconclusive, reason, out)
	}
}

// TestInterruptedSearch interrupts searches within a batch of states with thousands of steps each: while what
// controllers do is learned, while workers expand states, and while walks pass through them.
func TestInterruptedSearch(t *testing.T) {
	for _, test := range []struct {
		name, args string
		// states is after how many new states it is interrupted, and limit that on time, if there is one.
		states int64
		limit  time.Duration
		long   bool
	}{
		{"learning", "check m --workers 2", 1, 0, false},
		{"learning until a limit", "check m --workers 2 --max-time 500ms", 0, 500 * time.Millisecond, false},
		{"one worker", "check m --workers 1 --reduction none", 1500, 0, true},
		{"two workers", "check m --workers 2 --reduction none", 1500, 0, false},
		{"until a limit", "check m --workers 2 --reduction none --max-time 5s", 0, 5 * time.Second, true},
		{"depth-first", "check m --search dfs --reduction none", 1500, 0, true},
		{"compact", "check m --compact --reduction none", 1500, 0, true},
		{"walks", "check m --search random --walks 1000000", 100, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("takes seconds")
			}
			s, reason := newStopper(t), "the search was interrupted"
			if test.limit > 0 {
				s.limit(test.limit)
				reason = "time limit"
			}
			var seen atomic.Int64
			model := wide(core.Property{Name: "patient", Doc: "patient", Invariant: func(core.State) error {
				if seen.Add(1) == test.states {
					time.AfterFunc(50*time.Millisecond, s.stop)
				}
				return nil
			}})
			var out bytes.Buffer
			code, _ := s.run(t, model, &out, nil, strings.Fields(test.args)...)
			wantInconclusive(t, code, out.String(), reason)
		})
	}
}

// TestInterruptedAudit interrupts the audit of histories after a search.
func TestInterruptedAudit(t *testing.T) {
	s := newStopper(t)
	var slow atomic.Bool
	model := long(300, &slow, core.Property{Name: "patient", Doc: "patient", Invariant: func(state core.State) error {
		if n := state.Get(core.Key{Name: "count"}).Fields(); fmt.Sprint(n) == "300" && slow.CompareAndSwap(false, true) {
			time.AfterFunc(300*time.Millisecond, s.stop)
		}
		return nil
	}})
	var out bytes.Buffer
	code, _ := s.run(t, model, &out, nil, "check", "m")
	wantInconclusive(t, code, out.String(), "the search was interrupted")
}

// TestInterruptedJudging interrupts judges, also such as do not look whether they should stop.
func TestInterruptedJudging(t *testing.T) {
	forever := func(read func(core.Graph)) func(func()) core.Property {
		return func(stop func()) core.Property {
			return core.Property{Name: "endless", Doc: "endless", Ends: true, Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
				time.AfterFunc(100*time.Millisecond, stop)
				for range 1_000_000_000 {
					read(g)
				}
				return nil, nil
			}}
		}
	}
	for name, property := range map[string]func(func()) core.Property{
		"edges":    forever(func(g core.Graph) { g.Edges(0) }),
		"states":   forever(func(g core.Graph) { g.State(0).Work() }),
		"shortest": forever(func(g core.Graph) { g.Shortest(func(core.StateID) bool { return false }) }),
		"trying":   forever(func(g core.Graph) { g.Try(0, core.Item{Strategy: "counter", Request: "count"}) }),
	} {
		for _, limit := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/limit=%t", name, limit), func(t *testing.T) {
				s := newStopper(t)
				var out bytes.Buffer
				var slow atomic.Bool
				args, stop := []string{"check", "m"}, s.stop
				if limit {
					args, stop = append(args, "--max-time", "1s"), func() {}
					s.limit(time.Second)
				}
				code, _ := s.run(t, long(20, &slow, property(stop), properties.Fixpoint()), &out, nil, args...)
				wantInconclusive(t, code, out.String(), `the search ended before "endless" could be judged`)
			})
		}
	}
}

// TestInterruptedTelling interrupts the command while the run of a violation is run again.
func TestInterruptedTelling(t *testing.T) {
	for _, limit := range []bool{false, true} {
		t.Run(fmt.Sprintf("limit=%t", limit), func(t *testing.T) {
			s := newStopper(t)
			var slow atomic.Bool
			var out bytes.Buffer
			args := []string{"check", "m"}
			if limit {
				args = append(args, "--max-time", "5s")
				s.limit(5 * time.Second)
			}
			model := long(300, &slow, core.Property{Name: "never far", Doc: "never far", Ends: true, Judge: func(_ context.Context, g core.Graph) ([]core.Violation, error) {
				slow.Store(true)
				if !limit {
					time.AfterFunc(300*time.Millisecond, s.stop)
				}
				last := core.StateID(g.States() - 1)
				stem, _ := g.Shortest(func(id core.StateID) bool { return id == last })
				return []core.Violation{{Summary: "it is far", Stem: stem, State: last}}, nil
			}})
			code, _ := s.run(t, model, &out, nil, args...)
			wantInconclusive(t, code, out.String(), `a violation of "never far" was found, but the check ended before its trace could be run again`)
		})
	}
}

// TestInterruptedRecording interrupts the command when it has said what it found: the record is whole, and says which
// states it has.
func TestInterruptedRecording(t *testing.T) {
	s := newStopper(t)
	path := filepath.Join(t.TempDir(), "run.orr")
	var out bytes.Buffer
	code, complaints := s.run(t, wide(), &out, s.stop, "check", "m", "--reduction", "none", "--max-states", "6000", "--out", path)
	wantInconclusive(t, code, out.String(), "the limit of 6000 states")
	wantInterruptedRecord(t, path, 6000, complaints)
}

func wantInterruptedRecord(t *testing.T, path string, states int, complaints string) {
	t.Helper()
	got, err := record.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e := got.Extent
	if e.States != states || e.Recorded >= e.States || got.States.Len() != e.Recorded || !e.Interrupted {
		t.Errorf("the record says %+v, and has %d states", e, got.States.Len())
	}
	if !strings.Contains(complaints, e.Note) || !strings.Contains(e.Note, "interrupted") {
		t.Errorf("the note is %q, and the command says %q", e.Note, complaints)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v; want the record alone", left, err)
	}
}

// endless is a graph that takes for ever to be listed.
type endless struct{ core.Graph }

func (endless) States() int { return 7 }
func (endless) List(ctx context.Context, _ int, _ func(*core.Listed) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestInterruptedFiles lets a limit end the writing of files: the record is whole, and a drawing is not left behind.
func TestInterruptedFiles(t *testing.T) {
	command := fakeCommand()
	command.Engine.Check = func(context.Context, *core.System, orrery.Options) (*orrery.Result, error) {
		return &orrery.Result{Report: core.Report{Verdict: core.Holds, States: 7}, Graph: endless{}}, nil
	}
	record, drawing := filepath.Join(t.TempDir(), "run.orr"), filepath.Join(t.TempDir(), "run.dot")
	for file, flag := range map[string]string{record: "--out", drawing: "--dot"} {
		var out, complaints bytes.Buffer
		began := time.Now()
		command.Run(t.Context(), []string{"check", "fake/holds", flag, file, "--max-time", "10ms"}, cli.Streams{Out: &out, Err: &complaints})
		if took := time.Since(began); took > patience() {
			t.Errorf("%s: it took %s to end", flag, took)
		}
		if !strings.Contains(out.String(), "HOLDS") {
			t.Errorf("%s: it says %s", flag, &out)
		}
		if flag == "--out" {
			wantInterruptedRecord(t, file, 7, complaints.String())
			continue
		}
		if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 0 || !strings.Contains(complaints.String(), "the states are not drawn") {
			t.Errorf("there are %v, %v; want nothing: %s", left, err, &complaints)
		}
	}
}

// TestInterruptedReplay interrupts a replay: that does not mean that the finding no longer happens.
func TestInterruptedReplay(t *testing.T) {
	s := newStopper(t)
	path := filepath.Join(t.TempDir(), "run.orr")
	var slow atomic.Bool
	model := long(300, &slow, core.Property{Name: "never far", Doc: "never far", Invariant: func(state core.State) error {
		if fmt.Sprint(state.Get(core.Key{Name: "count"}).Fields()) == "300" {
			return errors.New("it is far")
		}
		return nil
	}})
	entry := catalog.Entry{Name: "m", Doc: "m", Build: func(catalog.Values) (*core.System, error) { return model.System() }}
	var out, complaints bytes.Buffer
	if code := cli.Run(t.Context(), []string{"check", "m", "--out", path}, cli.Streams{Out: &out, Err: &complaints}, []catalog.Entry{entry}); code != cli.ExitViolated {
		t.Fatalf("exit code %d: %s%s", code, &out, &complaints)
	}
	slow.Store(true)
	time.AfterFunc(500*time.Millisecond, s.stop)
	out.Reset()
	if code, complaints := s.run(t, model, &out, nil, "replay", path); code != cli.ExitInconclusive || out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &out, complaints)
	}
}

// TestInterruptedReading interrupts the command before it has read a record.
func TestInterruptedReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.orr")
	if code, _, complaints := run(t, "check", "fake/violated", "--out", path); code != cli.ExitViolated {
		t.Fatal(complaints)
	}
	for _, args := range [][]string{{"export", path, "--format", "json"}, {"replay", path}, {"confirm", path}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, complaints bytes.Buffer
		code := fakeCommand().Run(ctx, args, cli.Streams{Out: &out, Err: &complaints})
		if code != cli.ExitInconclusive || out.Len() > 0 || !strings.Contains(complaints.String(), "interrupted") {
			t.Errorf("%s: exit code %d: %s%s", args[0], code, &out, &complaints)
		}
	}
}

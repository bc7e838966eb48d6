package cli_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/subscriptions"
)

// tornFinding is a finding of two runs, about two fields of a lamp.
func tornFinding() core.Finding {
	finding := lampFinding()
	other := finding.Trace
	other.Steps = append(other.Steps, other.Steps[0])
	finding.Other = &other
	finding.Fields = []string{"Lamp desk: light", `Lamp desk: shades["of.red"]`, "Lamp hall: light"}
	return finding
}

func TestConfirm(t *testing.T) {
	on := lampObjects("on")
	on[0].Fields = map[string]any{"light": "on", "shades": map[string]any{"of.red": 3}}
	deviation := &core.Deviation{Step: 2, Reason: "it is dark"}
	tests := []struct {
		name    string
		finding core.Finding
		// runs are what the real server shows of each run, in order.
		runs []cli.Confirmed
		err  error
		code int
		want string
	}{
		{
			name: "confirmed", finding: tornFinding(), code: cli.ExitViolated,
			runs: []cli.Confirmed{{Version: "v1.2.3", Objects: on}, {Version: "v1.2.3", Objects: lampObjects("off")}},
			want: `On kube-apiserver v1.2.3, the first trace happens as recorded.
Objects that it changes, in the final state:
    Lamp desk
        light = "on"
        shades["of.red"] = 3
On kube-apiserver v1.2.3, the second trace happens as recorded.
Objects that it changes, in the final state:
    Lamp desk
        light = "off"
        shades["of.red"] = (absent)
Finding 1 is confirmed: alice switches Lamp desk on
`,
		},
		{
			name: "only the first run is confirmed", finding: tornFinding(), code: cli.ExitHolds,
			runs: []cli.Confirmed{{Version: "v1.2.3"}, {Version: "v1.2.3", Deviation: deviation}},
			want: `On kube-apiserver v1.2.3, the first trace happens as recorded.
Finding 1 is not confirmed: in the second trace, step 2 differs on kube-apiserver v1.2.3: it is dark
`,
		},
		{
			name: "the first run is not confirmed", finding: tornFinding(), code: cli.ExitHolds,
			runs: []cli.Confirmed{{Version: "v1.2.3", Deviation: deviation}},
			want: "Finding 1 is not confirmed: in the first trace, step 2 differs on kube-apiserver v1.2.3: it is dark\n",
		},
		{
			name: "nothing is left", finding: lampFinding(), code: cli.ExitViolated,
			runs: []cli.Confirmed{{Version: "v1.2.3", Gone: []core.Key{{Kind: "Lamp", Name: "desk"}, {Kind: "Lamp", Namespace: "big", Name: "hall"}}}},
			want: `On kube-apiserver v1.2.3, the trace happens as recorded.
Objects that it deletes:
    Lamp desk
    Lamp big/hall
Finding 1 is confirmed: alice switches Lamp desk on
`,
		},
		{
			name: "nothing changes", finding: lampFinding(), code: cli.ExitViolated,
			runs: []cli.Confirmed{{Version: "v1.2.3"}},
			want: "On kube-apiserver v1.2.3, the trace happens as recorded.\nFinding 1 is confirmed: alice switches Lamp desk on\n",
		},
		{name: "no server", finding: lampFinding(), err: errors.New("etcd is out of breath"), code: cli.ExitUsage},
		{name: "interrupted", finding: lampFinding(), err: context.Canceled, code: cli.ExitInconclusive},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.orr")
			command := fakeCommand()
			command.Engine.Check = func(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
				result, err := fakeCheck(ctx, system, options)
				if err == nil {
					result.Report.Findings = []core.Finding{test.finding}
				}
				return result, err
			}
			var steps []int
			command.Engine.Confirm = func(_ context.Context, _ *core.System, trace core.Trace, _ hclog.Logger) (cli.Confirmed, error) {
				if test.err != nil {
					return cli.Confirmed{}, test.err
				}
				steps = append(steps, len(trace.Steps))
				return test.runs[len(steps)-1], nil
			}
			var out, complaints bytes.Buffer
			streams := cli.Streams{Out: &out, Err: &complaints}
			if code := command.Run(context.Background(), []string{"check", "fake/violated", "--out", file}, streams); code != cli.ExitViolated {
				t.Fatalf("check: exit code %d: %s", code, &complaints)
			}
			out.Reset()
			complaints.Reset()
			if code := command.Run(context.Background(), []string{"confirm", file}, streams); code != test.code {
				t.Errorf("exit code %d, want %d: %s", code, test.code, &complaints)
			}
			if out.String() != test.want {
				t.Errorf("it says\n%swant\n%s", &out, test.want)
			}
			if test.err != nil && !strings.Contains(complaints.String(), test.err.Error()) {
				t.Errorf("standard error holds %q", &complaints)
			}
			for i, n := range steps {
				if n != i+1 {
					t.Errorf("run %d has %d steps", i+1, n)
				}
			}
		})
	}
}

// TestConfirmWithMemory says what memory may have to do with a run that goes another way.
func TestConfirmWithMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.orr")
	command := fakeCommand()
	command.Engine.Check = func(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
		result, err := fakeCheck(ctx, system, options)
		if err == nil {
			finding := lampFinding()
			finding.Trace.Memory = []core.MemoryChange{{Controller: "alice", Field: "Alice.seen[desk]"}}
			result.Report.Findings = []core.Finding{finding}
			result.Report.Memory = []core.MemoryReport{{Controller: "alice", Contents: 1, Fields: []string{"Alice.last", "Alice.seen"}}, {Controller: "bob", Contents: 2, Fields: []string{"Bob.tries"}}}
		}
		return result, err
	}
	command.Engine.Confirm = func(context.Context, *core.System, core.Trace, hclog.Logger) (cli.Confirmed, error) {
		return cli.Confirmed{Version: "v1.2.3", Deviation: &core.Deviation{Reason: "it is dark"}}, nil
	}
	var out, complaints bytes.Buffer
	streams := cli.Streams{Out: &out, Err: &complaints}
	if code := command.Run(t.Context(), []string{"check", "fake/violated", "--out", file}, streams); code != cli.ExitViolated {
		t.Fatalf("check: exit code %d: %s", code, &complaints)
	}
	out.Reset()
	if code := command.Run(t.Context(), []string{"confirm", file}, streams); code != cli.ExitHolds {
		t.Errorf("exit code %d: %s", code, &complaints)
	}
	want := `Finding 1 is not confirmed: in the trace, the start differs on kube-apiserver v1.2.3: it is dark
alice keeps Alice.last, Alice.seen in memory. It is made of the objects of the real server there, and may be something else: that may be why.
bob keeps Bob.tries in memory. The trace says nothing of it. If an older version of orrery recorded the trace, that may be why: check the system again.
`
	if out.String() != want {
		t.Errorf("it says\n%swant\n%s", &out, want)
	}
}

// TestConfirmRefuses is given runs that cannot be made to happen on a real server.
func TestConfirmRefuses(t *testing.T) {
	step := func(change func(*core.TraceStep)) core.TraceStep {
		s := core.TraceStep{Kind: "reconcile", Controller: "alice", Request: "lamp", Calls: []core.TraceCall{{Call: "switch Lamp desk", Response: "done", Wrote: true}}}
		change(&s)
		return s
	}
	tests := []struct {
		name string
		step core.TraceStep
		// want is why it cannot be confirmed, empty if it can.
		want string
	}{
		{"a failed call", step(func(s *core.TraceStep) { s.Detail, s.Calls[0].Fault = "call 1 fails", "timeout" }), ""},
		{"a crash", step(func(s *core.TraceStep) { s.Detail, s.Crashes = "it crashes", true }), ""},
		{"a failure of which only words are recorded", step(func(s *core.TraceStep) { s.Detail = "call 1 fails" }), "does not say which call fails; check the system again"},
		{"a stale view", step(func(s *core.TraceStep) { s.Late, s.Calls[0].Behind = true, []core.TraceLag{{Kind: "Lamp", Changes: 1}} }), ""},
		{"a stale view of which only words are recorded", step(func(s *core.TraceStep) { s.Late = true }), "does not say how stale its cache is; check the system again"},
		{"a stale view that is not looked at", step(func(s *core.TraceStep) { s.Late, s.Calls = true, nil }), ""},
		{"a restart on a stale view", core.TraceStep{Kind: "restart", Controller: "alice", Detail: "its view of Lamp is 1 change behind"}, ""},
		{"a user", core.TraceStep{Kind: "user", Controller: "user", Request: "off"}, ""},
		{"a delivery", core.TraceStep{Kind: "deliver", Controller: "alice", Request: "Lamp"}, ""},
		{"a begin on a stale view", core.TraceStep{Kind: "begin", Controller: "alice", Request: "lamp", Late: true}, ""},
		{"something that is tried", core.TraceStep{Kind: "probe", Controller: "alice", Request: "lamp"}, ""},
		{"a handler that reads", step(func(s *core.TraceStep) { s.Calls[0].Handler, s.Calls[0].Wrote = "alice", false }), ""},
		{"a handler that writes", step(func(s *core.TraceStep) { s.Calls[0].Handler = "alice" }), "an event handler writes in it"},
		{"something new", core.TraceStep{Kind: "dream", Controller: "alice"}, `there is no step of the kind "dream"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.orr")
			command := fakeCommand()
			command.Engine.Check = func(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
				result, err := fakeCheck(ctx, system, options)
				if err == nil {
					finding := lampFinding()
					finding.Trace.Steps = []core.TraceStep{test.step}
					result.Report.Findings = []core.Finding{finding}
				}
				return result, err
			}
			var out, complaints bytes.Buffer
			streams := cli.Streams{Out: &out, Err: &complaints}
			if code := command.Run(context.Background(), []string{"check", "fake/violated", "--out", file}, streams); code != cli.ExitViolated {
				t.Fatalf("check: exit code %d: %s", code, &complaints)
			}
			command.Engine.Confirm = func(context.Context, *core.System, core.Trace, hclog.Logger) (cli.Confirmed, error) {
				return cli.Confirmed{Version: "v1.2.3"}, nil
			}
			code := command.Run(context.Background(), []string{"confirm", file}, streams)
			switch {
			case test.want == "" && code != cli.ExitViolated:
				t.Errorf("exit code %d: %s", code, &complaints)
			case test.want != "" && (code != cli.ExitUsage || !strings.Contains(complaints.String(), "finding 1: the trace cannot be confirmed: step 1 ") || !strings.Contains(complaints.String(), test.want)):
				t.Errorf("exit code %d, want %q: %s", code, test.want, &complaints)
			}
		})
	}
}

// TestConfirmWithoutAPIServer runs the real command on a system that is no Kubernetes.
func TestConfirmWithoutAPIServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.orr")
	if code, _, complaints := run(t, "check", "fake/violated", "--out", file); code != cli.ExitViolated {
		t.Fatalf("exit code %d: %s", code, complaints)
	}
	var out, complaints bytes.Buffer
	code := cli.Run(context.Background(), []string{"confirm", file}, cli.Streams{Out: &out, Err: &complaints}, fakeCommand().Entries)
	if code != cli.ExitUsage || out.Len() > 0 {
		t.Errorf("exit code %d, it says %q", code, &out)
	}
	if want := "fake/violated does not use a Kubernetes API server, so confirm cannot run it on a real one"; !strings.Contains(complaints.String(), want) {
		t.Errorf("standard error holds %q, want %q", &complaints, want)
	}
}

// TestConfirmWithOtherParts runs the real command on a system that a real API server is only a part of.
func TestConfirmWithOtherParts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.orr")
	entries := subscriptions.Catalog()
	streams := cli.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	if code := cli.Run(t.Context(), []string{"check", "subscriptions", "--failures", "1", "--out", file}, streams, entries); code != cli.ExitViolated {
		t.Fatalf("exit code %d: %s", code, streams.Err)
	}
	var out, complaints bytes.Buffer
	if code := cli.Run(t.Context(), []string{"confirm", file}, cli.Streams{Out: &out, Err: &complaints}, entries); code != cli.ExitUsage || out.Len() > 0 {
		t.Errorf("exit code %d, it says %q", code, &out)
	}
	if want := "subscriptions also consists of notifications, which a real API server does not have, so confirm cannot run it there"; !strings.Contains(complaints.String(), want) {
		t.Errorf("standard error holds %q, want %q", &complaints, want)
	}
	if code := cli.Run(t.Context(), []string{"replay", file}, cli.Streams{Out: &out, Err: &complaints}, entries); code != cli.ExitViolated || !strings.Contains(out.String(), "still happens") {
		t.Errorf("exit code %d, replay says %q", code, &out)
	}
}

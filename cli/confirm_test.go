package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
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
	parting := &behavior.Parting{Step: 2, Reason: "it is dark"}
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
			want: `The first run happens on kube-apiserver v1.2.3 as it was recorded.
Of what it changes, there is at its end
    Lamp desk
        light = "on"
        shades["of.red"] = 3
The second run happens on kube-apiserver v1.2.3 as it was recorded.
Of what it changes, there is at its end
    Lamp desk
        light = "off"
        shades["of.red"] = (absent)
Finding 1 is confirmed: alice switches Lamp desk on
`,
		},
		{
			name: "only the first run is confirmed", finding: tornFinding(), code: cli.ExitHolds,
			runs: []cli.Confirmed{{Version: "v1.2.3"}, {Version: "v1.2.3", Parting: parting}},
			want: `The first run happens on kube-apiserver v1.2.3 as it was recorded.
Finding 1 is not confirmed: in the second run, step 2 goes another way on kube-apiserver v1.2.3: it is dark
`,
		},
		{
			name: "the first run is not confirmed", finding: tornFinding(), code: cli.ExitHolds,
			runs: []cli.Confirmed{{Version: "v1.2.3", Parting: parting}},
			want: "Finding 1 is not confirmed: in the first run, step 2 goes another way on kube-apiserver v1.2.3: it is dark\n",
		},
		{
			name: "nothing is left", finding: lampFinding(), code: cli.ExitViolated,
			runs: []cli.Confirmed{{Version: "v1.2.3"}},
			want: "The run happens on kube-apiserver v1.2.3 as it was recorded.\nFinding 1 is confirmed: alice switches Lamp desk on\n",
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
			command.Engine.Confirm = func(_ context.Context, _ *core.System, trace core.Trace, _ io.Writer) (cli.Confirmed, error) {
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
	if want := "fake/violated does not run on a Kubernetes API server, so there is no real one to confirm it on"; !strings.Contains(complaints.String(), want) {
		t.Errorf("standard error holds %q, want %q", &complaints, want)
	}
}

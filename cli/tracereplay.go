package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orrery-dev/orrery"
	kuberecorded "github.com/orrery-dev/orrery/adapters/kube/recorded"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live/analysis"
)

// verdictAnswer is what replay and validate write as JSON.
type verdictAnswer struct {
	Schema   string         `json:"schema"`
	Question string         `json:"question"`
	System   string         `json:"system,omitempty"`
	Verdict  core.Verdict   `json:"verdict"`
	Answer   any            `json:"answer"`
	Notes    analysis.Notes `json:"notes"`
}

// judged writes an answer that is a verdict as well, and sets the exit code.
func (s *session) judged(format string, a verdictAnswer, text func(io.Writer)) error {
	s.code = map[core.Verdict]int{core.Holds: ExitHolds, core.Violated: ExitViolated, core.Inconclusive: ExitInconclusive}[a.Verdict]
	if a.Schema = TraceSchema; format == "json" {
		return writeJSON(s.streams.Out, a)
	}
	text(s.streams.Out)
	return nil
}

// verdictOf is the verdict where so many things are wrong, not known, and right.
func verdictOf(wrong, unknown, right int) core.Verdict {
	switch {
	case wrong > 0:
		return core.Violated
	case unknown > 0 || right == 0:
		return core.Inconclusive
	}
	return core.Holds
}

func (s *session) traceReplay() *cobra.Command {
	format, name := "text", ""
	var params []string
	command := question("replay FILE... --system NAME", "Run the recorded reconciles again with the controllers of today",
		`Replay runs each recorded reconcile with the current code of a system that is compiled in, at the time at which it began and with the answers that
it got, and tells where it makes another call or ends in another way. The controllers of the system are those that are registered under the recorded names.

Exit codes: 0 all are the same, 1 some go another way, 2 bad usage or bad input, 3 some or all cannot be replayed.`, formatFlag(&format),
		func(ctx context.Context, args []string) error {
			if name == "" {
				return errors.New("replay runs code, and --system does not say which: name a system (orrery list shows them)")
			}
			system, _, err := s.build(name, params)
			if err != nil {
				return err
			}
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			report, err := orrery.ReplayRecording(ctx, system, files, orrery.Options{Guard: s.guard, Logger: s.logger})
			if err != nil {
				return err
			}
			report.System = name
			a := verdictAnswer{Question: "replay", System: name, Verdict: verdictOf(report.Parted, report.MissedReconciles(), report.Same), Answer: report, Notes: report.Notes}
			return s.judged(format, a, report.Text)
		})
	command.Flags().StringVar(&name, "system", "", "run the controllers of the system with this `NAME`")
	command.Flags().StringArrayVar(&params, "param", nil, "set a parameter of the system, as `NAME=VALUE` (repeatable)")
	return command
}

func (s *session) traceValidate() *cobra.Command {
	format, name, cases := "text", "", ""
	var params []string
	command := question("validate FILE... [--system NAME]", "Hold recordings against the simulated API server and its caches",
		`Validate looks whether the recordings are a run of the model: each write is made again on the simulated API server in the state before, each
refusal has to be explained by a state of the object, and each read of a cache by a lag. What is not explained is told: the simulated server does something else,
or somebody acted who was not recorded.

Without --system, the server has the kinds of Kubernetes. With it, it is that of the system, with its custom resources and webhooks.

Exit codes: 0 all is explained, 1 something is not, 2 bad usage or bad input, 3 something cannot be held against the model.`, formatFlag(&format),
		func(ctx context.Context, args []string) error {
			server, err := s.model(name, params)
			if err != nil {
				return err
			}
			files, err := sources(ctx, args)
			if err != nil {
				return err
			}
			report, err := kuberecorded.Validate(server, files)
			if err != nil {
				return err
			}
			if err := writeCases(cases, report); err != nil {
				return err
			}
			a := verdictAnswer{Question: "validate", System: name, Verdict: verdictOf(report.Unexplained, report.UnjudgedCalls(), report.Explained), Answer: report, Notes: report.Notes}
			return s.judged(format, a, report.Text)
		})
	command.Flags().StringVar(&name, "system", "", "hold the recordings against the API server of the system with this `NAME`")
	command.Flags().StringArrayVar(&params, "param", nil, "set a parameter of the system, as `NAME=VALUE` (repeatable)")
	command.Flags().StringVar(&cases, "cases", "", "write differences of the simulated server as golden cases into this `FOLDER`")
	return command
}

// model returns the simulated server of a system, or one with the kinds of Kubernetes.
func (s *session) model(name string, params []string) (kuberecorded.Model, error) {
	if name == "" {
		return kuberecorded.Kubernetes()
	}
	system, _, err := s.build(name, params)
	if err != nil {
		return nil, err
	}
	server, ok := system.Store.(kuberecorded.Model)
	if !ok {
		return nil, fmt.Errorf("the store of %s is a %T, and recordings are of API servers: name another system, or none", name, system.Store)
	}
	return server, nil
}

// writeCases writes the cases of a report into a folder, if there is one.
func writeCases(folder string, report *kuberecorded.Report) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	n := 0
	for _, f := range report.Findings {
		if f.Case == nil {
			continue
		}
		n++
		text, err := json.MarshalIndent(f.Case, "", " ")
		if err != nil {
			return err
		}
		kind := strings.ToLower(strings.Join(f.Case.Kinds, "-"))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("recorded-%s-%03d.json", kind, n)), append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	return nil
}

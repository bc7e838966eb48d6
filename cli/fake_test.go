package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/page"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/naive"
)

// startedVariable names the environment variable with the file that a slow check
// makes once it runs.
const startedVariable = "FAKE_STARTED"

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"orrery": func() { fakeCommand().Main() },
	})
}

// leakless are tests that leave no goroutines behind.
type leakless struct{ *testing.M }

// Run implements [testscript.TestingM].
func (l leakless) Run() int {
	code := l.M.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// fakeCommand is the command with an engine that knows the result of every
// system beforehand.
func fakeCommand() cli.Command {
	never := core.Property{Name: "the lamp stays off", Invariant: func(core.State) error { return nil }}
	entry := func(name, doc string, params ...catalog.Param) catalog.Entry {
		return catalog.Entry{Name: name, Doc: doc, Params: params, Build: func(catalog.Values) (*core.System, error) {
			return &core.System{
				Name: name, Store: lamp{}, Strategies: []core.Strategy{lamp{}},
				Initial: []core.Initial{{}}, Properties: []core.Property{never},
			}, nil
		}}
	}
	return cli.Command{
		Entries: []catalog.Entry{
			entry("fake/holds", "A lamp that is never touched.", catalog.Param{Name: "n", Doc: "lamps", Default: 2, Min: 1, Max: 9}),
			entry("fake/violated", "A lamp that two people switch."),
			entry("fake/gone", "A lamp that two people no longer switch."),
			entry("fake/inconclusive", "A lamp in a house too large to be searched."),
			entry("fake/slow", "A lamp that takes for ever."),
			entry("fake/deaf", "A lamp that takes for ever and does not listen."),
			entry("fake/refused", "A lamp that cannot be checked."),
			{Name: "fake/unbuildable", Doc: "A lamp that cannot be made.", Build: func(catalog.Values) (*core.System, error) {
				return nil, errors.New("the bulb is missing: screw one in")
			}},
			{Name: "fake/invalid", Doc: "A lamp without a name.", Build: func(catalog.Values) (*core.System, error) {
				return &core.System{}, nil
			}},
		},
		Engine: cli.Engine{
			Check:      fakeCheck,
			Replay:     fakeReplay,
			Simulate:   fakeSimulate,
			Confirm:    fakeConfirm,
			Properties: []core.Property{{Name: "same outcome", Invariant: func(core.State) error { return nil }}},
		},
	}
}

// switches is a simulator in which nothing but the lamp is there.
type switches struct{}

func (switches) Run(_ context.Context, _ int, steps []core.Step) (*core.Position, error) {
	return &core.Position{Trace: core.Trace{CycleStart: -1}, Objects: lampObjects("on")}, nil
}

func fakeSimulate(*core.System, *core.Report, orrery.Options) (page.Simulator, error) {
	return switches{}, nil
}

// lamp is a store and a strategy that do nothing.
type lamp struct {
	core.Store
	core.Strategy
}

func (lamp) Describe() core.Description {
	return core.Description{Name: "night/watch", Watches: []core.Kind{"Lamp"}}
}

func fakeCheck(ctx context.Context, system *core.System, options orrery.Options) (*orrery.Result, error) {
	report := core.Report{
		System: system.Name, Verdict: core.Holds, Reduction: "none", Granularity: string(options.Granularity),
		Crashes: options.Crashes, Failures: options.Failures, FaultsIn: options.FaultsIn, Doubles: options.Doubles,
		Workers: options.Workers, Seed: options.Seed,
		States: 2, Transitions: 3, TerminalStates: 1, Outcomes: 1, Depth: 1, ReconcilesExecuted: 2, StepsFromTree: 1, Behaviours: 2,
		Elapsed: time.Since(time.Unix(0, 0)), ElapsedMS: time.Now().UnixMilli(), StatesPerSecond: 1000,
		OutcomeList: []core.OutcomeReport{{State: 1, States: 1, Objects: lampObjects("on"), Trace: core.Trace{CycleStart: -1}}},
	}
	for _, stale := range options.Stale {
		report.Stale = append(report.Stale, stale.String())
	}
	for _, p := range system.Properties {
		report.Properties = append(report.Properties, core.PropertyReport{Name: p.Name, Verdict: core.Holds, Warning: p.Warning})
	}
	switch system.Name {
	case "fake/violated", "fake/gone":
		report.Verdict = core.Violated
		report.Properties[0].Verdict = core.Violated
		report.Findings = []core.Finding{lampFinding()}
	case "fake/inconclusive":
		report.Verdict = core.Inconclusive
		report.Reasons = []string{fmt.Sprintf("the search stopped at %d states: raise --max-states", options.MaxStates)}
	case "fake/slow", "fake/deaf":
		if err := os.WriteFile(os.Getenv(startedVariable), nil, 0o644); err != nil {
			return nil, err
		}
		if system.Name == "fake/deaf" {
			ctx = context.WithoutCancel(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			return nil, errors.New("nobody interrupted the search")
		}
		report.Verdict = core.Inconclusive
		report.Reasons = []string{"interrupted: let it run to the end"}
	case "fake/refused":
		return nil, errors.New("the lamp is bolted down: unscrew it")
	}
	return &orrery.Result{Report: report, Graph: lampGraph{}}, nil
}

func fakeReplay(_ context.Context, system *core.System, trace core.Trace, _ orrery.Options) (*core.Deviation, error) {
	switch {
	case len(trace.Steps) == 0:
		return nil, errors.New("the story is empty: check the system again")
	case system.Name == "fake/gone":
		return &core.Deviation{Step: 1, Reason: "it changes nothing now"}, nil
	}
	return nil, nil
}

func fakeConfirm(_ context.Context, system *core.System, trace core.Trace, logger hclog.Logger) (cli.Confirmed, error) {
	logger.Info("starting a real house")
	confirmed := cli.Confirmed{Version: "v1.99.0", Objects: lampObjects("on")}
	switch {
	case len(trace.Steps) == 0:
		return confirmed, errors.New("the story is empty: check the system again")
	case system.Name == "fake/gone":
		confirmed.Deviation = &core.Deviation{Step: 1, Reason: "Lamp desk: light is \"off\" on the real server"}
	}
	return confirmed, nil
}

func lampObjects(light string) []core.TraceObject {
	return []core.TraceObject{{Kind: "Lamp", Name: "desk", Fields: map[string]any{"light": light}}}
}

func lampFinding() core.Finding {
	return core.Finding{
		ID: 1, Property: "the lamp stays off", Summary: "alice switches Lamp desk on", Steps: 1,
		Trace: core.Trace{
			Initial: lampObjects("off"),
			Steps: []core.TraceStep{{
				Kind: "reconcile", Controller: "alice", Request: "desk", To: 1,
				Calls: []core.TraceCall{{Call: "switch Lamp desk", Response: "done", Wrote: true}},
				Changes: []core.TraceChange{{Kind: "Lamp", Name: "desk", Verb: "changed",
					Fields: []core.FieldChange{{Path: "light", From: "off", To: "on"}}}},
			}},
			CycleStart: -1,
		},
	}
}

// lampGraph is the graph of a lamp that alice switches on.
type lampGraph struct{ core.Graph }

func (lampGraph) States() int                      { return 2 }
func (lampGraph) Initial() []core.StateID          { return []core.StateID{0} }
func (lampGraph) Cut(core.StateID) bool            { return false }
func (lampGraph) Quiescent() []core.StateID        { return []core.StateID{1} }
func (lampGraph) State(id core.StateID) core.State { return lampState{id: id} }

func (lampGraph) Edges(id core.StateID) []core.Edge {
	if id == 1 {
		return nil
	}
	return []core.Edge{{To: 1, Wrote: true, Step: core.Step{Item: core.Item{Strategy: "alice", Request: "desk"}}}}
}

func (g lampGraph) List(ctx context.Context, n int, show func(*core.Listed) error) error {
	return naive.List(ctx, g, n, show)
}

func (lampGraph) Outcome(id core.StateID) map[core.Key]any {
	light := lampObjects([]string{"off", "on"}[id])[0]
	return map[core.Key]any{light.Key(): light.Fields}
}

type lampState struct {
	core.State
	id core.StateID
}

func (s lampState) Work() []core.Item {
	if s.id == 1 {
		return nil
	}
	return []core.Item{{Strategy: "alice", Request: "desk"}}
}

func (lampState) Timers() []core.Item { return nil }

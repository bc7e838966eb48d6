package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// Bench is what a benchmark needs.
type Bench struct {
	// Commands are orrery commands. The first one that has a system takes the trials of it; those of systems that none
	// has are left out.
	Commands []Command
	// Rivals take trials, too, if they are installed.
	Rivals []Rival
	// Progress, if set, is told of each trial before it is taken: its number from 1, and of how many.
	Progress func(number, of int, t Trial)
}

// Command is an orrery command with the systems that it has.
type Command struct {
	Tool
	Systems []string
}

// Measure takes the trials of a plan. When the context ends, or a trial cannot be taken, it returns what it has, with
// an error.
func (b *Bench) Measure(ctx context.Context, plan Plan) (*Report, error) {
	report := &Report{
		Schema: Schema,
		Quick:  plan.Quick,
		Machine: Machine{
			OS: runtime.GOOS, Architecture: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0), Go: runtime.Version(),
		},
		Sections: []Section{},
		Notes:    []string{},
	}
	m := &measuring{Bench: b, report: report}
	sections := m.possible(plan.sections)
	if m.of == 0 {
		return nil, fmt.Errorf("there is none of the systems here that are measured, such as %s: use the command orrery itself", Counters)
	}
	err := m.all(ctx, sections)
	report.Targets = targets(report)
	return report, err
}

// fewStates is how many states there must be to tell what one of them takes from what a search takes anyway.
const fewStates = 100_000

// measuring is a benchmark on its way.
type measuring struct {
	*Bench
	report *Report
	// begun counts the runs that were begun, and of is how many there are to be.
	begun, of int
	// start is the memory of a tiny search, by tool.
	start map[string]int64
}

// possible returns the sections without the trials that cannot be taken here, and counts the others.
func (m *measuring) possible(sections []schedule) []schedule {
	var possible []schedule
	for _, s := range sections {
		s.trials = slices.DeleteFunc(slices.Clone(s.trials), func(t Trial) bool {
			_, err := m.tool(t)
			if err != nil {
				m.note(err.Error())
			}
			return err != nil
		})
		if len(s.trials) > 0 {
			possible = append(possible, s)
			m.of += s.turns * len(s.trials)
		}
	}
	return possible
}

// tool returns what takes a trial, and an error if nothing does.
func (b *Bench) tool(t Trial) (Tool, error) {
	has := slices.IndexFunc(b.Commands, func(c Command) bool { return slices.Contains(c.Systems, t.System) })
	switch {
	case has < 0 && t.System == jobset:
		return nil, errors.New("jobset was not measured: its controllers are in a command of their own, " +
			"which go build makes in the folder examples/jobset; give that to bench with --with")
	case has < 0:
		return nil, fmt.Errorf("%s was not measured: it is not one of the systems here", t.System)
	case t.Tool == Orrery:
		return b.Commands[has], nil
	}
	for _, rival := range b.Rivals {
		switch {
		case rival.Name == t.Tool && rival.Tool == nil:
			return nil, fmt.Errorf("%s was not measured: %w", rival.Title, rival.Missing)
		case rival.Name == t.Tool:
			return rival.Tool, nil
		}
	}
	return nil, fmt.Errorf("%s was not measured: nobody looked for it", t.Tool)
}

func (m *measuring) note(text string) {
	if !slices.Contains(m.report.Notes, text) {
		m.report.Notes = append(m.report.Notes, text)
	}
}

func (m *measuring) all(ctx context.Context, sections []schedule) error {
	m.start = map[string]int64{}
	for _, s := range sections {
		m.report.Sections = append(m.report.Sections, Section{Name: s.name, Runs: []Run{}})
		section := &m.report.Sections[len(m.report.Sections)-1]
		for turn := 1; turn <= s.turns; turn++ {
			for _, t := range s.trials {
				run, err := m.run(ctx, t, turn)
				if err != nil {
					return err
				}
				section.Runs = append(section.Runs, run)
			}
		}
		if err := agree(section.Runs); err != nil {
			return err
		}
		if s.name == startSection {
			for _, run := range section.Runs {
				m.start[run.Tool] = run.PeakBytes
			}
		}
	}
	return nil
}

// run takes one trial.
func (m *measuring) run(ctx context.Context, t Trial, turn int) (Run, error) {
	tool, err := m.tool(t)
	if err != nil {
		return Run{}, err
	}
	run := Run{Trial: t, Turn: turn, Command: tool.Command(t)}
	m.begun++
	if m.Progress != nil {
		m.Progress(m.begun, m.of, t)
	}
	if run.Sample, err = tool.Run(ctx, t); err != nil {
		return run, err
	}
	if run.UndisturbedSeconds = run.undisturbed(t.Workers); run.UndisturbedSeconds > 0 {
		run.StatesPerSecond = float64(run.States) / run.UndisturbedSeconds
		run.StepsPerSecond = float64(run.Transitions) / run.UndisturbedSeconds
		run.TreePerSecond = float64(run.FromTree) / run.UndisturbedSeconds / float64(t.Workers)
	}
	if start := m.start[t.Tool]; start > 0 && run.PeakBytes > start && run.States >= fewStates {
		run.BytesPerState = float64(run.PeakBytes-start) / float64(run.States)
	}
	return run, nil
}

// agree returns an error if searches that must come to the same do not: full ones of a system find the same states,
// whoever searches, and all that judge it come to the same verdict and outcomes.
func agree(runs []Run) error {
	for i, a := range runs {
		for _, b := range runs[:i] {
			same := a.subject() == b.subject()
			judged := same && a.Tool == b.Tool && a.Judged && b.Judged
			switch {
			case same && a.Reduction == full && b.Reduction == full && (a.States != b.States || a.Transitions != b.Transitions):
				return fmt.Errorf("two full searches of the same system differ: %d states and %d steps with %s, %d and %d with %s",
					b.States, b.Transitions, b.Command, a.States, a.Transitions, a.Command)
			case judged && (a.Verdict != b.Verdict || a.Outcomes != b.Outcomes):
				return fmt.Errorf("two searches of the same system differ: the verdict is %q with %d outcomes with %s, %q with %d with %s",
					b.Verdict, b.Outcomes, b.Command, a.Verdict, a.Outcomes, a.Command)
			}
		}
	}
	return nil
}

package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// Program is an orrery command that takes trials: each is a check in a process of its own.
type Program struct {
	// Path is the file of the program, and Name what it is called by.
	Path, Name string
}

// FindProgram returns another orrery command, which is a file or the name of one in PATH, with the systems that it says
// it has.
func FindProgram(ctx context.Context, name string) (Command, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Command{}, err
	}
	var said bytes.Buffer
	list := exec.CommandContext(ctx, path, "list", "--format", "json")
	list.Args[0], list.Stderr = name, &said
	out, err := list.Output()
	if ctx.Err() != nil {
		return Command{}, ctx.Err()
	}
	var listed struct {
		Schema  string `json:"schema"`
		Systems []struct {
			Name string `json:"name"`
		} `json:"systems"`
	}
	if err == nil {
		err = json.Unmarshal(out, &listed)
	}
	switch {
	case err != nil:
		return Command{}, fmt.Errorf("%s: there is no list of systems: %s", typed(list.Args), cmp.Or(ending(said.Bytes()), err.Error()))
	case listed.Schema != listSchema:
		return Command{}, fmt.Errorf("%s: the list is of the form %q, not %q", typed(list.Args), listed.Schema, listSchema)
	}
	command := Command{Tool: Program{Path: path, Name: name}}
	for _, system := range listed.Systems {
		command.Systems = append(command.Systems, system.Name)
	}
	return command, nil
}

// listSchema names the form of the list that an orrery command writes of its systems.
const listSchema = "orrery.list/v1"

var _ Tool = Program{}

// Command implements [Tool].
func (p Program) Command(t Trial) string {
	return typed(append([]string{filepath.Base(p.Name)}, arguments(t)...))
}

// Run implements [Tool].
func (p Program) Run(ctx context.Context, t Trial) (Sample, error) {
	command := exec.CommandContext(ctx, p.Path)
	command.Args = append([]string{p.Name}, arguments(t)...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	// The exit code tells the verdict, which the report does as well.
	err := command.Run()
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Sample{}, err
	}
	var report core.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return Sample{}, fmt.Errorf("%s: there is no report: %s", p.Command(t), strings.TrimSpace(said.String()))
	}
	sample, err := sampleOf(&report, t)
	if err != nil {
		return Sample{}, fmt.Errorf("%s: %w", p.Command(t), err)
	}
	sample.ProcessorSeconds = (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	return sample, nil
}

// arguments returns the arguments of the check that is a trial.
func arguments(t Trial) []string {
	words := []string{"check", t.System}
	for _, param := range strings.Fields(t.Params) {
		words = append(words, "--param", param)
	}
	for _, condition := range strings.Fields(t.Conditions) {
		name, value, _ := strings.Cut(condition, "=")
		words = append(words, "--"+name, value)
	}
	words = append(words, "--reduction", t.Reduction, "--workers", strconv.Itoa(t.Workers))
	if t.Compact {
		words = append(words, "--compact")
	}
	if !t.Judged {
		// Of the properties that are always checked, it does not matter which is named.
		words = append(words, "--property", "no panic")
	}
	return append(words, "--format", "json")
}

// sampleOf returns what a report tells of a search. A search that was not complete, or not the one that
// was asked for, is none to measure.
func sampleOf(r *core.Report, t Trial) (Sample, error) {
	switch {
	case r.Verdict == core.Inconclusive:
		return Sample{}, fmt.Errorf("the search was not complete: %s", strings.Join(r.Reasons, "; "))
	case r.Reduction != t.Reduction:
		return Sample{}, fmt.Errorf("the reduction was %q and not %q", r.Reduction, t.Reduction)
	case r.Compact != t.Compact:
		return Sample{}, fmt.Errorf("that the search was compact is %t", r.Compact)
	}
	s := Sample{
		Verdict:     string(r.Verdict),
		Outcomes:    r.Outcomes,
		States:      r.States,
		Transitions: r.Transitions,
		Seconds:     float64(r.ElapsedMS) / 1000,
		PeakBytes:   r.PeakRSSBytes,
		Executed:    r.ReconcilesExecuted,
		FromTree:    r.StepsFromTree,
	}
	if r.StatesPerSecond > 0 {
		s.Seconds = float64(r.States) / r.StatesPerSecond // finer than milliseconds
	}
	return s, nil
}

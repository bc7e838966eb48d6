package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Counters is the name of the system of which there is a model for the other checkers, too.
const Counters = "model/counters"

// Rival is another checker that Orrery is measured beside.
type Rival struct {
	// Name is the tool of its trials, and Title what people call it.
	Name, Title string
	// Tool takes its trials, unless it is nil: then Missing says what to install.
	Tool    Tool
	Missing error
}

// FindRivals returns the other checkers, installed or not. What they make is put into the folder.
func FindRivals(folder string) []Rival {
	find := func(name, title string, c checker) Rival {
		if err := missing(name, title); err != nil {
			return Rival{Name: name, Title: title, Missing: err}
		}
		return Rival{Name: name, Title: title, Tool: &verifiers{checker: c, title: title, folder: filepath.Join(folder, name), made: map[string]bool{}}}
	}
	return []Rival{find(Spin, "SPIN", spin{}), find(Rumur, "Rumur", rumur{})}
}

// missing returns an error if a checker cannot be used. Its program and its package have the same name.
func missing(program, title string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("there is no program %s in PATH: install %s (the package %s of Debian) to be measured beside it", program, title, program)
	}
	if _, err := exec.LookPath(compiler); err != nil {
		return fmt.Errorf("there is no program %s in PATH, which %s needs: install it to be measured beside %s", compiler, title, title)
	}
	return nil
}

// compiler is the program that compiles verifiers.
const compiler = "gcc"

// checker is a model checker that turns a model into the source of a verifier: a program in C that searches.
type checker interface {
	// recipe returns how to search n counters from 0 to k.
	recipe(n, k int, t Trial) recipe
	// sample returns what a verifier printed about its search, which took some seconds by the clock.
	sample(said string, seconds float64) (Sample, error)
}

// recipe is how a verifier is made and run, all in one folder.
type recipe struct {
	// files are the texts to write first, by the names of their files.
	files map[string]string
	// generate is the command that writes the verifier, compile the one that compiles it, and verify the one that runs
	// it.
	generate, compile, verify []string
}

// verifiers takes trials with verifiers that a checker makes.
type verifiers struct {
	checker
	title string
	// folder has a folder for each verifier, and those that are made are in made.
	folder string
	made   map[string]bool
}

var _ Tool = (*verifiers)(nil)

// Command implements [Tool].
func (v *verifiers) Command(t Trial) string {
	r, err := v.recipeOf(t)
	if err != nil {
		return err.Error()
	}
	return strings.Join([]string{typed(r.generate), typed(r.compile), typed(r.verify)}, " && ")
}

// Run implements [Tool]. The time does not include that for making the verifier.
func (v *verifiers) Run(ctx context.Context, t Trial) (Sample, error) {
	sample, err := v.run(ctx, t)
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	return sample, err
}

func (v *verifiers) run(ctx context.Context, t Trial) (Sample, error) {
	r, err := v.recipeOf(t)
	if err != nil {
		return Sample{}, err
	}
	folder, err := v.prepare(ctx, t, r)
	if err != nil {
		return Sample{}, err
	}
	command := exec.CommandContext(ctx, filepath.Join(folder, r.verify[0]), r.verify[1:]...)
	command.Dir = folder
	begin := time.Now()
	said, err := command.CombinedOutput()
	seconds := time.Since(begin).Seconds()
	var sample Sample
	if err == nil {
		sample, err = v.sample(string(said), seconds)
	}
	if err != nil {
		return Sample{}, fmt.Errorf("the verifier of %s failed: %w: %s", v.title, err, ending(said))
	}
	sample.ProcessorSeconds = (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	return sample, nil
}

// recipeOf returns the recipe of a trial, and an error if there is no model for it.
func (v *verifiers) recipeOf(t Trial) (recipe, error) {
	n, counters := t.param("n")
	k, steps := t.param("k")
	if t.System != Counters || !counters || !steps {
		return recipe{}, fmt.Errorf("there is no model of %s (%s) for %s", t.System, t.Params, v.title)
	}
	return v.recipe(n, k, t), nil
}

// prepare makes the verifier of a trial, once, and returns the folder that it is in.
func (v *verifiers) prepare(ctx context.Context, t Trial, r recipe) (string, error) {
	folder := filepath.Join(v.folder, strings.ReplaceAll(fmt.Sprintf("%s %s %d", t.Params, t.Reduction, t.Workers), " ", "-"))
	if v.made[folder] {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for name, text := range r.files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for _, words := range [][]string{r.generate, r.compile} {
		command := exec.CommandContext(ctx, words[0], words[1:]...)
		command.Dir = folder
		if said, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", typed(words), err, ending(said))
		}
	}
	v.made[folder] = true
	return folder, nil
}

// ending returns the end of what a program said, of which there may be much.
func ending(said []byte) string {
	const most = 2000
	return strings.TrimSpace(string(said[max(0, len(said)-most):]))
}

// scan finds a number in what a verifier said.
func scan(said string, pattern *regexp.Regexp, to *float64) error {
	match := pattern.FindStringSubmatch(said)
	if match == nil {
		return fmt.Errorf("it does not say %q", pattern)
	}
	value, err := strconv.ParseFloat(match[1], 64)
	*to = value
	return err
}

// errFound is the error of a verifier that should have found nothing.
var errFound = errors.New("it found an error in the model, or did not search all of it")

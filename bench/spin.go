package bench

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Counters is the name of the system of which there is a model for SPIN, too.
const Counters = "model/counters"

// SpinTool takes trials with SPIN: it writes the model, has SPIN make a verifier from it, and runs that.
type SpinTool struct {
	spin, gcc string
	// folder is where verifiers are made, and made are the programs by where they are.
	folder string
	made   map[string]bool
}

var _ Tool = (*SpinTool)(nil)

// FindSpin returns SPIN as it is installed. The error says what is missing. What it makes
// is in a folder of its own for temporary files, until [SpinTool.Close].
func FindSpin() (*SpinTool, error) {
	spin, err := exec.LookPath("spin")
	if err != nil {
		return nil, errors.New("there is no program spin in PATH: install SPIN (the package spin of Debian) to be measured beside it")
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return nil, errors.New("there is no program gcc in PATH, which SPIN needs: install it to be measured beside SPIN")
	}
	folder, err := os.MkdirTemp("", "orrery-bench-")
	if err != nil {
		return nil, err
	}
	return &SpinTool{spin: spin, gcc: gcc, folder: folder, made: map[string]bool{}}, nil
}

// Close removes what was made.
func (s *SpinTool) Close() error { return os.RemoveAll(s.folder) }

// Command implements [Tool].
func (s *SpinTool) Command(t Trial) string {
	return fmt.Sprintf("spin -a model.pml && gcc %s && ./pan %s", strings.Join(compilation(t), " "), strings.Join(verification(t), " "))
}

// Run implements [Tool]. The time does not include that for making the verifier.
func (s *SpinTool) Run(ctx context.Context, t Trial) (Sample, error) {
	sample, err := s.run(ctx, t)
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	return sample, err
}

func (s *SpinTool) run(ctx context.Context, t Trial) (Sample, error) {
	folder, err := s.verifier(ctx, t)
	if err != nil {
		return Sample{}, err
	}
	command := exec.CommandContext(ctx, filepath.Join(folder, "pan"), verification(t)...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		return Sample{}, fmt.Errorf("the verifier of SPIN failed: %w: %s", err, out)
	}
	sample, err := parsePan(string(out))
	sample.ProcessorSeconds = (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	return sample, err
}

// verifier makes the verifier of a trial, once, and returns the folder that it is in.
func (s *SpinTool) verifier(ctx context.Context, t Trial) (string, error) {
	n, counters := t.param("n")
	k, steps := t.param("k")
	if t.System != Counters || !counters || !steps {
		return "", fmt.Errorf("there is no model of %s (%s) for SPIN", t.System, t.Params)
	}
	folder := filepath.Join(s.folder, fmt.Sprintf("%d-%d-%s", n, k, t.Reduction))
	if s.made[folder] {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "model.pml"), []byte(promela(n, k)), 0o644); err != nil {
		return "", err
	}
	for _, words := range [][]string{
		{s.spin, "-a", "model.pml"},
		append([]string{s.gcc}, compilation(t)...),
	} {
		command := exec.CommandContext(ctx, words[0], words[1:]...)
		command.Dir = folder
		if said, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, said)
		}
	}
	s.made[folder] = true
	return folder, nil
}

// compilation returns the arguments for the compiler.
func compilation(t Trial) []string {
	words := []string{"-O2", "-DSAFETY"}
	if t.Reduction == full {
		words = append(words, "-DNOREDUCE")
	}
	return append(words, "-o", "pan", "pan.c")
}

// verification returns the arguments for the verifier: a stack that is deep enough, or else an
// error, a hash table with a slot for each state, and no list of what was not reached.
func verification(t Trial) []string {
	n, _ := t.param("n")
	k, _ := t.param("k")
	states := n*k + 1
	if t.Reduction == full {
		states = 1
		for range n {
			states *= k + 1
		}
	}
	return []string{fmt.Sprintf("-m%d", 2*n*k+100), fmt.Sprintf("-w%d", max(10, bits.Len(uint(states)))), "-b", "-n"}
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// test is a test of a package.
type test struct {
	name  string
	suite *suite
	// takes is how long it takes without a mutant at work, and reaches has a 1 for each mutant whose place it passes.
	takes   time.Duration
	reaches []byte
	// broken says how it fails without a mutant, empty if it does not. Such a test takes no part.
	broken string
}

// suite is the tests of a package, as a binary.
type suite struct {
	pkg, folder, binary string
	short               bool
	// rapid tells that the tests have the flags of rapid.
	rapid bool
}

// tests returns the tests of the binary.
func (s *suite) tests(ctx context.Context) ([]*test, error) {
	command := exec.CommandContext(ctx, s.binary, "-test.list", ".")
	command.Dir = s.folder
	out, err := command.Output()
	if err != nil {
		return nil, said("list the tests of "+s.pkg, err)
	}
	var all []*test
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz") {
			all = append(all, &test{name: name, suite: s})
		}
	}
	return all, nil
}

// mostMemory is how many KiB of addresses a test may use: some mutants collect without end.
const mostMemory = 8 << 20

// run runs tests, and returns what they say if they fail. It kills them after a time, which is a failure.
func (s *suite) run(ctx context.Context, names []string, limit time.Duration, env ...string) (failure string, err error) {
	run := "^(" + strings.Join(each(names, regexp.QuoteMeta), "|") + ")$"
	shell := fmt.Sprintf("ulimit -v %d; exec \"$0\" \"$@\"", mostMemory)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(limited, "sh", "-c", shell, s.binary, "-test.run", run, "-test.failfast", "-test.timeout=0", fmt.Sprintf("-test.short=%t", s.short))
	if s.rapid {
		// It must not leave what failed where the next run begins with it, and a score is to be the same again.
		command.Args = append(command.Args, "-rapid.nofailfile", "-rapid.seed=1")
	}
	command.Dir, command.Env = s.folder, append(os.Environ(), env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err = command.Run()
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "it takes too long", nil
	}
	return summary(out.String()), nil
}

// summary returns the first line that says what failed.
func summary(out string) string {
	lines := strings.Split(out, "\n")
	for _, begin := range []string{"panic: ", "fatal error: ", "    --- FAIL", "--- FAIL"} {
		if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) }); i >= 0 {
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[0])
}

// record runs the test by itself, without a mutant, and finds out what it reaches.
func (t *test) record(ctx context.Context, scratch string, mutants int) error {
	notes, err := os.CreateTemp(scratch, "reached")
	if err != nil {
		return err
	}
	defer os.Remove(notes.Name())
	if err := notes.Truncate(int64(mutants)); err != nil {
		return err
	}
	if err := notes.Close(); err != nil {
		return err
	}
	began := time.Now()
	if t.broken, err = t.suite.run(ctx, []string{t.name}, time.Hour, "ORRERY_MUTANTS_REACHED="+notes.Name()); err != nil {
		return err
	}
	t.takes = time.Since(began)
	t.reaches, err = os.ReadFile(notes.Name())
	return err
}

// brief tests are run together.
const brief = 500 * time.Millisecond

// fate is what became of a mutant.
type fate struct {
	// failure is how the first test that fails does so, empty if none does.
	failure string
	// reaching is how many tests reach the mutant, and left how many of them were not run, as their time was up.
	reaching, left int
}

// jury is the tests, and how often each noticed a mutant: those that often do are asked earlier.
type jury struct {
	tests []*test
	// budget is how much time tests have for a mutant, and patience what they may take besides the time that they need without one,
	// and as much again three times: mutants wait for ever now and then.
	budget, patience time.Duration

	mutex           sync.Mutex
	asked, noticing map[*test]int
}

func newJury(tests []*test, budget, patience time.Duration) *jury {
	return &jury{tests: tests, budget: budget, patience: patience, asked: map[*test]int{}, noticing: map[*test]int{}}
}

// reaching returns the tests that reach a mutant: first brief ones, by package, its own before the others. The longer ones are in the order of the
// time after which they are likely to notice something.
func (j *jury) reaching(m mutant) []*test {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	var all []*test
	for _, t := range j.tests {
		if t.broken == "" && t.reaches[m.number] == 1 {
			all = append(all, t)
		}
	}
	cost := func(t *test) time.Duration {
		if t.takes < brief {
			return 0
		}
		return t.takes * time.Duration(j.asked[t]+2) / time.Duration(j.noticing[t]+1)
	}
	far := func(t *test) int {
		if t.suite.pkg == m.pkg {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *test) int {
		return cmp.Or(cmp.Compare(cost(a), cost(b)), far(a)-far(b), strings.Compare(a.suite.pkg, b.suite.pkg))
	})
	return all
}

func (j *jury) count(t *test, noticed bool) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.asked[t]++
	if noticed {
		j.noticing[t]++
	}
}

// judge runs the tests that reach a mutant with it at work until one fails, or their time is up.
func (j *jury) judge(ctx context.Context, m mutant) (fate, error) {
	all := j.reaching(m)
	spent := time.Duration(0)
	for rest := all; len(rest) > 0; {
		group, takes := []string{rest[0].name}, rest[0].takes
		for _, t := range rest[1:] {
			if t.suite != rest[0].suite || t.takes >= brief {
				break
			}
			group, takes = append(group, t.name), takes+t.takes
		}
		if spent > 0 && spent+takes > j.budget {
			return fate{reaching: len(all), left: len(rest)}, nil
		}
		spent += takes
		failure, err := rest[0].suite.run(ctx, group, j.patience+4*takes, fmt.Sprintf("ORRERY_MUTANT=%d", m.number))
		if err != nil {
			return fate{}, err
		}
		if len(group) == 1 {
			j.count(rest[0], failure != "")
		}
		if failure != "" {
			return fate{failure: rest[0].suite.pkg + ": " + failure, reaching: len(all)}, nil
		}
		rest = rest[len(group):]
	}
	return fate{reaching: len(all)}, nil
}

func each[T any](list []T, do func(T) T) []T {
	changed := make([]T, len(list))
	for i, v := range list {
		changed[i] = do(v)
	}
	return changed
}

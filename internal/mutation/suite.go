package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
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
	// takes is how long it takes without a mutant at work, and works how much processor time it needs for that. On a
	// machine with much else to do only the second one tells anything.
	takes, works time.Duration
	// reaches has a 1 for each mutant whose place it passes.
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

// limits are the most that tests may take: time, and processor time.
type limits struct{ time, work time.Duration }

// tooLong is how tests fail that take more than they may.
const tooLong = "it takes too long"

// run runs tests, and returns what they say if they fail, and how much processor time they needed. It kills them when
// they take more than they may, which is a failure.
func (s *suite) run(ctx context.Context, names []string, limit limits, env ...string) (failure string, work time.Duration, err error) {
	run := "^(" + strings.Join(each(names, regexp.QuoteMeta), "|") + ")$"
	shell := fmt.Sprintf("ulimit -v %d; ulimit -t %d; exec \"$0\" \"$@\"", mostMemory, int(math.Ceil(limit.work.Seconds())))
	limited, cancel := context.WithTimeout(ctx, limit.time)
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
	if state := command.ProcessState; state != nil {
		work = state.UserTime() + state.SystemTime()
	}
	switch {
	case err == nil:
		return "", work, nil
	case ctx.Err() != nil:
		return "", work, ctx.Err()
	case limited.Err() != nil, work >= limit.work, isKilled(command.ProcessState):
		return tooLong, work, nil
	}
	return cmp.Or(summary(out.String()), err.Error()), work, nil
}

// isKilled reports whether the kernel has ended a process that had used up its processor time, by its own way to count
// that.
func isKilled(state *os.ProcessState) bool {
	if state == nil {
		return false
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGXCPU)
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
	t.broken, t.works, err = t.suite.run(ctx, []string{t.name}, limits{time.Hour, time.Hour}, "ORRERY_MUTANTS_REACHED="+notes.Name())
	if err != nil {
		return err
	}
	t.takes = time.Since(began)
	t.reaches, err = os.ReadFile(notes.Name())
	return err
}

// brief tests are run together, as many as work for about so long all in all: those that need less processor time than
// this, and that hardly wait for anything.
const brief = 500 * time.Millisecond

func (t *test) isBrief() bool { return t.works < brief && t.takes < 2*brief }

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
	// budget is how much processor time tests have for a mutant.
	budget time.Duration
	// Tests may take so many times the time and the processor time that they need without a mutant, and patience
	// besides: mutants that go on for ever work for that long, and those that wait for ever three times as long.
	times    int
	patience time.Duration

	mutex sync.Mutex
	// asked and noticing count mutants of a file for a test.
	asked, noticing map[asking]int
}

// asking is a test, and the file of mutants that it is asked about; all files if that is empty.
type asking struct {
	test *test
	file string
}

func newJury(tests []*test, budget time.Duration, times int, patience time.Duration) *jury {
	return &jury{tests: tests, budget: budget, times: times, patience: patience, asked: map[asking]int{}, noticing: map[asking]int{}}
}

// reaching returns the tests that reach a mutant: first brief ones, by package, its own before the others, and the
// briefest first. The longer ones are in the order of the work after which they are likely to notice something. How
// many mutants of the same file a test noticed counts most for that.
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
		if t.isBrief() {
			return 0
		}
		near, far := asking{t, m.file}, asking{t, ""}
		return t.works * time.Duration(4*j.asked[near]+j.asked[far]+2) / time.Duration(4*j.noticing[near]+j.noticing[far]+1)
	}
	far := func(t *test) int {
		if t.suite.pkg == m.pkg {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *test) int {
		return cmp.Or(cmp.Compare(cost(a), cost(b)), far(a)-far(b), strings.Compare(a.suite.pkg, b.suite.pkg), cmp.Compare(a.works, b.works))
	})
	return all
}

func (j *jury) count(t *test, file string, noticed bool) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for _, a := range []asking{{t, file}, {t, ""}} {
		j.asked[a]++
		if noticed {
			j.noticing[a]++
		}
	}
}

// judge runs the tests that reach a mutant with it at work until one fails, or their time is up.
func (j *jury) judge(ctx context.Context, m mutant) (fate, error) {
	all := j.reaching(m)
	spent := time.Duration(0)
	for rest := all; len(rest) > 0; {
		group := rest[:1]
		takes, works := rest[0].takes, rest[0].works
		for _, t := range rest[1:] {
			if !group[0].isBrief() || !t.isBrief() || t.suite != group[0].suite || works+t.works > brief {
				break
			}
			group, takes, works = rest[:len(group)+1], takes+t.takes, works+t.works
		}
		if spent > 0 && spent+works > j.budget {
			return fate{reaching: len(all), left: len(rest)}, nil
		}
		spent += works
		limit := limits{3*j.patience + time.Duration(j.times)*takes, j.patience + time.Duration(j.times)*works}
		failure, _, err := rest[0].suite.run(ctx, each(group, nameOf), limit, fmt.Sprintf("ORRERY_MUTANT=%d", m.number))
		if err != nil {
			return fate{}, err
		}
		if len(group) == 1 {
			j.count(rest[0], m.file, failure != "")
		}
		if failure != "" {
			return fate{failure: rest[0].suite.pkg + ": " + failure, reaching: len(all)}, nil
		}
		rest = rest[len(group):]
	}
	return fate{reaching: len(all)}, nil
}

func nameOf(t *test) string { return t.name }

func each[T, V any](list []T, do func(T) V) []V {
	changed := make([]V, len(list))
	for i, v := range list {
		changed[i] = do(v)
	}
	return changed
}

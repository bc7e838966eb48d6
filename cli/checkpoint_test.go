package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kept is a command that is ended in midst.
type kept struct{ command, folder string }

// run runs the command for so long at most, and then ends it, or the process in which it works. It returns what it
// wrote and its exit code.
func (k kept) run(t *testing.T, limit time.Duration, worker bool, args ...string) (out, said string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), k.command, append([]string{"check", "--format", "json", "--checkpoint-interval", "50ms"}, args...)...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = k.folder, &stdout, &stderr, time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(limit, func() {
		pid := c.Process.Pid
		if worker {
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
			if child, none := strconv.Atoi(strings.TrimSpace(string(children))); err == nil && none == nil {
				pid = child
			}
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	_ = c.Wait() // how it ended is in the exit code
	end.Stop()
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// withoutTimes returns a report without times and memory.
func withoutTimes(t *testing.T, out string) string {
	t.Helper()
	var report map[string]any
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %.200q", err, out)
	}
	for _, name := range []string{"elapsed_ms", "states_per_second", "peak_rss_bytes"} {
		delete(report, name)
	}
	text, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const forever = 10 * time.Minute

// TestCheckpoints ends the command in all ways.
func TestCheckpoints(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the command some sixty times")
	}
	t.Parallel()
	command := filepath.Join(t.TempDir(), "kept")
	if out, err := exec.Command("go", "build", "-o", command, "./testdata/kept").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("killed", func(t *testing.T) { killed(t, command) })
	t.Run("limited", func(t *testing.T) { limited(t, command) })
	t.Run("interrupted", func(t *testing.T) { interrupted(t, command) })
}

// killed kills searches at random moments, twenty and more in all: the supervisor or the process that searches. Each
// time they go on from the checkpoint, and in the end report what a search reports that was never ended.
func killed(t *testing.T, command string) {
	for i, args := range []string{
		"model/two-phase-commit --param n=6 --reduction none --workers 2",
		"model/two-phase-commit --param n=5 --reduction none --compact",
		"model/two-phase-commit --param n=5 --reduction symmetry",
		`model/philosophers --param n=7 --reduction none --property G"F"settled`,
		"scheduler --stale all=lag(1)",
		"tenants --granularity call --crashes 1 --workers 2",
		"launchcache --stale all=lag(1) --crashes 1 --search dfs --reduction none",
	} {
		t.Run(args, func(t *testing.T) {
			k := kept{command, t.TempDir()}
			args := strings.Fields(args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], `"`, " ")
			}
			began := time.Now()
			out, said, code := k.run(t, forever, false, args...)
			if code > 1 {
				t.Fatalf("exit code %d: %s", code, said)
			}
			took := time.Since(began)
			want := withoutTimes(t, out)
			r := rand.New(rand.NewPCG(uint64(i), 73))
			how := []string{"--checkpoint", "kept"}
			for round := range 3 {
				after := time.Duration(r.Int64N(int64(took)))
				_, said, code := k.run(t, after, round%2 == 1, append(args, how...)...)
				if code == 2 {
					t.Fatalf("ended after %s: %s", after, said)
				}
				if info, err := os.Stat(filepath.Join(k.folder, "kept")); err == nil {
					how[0] = "--resume"
					if info.Mode().Perm() != 0o600 {
						t.Errorf("others may read the checkpoint: %v", info.Mode())
					}
				}
			}
			out, said, again := k.run(t, forever, false, append(args, how...)...)
			if again > 1 {
				t.Fatalf("exit code %d: %s", again, said)
			}
			if got := withoutTimes(t, out); got != want || again != code {
				t.Errorf("got the exit code %d and\n%s\nwant %d and\n%s", again, got, code, want)
			}
		})
	}
}

// limited ends a search by a limit, and goes on; and tries to go on where that cannot be.
func limited(t *testing.T, command string) {
	k := kept{command, t.TempDir()}
	model := []string{"model/two-phase-commit", "--param", "n=5", "--reduction", "none"}
	with := func(args ...string) []string { return append(append([]string(nil), model...), args...) }
	out, _, _ := k.run(t, forever, false, model...)
	want := withoutTimes(t, out)

	_, said, code := k.run(t, forever, false, with("--checkpoint", "kept", "--max-states", "3000")...)
	if code != 3 || !strings.Contains(said, "--resume kept") {
		t.Fatalf("with a limit: exit code %d, %s", code, said)
	}
	for _, refused := range []struct {
		args []string
		says string
	}{
		{[]string{"model/two-phase-commit", "--param", "n=4", "--reduction", "none", "--resume", "kept"}, "--param n was 5, and is 4 now"},
		{[]string{"model/peterson", "--reduction", "none", "--resume", "kept"}, "the system was model/two-phase-commit, and is model/peterson now"},
		{[]string{"model/two-phase-commit", "--param", "n=5", "--resume", "kept"}, `--reduction was "none", and is "por" now`},
		{with("--max-depth", "9", "--resume", "kept"), "--max-depth was 0, and is 9 now"},
		{with("--property", "settled", "--resume", "kept"), `--property was not given, and is ["settled"] now`},
		{with("--resume", "absent"), "no such file"},
		{with("--resume", "."), "is a directory"},
		{with("--resume", "kept", "--out", "kept"), "--out names the file of the checkpoint"},
		{with("--search", "random", "--resume", "kept"), "walks keep no checkpoints"},
		{with("--thorough", "--resume", "kept"), "--thorough makes several checks"},
	} {
		if _, said, code := k.run(t, forever, false, refused.args...); code != 2 || !strings.Contains(said, refused.says) {
			t.Errorf("%q: exit code %d, %q, want %q", refused.args, code, said, refused.says)
		}
	}
	// Another build of the same sources is another binary.
	other := kept{filepath.Join(t.TempDir(), "kept"), k.folder}
	if out, err := exec.Command("go", "build", "-ldflags", "-s", "-o", other.command, "./testdata/kept").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, said, code := other.run(t, forever, false, with("--resume", "kept")...); code != 2 || !strings.Contains(said, "the binary is not the same") {
		t.Errorf("another binary: exit code %d, %q", code, said)
	}
	// The limit is raised, and workers make no difference.
	out, said, code = k.run(t, forever, false, with("--resume", "kept", "--workers", "1")...)
	if got := strings.Replace(withoutTimes(t, out), `"workers": 1`, `"workers": 2`, 1); code != 0 || got != strings.Replace(want, `"workers": 1`, `"workers": 2`, 1) {
		t.Errorf("exit code %d, %s, got\n%s\nwant\n%s", code, said, got, want)
	}

	// What was damaged is searched again.
	path := filepath.Join(k.folder, "kept")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(whole) / 2, len(whole) - 3} {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		out, said, code = k.run(t, forever, false, with("--resume", "kept")...)
		if withoutTimes(t, out) != want || code != 0 || !strings.Contains(said, "kept is damaged after") {
			t.Errorf("damaged at %d: exit code %d, %s", at, code, said)
		}
	}
	if err := os.WriteFile(path, whole[:30], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := k.run(t, forever, false, with("--resume", "kept")...); code != 2 || !strings.Contains(said, "damaged at its beginning") {
		t.Errorf("cut off: exit code %d, %s", code, said)
	}
}

// interrupted ends a search by a signal, and goes on: then it has about as many states at once.
func interrupted(t *testing.T, command string) {
	folder := t.TempDir()
	path := filepath.Join(folder, "kept")
	var last os.FileInfo
	states := func(how ...string) float64 {
		var out, said bytes.Buffer
		c := exec.CommandContext(t.Context(), command, append([]string{"check", "model/two-phase-commit", "--param", "n=10", "--reduction", "none", "--format", "json"}, how...)...)
		c.Dir, c.Stdout, c.Stderr = folder, &out, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// It is at work when there is a new checkpoint.
		const size, patience = 10_000, time.Minute
		for began := time.Now(); time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
			info, err := os.Stat(path)
			if err == nil && info.Size() > size && !os.SameFile(info, last) {
				last = info
				break
			}
		}
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait() // how it ended is in the exit code
		var report struct{ States float64 }
		if err := json.Unmarshal(out.Bytes(), &report); err != nil || c.ProcessState.ExitCode() != 3 {
			t.Fatalf("exit code %d, %v: %s%s", c.ProcessState.ExitCode(), err, &out, &said)
		}
		return report.States
	}
	// What is found behind the states that are being expanded is told and not kept.
	const batch = 20_000
	if before, after := states("--checkpoint", "kept"), states("--resume", "kept"); before == 0 || after+batch < before {
		t.Errorf("%v states, and then %v", before, after)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

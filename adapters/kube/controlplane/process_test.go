package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// starting runs a shell script as a process whose log is in a new folder.
func starting(t *testing.T, script string) *process {
	t.Helper()
	program := filepath.Join(programs(t, map[string]string{"program": script}), "program")
	p, err := startProcess(program, filepath.Join(t.TempDir(), "program.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

func TestStopIsPolite(t *testing.T) {
	p := starting(t, `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	awaitLog(t, p, "ready")
	p.stop()
	awaitLog(t, p, "bye")
	p.stop() // there is nothing left to end
}

// awaitLog waits until the log of a process has a word.
func awaitLog(t *testing.T, p *process, word string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(p.logPath); err == nil && strings.Contains(string(text), word) {
			return
		}
	}
	t.Fatalf("the program does not say %q", word)
}

func TestKilledProcessHasEnded(t *testing.T) {
	p := starting(t, `trap '' TERM; while :; do sleep 0.01; done`)
	p.kill()
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
}

func TestFailedTellsTheLastWords(t *testing.T) {
	p := starting(t, `i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done`)
	<-p.ended
	reason := errors.New("no luck")
	err := p.failed(reason)
	if !errors.Is(err, reason) || !strings.HasPrefix(err.Error(), "program: no luck; its last words:\n") || !strings.HasSuffix(err.Error(), "line 499") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(err.Error(), "line 1\n") {
		t.Error("the whole log is in the error")
	}
	if err := os.Remove(p.logPath); err != nil {
		t.Fatal(err)
	}
	if err := p.failed(reason); !errors.Is(err, reason) || !strings.Contains(err.Error(), "it has no log") {
		t.Errorf("error %v", err)
	}
}

// TestStartFails starts servers that do not come up. Nothing of them may stay.
func TestStartFails(t *testing.T) {
	tests := []struct {
		name    string
		scripts map[string]string
		within  time.Duration
		want    string
		is      error
	}{
		{"there is no etcd", nil, time.Minute, "cannot start ", os.ErrNotExist},
		{"etcd ends", map[string]string{etcdName: "echo no space left; exit 1"}, time.Minute, "etcd: it has ended by itself; its last words:\nno space left", nil},
		{"etcd never answers", map[string]string{etcdName: "exec sleep 60"}, 200 * time.Millisecond, "starting etcd: ", context.DeadlineExceeded},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := programs(t, test.scripts)
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			ctx, cancel := context.WithTimeout(context.Background(), test.within)
			defer cancel()
			_, err := Start(ctx, Binaries{Etcd: filepath.Join(folder, etcdName), APIServer: filepath.Join(folder, apiServerName)})
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v, want %q and %v", err, test.want, test.is)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}

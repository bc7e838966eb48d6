package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestStageless(t *testing.T) {
	const theirs = `module k8s.io/kubernetes

go 1.25.0

require (
	k8s.io/api v0.0.0
	k8s.io/client-go v0.0.0
	example.com/other v1.2.3
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/client-go => ./staging/src/k8s.io/client-go
	example.com/other => example.com/fork v1.2.4
)
`
	ours, err := stageless([]byte(theirs), "v1.36.1")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	if file.Module.Mod.Path != "servers" {
		t.Errorf("the module is called %s", file.Module.Mod.Path)
	}
	required := map[string]string{}
	for _, r := range file.Require {
		required[r.Mod.Path] = r.Mod.Version
	}
	if required["k8s.io/kubernetes"] != "v1.36.1" || required["example.com/other"] != "v1.2.3" {
		t.Errorf("it requires %v", required)
	}
	replaced := map[string]string{}
	for _, r := range file.Replace {
		replaced[r.Old.Path] = r.New.String()
	}
	want := map[string]string{"k8s.io/api": "k8s.io/api@v0.36.1", "k8s.io/client-go": "k8s.io/client-go@v0.36.1", "example.com/other": "example.com/fork@v1.2.4"}
	for path, by := range want {
		if replaced[path] != by {
			t.Errorf("%s is replaced by %q, want %q", path, replaced[path], by)
		}
	}
	if _, err := stageless([]byte("modul x"), "v1.36.1"); err == nil {
		t.Error("a go.mod that is none was taken")
	}
}

// TestBuildLeavesNothingHalfDone fails a build, and interrupts one.
func TestBuildLeavesNothingHalfDone(t *testing.T) {
	tests := []struct {
		name string
		// command is what stands in for the go command.
		command string
		want    string
	}{
		{"the module cannot be had", "echo nowhere >&2; exit 1", "cannot prepare the build of kube-apiserver " + Version + ": go mod: exit status 1: nowhere"},
		{"the answer cannot be read", "echo text", "cannot prepare the build"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", programs(t, map[string]string{"go": test.command}))
			cache := filepath.Join(t.TempDir(), "cache")
			var log strings.Builder
			err := build(context.Background(), filepath.Join(cache, "servers"), loggerTo(&log))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if !strings.Contains(log.String(), "this takes about a quarter of an hour, once") {
				t.Errorf("it says %q", &log)
			}
			if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}

func TestInterruptedBuild(t *testing.T) {
	t.Setenv("PATH", programs(t, map[string]string{"go": "exec /bin/sleep 60"}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := goCommand(ctx, t.TempDir(), loggerTo(t.Output()), "build"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

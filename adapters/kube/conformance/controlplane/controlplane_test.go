package controlplane

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStageless(t *testing.T) {
	const theirs = `module k8s.io/kubernetes

go 1.26.0

require (
	example.com/other v1.2.3
	k8s.io/api v0.0.0
)

replace (
	example.com/other => example.com/fork v1.0.0
	k8s.io/api => ./staging/src/k8s.io/api
)
`
	got, err := stageless([]byte(theirs), "v1.36.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"module servers\n",
		"k8s.io/kubernetes v1.36.1\n",
		"k8s.io/api => k8s.io/api v0.36.1\n",
		"example.com/other => example.com/fork v1.0.0\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "staging") {
		t.Errorf("a folder is left in\n%s", got)
	}
	if _, err := stageless([]byte("no go.mod"), "v1.36.1"); err == nil {
		t.Error("what is no go.mod is taken for one")
	}
}

func TestFindInAssets(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(assetsVariable, folder)
	if _, err := Find(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), assetsVariable) {
		t.Errorf("an empty folder gives the error %v", err)
	}
	for _, program := range []string{etcdName, apiServerName} {
		if err := os.WriteFile(filepath.Join(folder, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Find(t.Context(), nil)
	if want := (Binaries{Etcd: filepath.Join(folder, etcdName), APIServer: filepath.Join(folder, apiServerName)}); err != nil || found != want {
		t.Errorf("got %v and the error %v, want %v", found, err, want)
	}
}

func TestStartFails(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "failing")
	if err := os.WriteFile(failing, []byte("#!/bin/sh\necho no disk left >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Start(t.Context(), Binaries{Etcd: failing, APIServer: failing})
	if err == nil || !strings.Contains(err.Error(), "no disk left") {
		t.Errorf("a program that ends gives the error %v", err)
	}
	if _, err := Start(t.Context(), Binaries{Etcd: filepath.Join(t.TempDir(), "missing")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing program gives the error %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, error %v", left, err)
	}
}

func TestStartIsInterrupted(t *testing.T) {
	hanging := filepath.Join(t.TempDir(), "hanging")
	if err := os.WriteFile(hanging, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const soon = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	began := time.Now()
	if _, err := Start(ctx, Binaries{Etcd: hanging}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a program that does not come up gives the error %v", err)
	}
	const late = 5 * time.Second
	if took := time.Since(began); took > late {
		t.Errorf("it took %s to give up after %s", took, soon)
	}
}

func TestFreePorts(t *testing.T) {
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(ports) != 3 || ports[0] == ports[1] || ports[1] == ports[2] || ports[0] == ports[2] {
		t.Errorf("got the ports %v, want three different ones", ports)
	}
}

package controlplane

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// programs makes a folder with these programs, as shell scripts.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestFindWhereTheVariableSays(t *testing.T) {
	folder := programs(t, map[string]string{etcdName: "", apiServerName: ""})
	t.Setenv(assetsVariable, folder)
	want := Binaries{Etcd: filepath.Join(folder, "etcd"), APIServer: filepath.Join(folder, "kube-apiserver")}
	if got, err := Present(); err != nil || got != want {
		t.Errorf("present: %+v, error %v", got, err)
	}
	if got, err := Find(context.Background(), loggerTo(t.Output())); err != nil || got != want {
		t.Errorf("found: %+v, error %v", got, err)
	}
}

// loggerTo returns a logger that writes there.
func loggerTo(w io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: w})
}

// TestFindBuildsNothingBesides sets the variable to a folder without the programs: they
// must not be built somewhere else then.
func TestFindBuildsNothingBesides(t *testing.T) {
	folder := programs(t, map[string]string{etcdName: ""})
	t.Setenv(assetsVariable, folder)
	var log strings.Builder
	_, err := Find(context.Background(), loggerTo(&log))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "KUBEBUILDER_ASSETS is set to "+folder+", which does not hold etcd and kube-apiserver: correct it") {
		t.Errorf("error %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("it says %q", &log)
	}
}

func TestFindWhatWasBuilt(t *testing.T) {
	home := t.TempDir()
	t.Setenv(assetsVariable, "")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	if _, err := Present(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was built: error %v", err)
	}
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(programs(t, map[string]string{etcdName: "", apiServerName: ""}), folder); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(context.Background(), loggerTo(t.Output())); err != nil || got.Etcd != filepath.Join(folder, etcdName) {
		t.Errorf("found %+v, error %v", got, err)
	}
}

func TestFindWithoutHome(t *testing.T) {
	for _, name := range []string{assetsVariable, "HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	if _, err := os.UserCacheDir(); err == nil {
		t.Skip("this system keeps caches elsewhere")
	}
	if _, err := Find(context.Background(), loggerTo(t.Output())); err == nil || !strings.Contains(err.Error(), "set HOME, or set KUBEBUILDER_ASSETS") {
		t.Errorf("error %v", err)
	}
}

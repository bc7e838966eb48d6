//go:build unix

package controlplane

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweep wants the folder of a process that was killed to go, and no other one.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	folder := func(name string) string {
		path := filepath.Join(os.TempDir(), name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	left, used, begun, other := folder(folderPrefix+"left"), folder(folderPrefix+"used"), folder(folderPrefix+"begun"), folder("other")
	for _, path := range []string{left, other} {
		if err := os.WriteFile(filepath.Join(path, lockName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := hold(used)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if again, err := hold(used); err == nil {
		again.Close()
		t.Error("a folder is held twice")
	}
	sweep()
	for path, want := range map[string]bool{left: false, used: true, begun: true, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

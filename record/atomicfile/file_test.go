package atomicfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/orrery-dev/orrery/record/atomicfile"
)

func TestNothingAppearsBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "old")
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	file.Discard()
	wantContent(t, path, "new")
	wantFiles(t, dir, 1)
}

// TestPermissions wants a new file to be its owner's, and one that is replaced to keep its permissions.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	fresh, known := filepath.Join(dir, "fresh"), filepath.Join(dir, "known")
	if err := os.WriteFile(known, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(known, 0o640); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{fresh: 0o600, known: 0o640} {
		write(t, path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the permissions %v, want %v: %v", path, info.Mode(), want, err)
		}
	}
}

// TestLinks wants what a link leads to to be written, and the link to stay; one that leads nowhere is refused.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	write(t, link)
	wantContent(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.Create(link); err == nil {
		t.Error("a link that leads nowhere can be written")
	}
	wantFiles(t, dir, 1)
}

// TestLeftovers wants what a killed process has left to be removed by the next one, and what is being written, or
// belongs to another file, to stay.
func TestLeftovers(t *testing.T) {
	if folder := os.Getenv("LEAVE_IN"); folder != "" {
		if _, err := atomicfile.Create(filepath.Join(folder, "a.orr")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	dir := t.TempDir()
	leave := exec.Command(os.Args[0], "-test.run=^TestLeftovers$")
	leave.Env = append(os.Environ(), "LEAVE_IN="+dir)
	if err := leave.Run(); err == nil {
		t.Fatal("the process was not killed")
	}
	wantFiles(t, dir, 1)
	other := filepath.Join(dir, ".b.orr.tmp-1")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	working, err := atomicfile.Create(filepath.Join(dir, "a.orr"))
	if err != nil {
		t.Fatal(err)
	}
	defer working.Discard()
	wantFiles(t, dir, 2)
	write(t, filepath.Join(dir, "a.orr"))
	if err := working.Commit(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, 2)
}

// TestMoves wants a file to come to where its name led when it was begun.
func TestMoves(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	file, err := atomicfile.Create("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(there)
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, here, 1)
	wantFiles(t, there, 0)
}

// write writes a file.
func write(t *testing.T, path string) {
	t.Helper()
	file, err := atomicfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	file, err := atomicfile.Create(filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	file.Discard()
	file.Discard()
	wantFiles(t, dir, 0)
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, os.DevNull, filepath.Join(dir, "no", "such", "folder")} {
		if _, err := atomicfile.Create(path); err == nil {
			t.Errorf("Create(%q) succeeded", path)
		}
	}
	wantFiles(t, dir, 0)
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

func wantFiles(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != want {
		t.Errorf("%s holds %d files, want %d", dir, len(entries), want)
	}
}

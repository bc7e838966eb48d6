package atomicfile_test

import (
	"os"
	"path/filepath"
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

//go:build unix

package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orrery-dev/orrery/internal/filelock"
)

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	mine, other := open(), open()
	defer func() { _ = other.Close() }()
	if filelock.Held(other) {
		t.Error("nobody holds it")
	}
	filelock.Hold(mine)
	if !filelock.Held(other) || filelock.Left(other) || filelock.Take(other) == nil {
		t.Error("it is held")
	}
	if err := mine.Close(); err != nil {
		t.Fatal(err)
	}
	if filelock.Held(other) || !filelock.Left(other) {
		t.Error("it is not held any longer")
	}
	if last := open(); !filelock.Held(last) {
		t.Error("who finds that it is left holds it")
	} else {
		_ = last.Close()
	}
}

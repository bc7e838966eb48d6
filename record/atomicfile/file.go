// Package atomicfile writes files that appear under their name only once they
// are complete.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file in the making. Its bytes are in a temporary file beside the
// final one until [File.Commit].
type File struct {
	temporary *os.File
	path      string
	done      bool
}

// Create begins a file. It fails when a file of that name could not be written,
// and leaves a file that exists there alone.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("there is something that is not a file: give another name")}
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &File{temporary: temporary, path: path}, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.temporary.Write(p) }

// Commit gives the file its name. A file that had it is replaced.
func (f *File) Commit() error {
	defer f.Discard()
	err := errors.Join(f.temporary.Chmod(0o644), f.temporary.Sync(), f.temporary.Close())
	if err == nil {
		err = os.Rename(f.temporary.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.done = true
	return nil
}

// Discard drops the file. After [File.Commit] it does nothing.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	f.temporary.Close()
	os.Remove(f.temporary.Name())
}

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
	mode      fs.FileMode
	done      bool
}

// Create begins a file. It fails when a file of that name could not be written,
// and leaves a file that exists there alone. Where the name is that of a symbolic link, the file is the one that it leads to.
func Create(path string) (*File, error) {
	f := &File{path: path, mode: 0o600} // records hold what objects hold, Secrets as well
	refused := func(why string) error { return &fs.PathError{Op: "write", Path: path, Err: errors.New(why)} }
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, refused("it is a link to what is not there: give another name")
		}
	}
	if info, err := os.Stat(f.path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, refused("there is something that is not a file: give another name")
		}
		f.mode = info.Mode().Perm()
	}
	var err error
	if f.temporary, err = os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*"); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return f, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.temporary.Write(p) }

// Commit gives the file its name. A file that had it is replaced, and its permissions are kept. Only its owner may read and write a new one.
func (f *File) Commit() error {
	defer f.Discard()
	err := errors.Join(f.temporary.Chmod(f.mode), f.temporary.Sync(), f.temporary.Close())
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

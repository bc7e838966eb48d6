// Package atomicfile writes files that appear under their name only once they
// are complete.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/orrery-dev/orrery/internal/filelock"
)

// File is a file in the making. Its bytes are in a temporary file beside the
// final one until [File.Commit].
type File struct {
	temporary *os.File
	path      string
	mode      fs.FileMode
	done      bool
}

// Create begins a file. It fails when a file of that name could not be written, and leaves a file that exists there
// alone. Where the name is that of a symbolic link, the file is the one that it leads to. What a process that was
// killed has left of the same file is removed. A relative name is that of a file below the folder that is the current
// one now.
func Create(path string) (*File, error) {
	f := &File{mode: 0o600} // records hold what objects hold, Secrets as well
	var err error
	if f.path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	refused := func(why string) error { return &fs.PathError{Op: "write", Path: path, Err: errors.New(why)} }
	if link, err := os.Lstat(f.path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if f.path, err = filepath.EvalSymlinks(f.path); err != nil {
			return nil, refused("it is a link to what is no file: give another name")
		}
	}
	if info, err := os.Stat(f.path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, refused("there is something that is not a file: give another name")
		}
		f.mode = info.Mode().Perm()
	}
	if folder := filepath.Dir(f.path); !isFolder(folder) {
		return nil, refused("there is no folder " + folder + ": make it first")
	}
	f.sweep()
	for {
		if f.temporary, err = os.CreateTemp(filepath.Dir(f.path), f.prefix()+"*"); err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
		// Whoever holds the lock is at work. It ends with the process, however that ends. Where files cannot be locked,
		// none is taken to be left.
		filelock.Hold(f.temporary)
		if _, err := os.Stat(f.temporary.Name()); err == nil {
			return f, nil
		}
		f.temporary.Close() // somebody has swept it away before it was locked
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// prefix is how the names of temporary files for the file begin.
func (f *File) prefix() string { return "." + filepath.Base(f.path) + ".tmp-" }

// sweep removes temporary files for the file that nobody works on. What cannot be removed does no harm.
func (f *File) sweep() {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.HasPrefix(entry.Name(), f.prefix()) {
			continue
		}
		left, err := os.OpenFile(filepath.Join(filepath.Dir(f.path), entry.Name()), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		if filelock.Left(left) {
			os.Remove(left.Name())
		}
		left.Close()
	}
}

// Private keeps the file to its owner, whatever a file that it replaces allowed.
func (f *File) Private() { f.mode = 0o600 }

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.temporary.Write(p) }

// Commit gives the file its name. A file that had it is replaced, and its permissions are kept. Only its owner may read
// and write a new one.
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

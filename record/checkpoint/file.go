package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/orrery-dev/orrery/internal/filelock"
	"github.com/orrery-dev/orrery/record/atomicfile"
	"github.com/orrery-dev/orrery/record/internal/block"
)

// Options say what to go on from and where to keep checkpoints.
type Options struct {
	// Identity is that of the check.
	Identity Identity
	// Resume is the checkpoint to go on from, empty for none.
	Resume string
	// Path is where the checkpoint is kept, empty for where it was.
	Path string
	// Every is how often it is synced to the disk, 0 for [DefaultInterval].
	Every time.Duration
}

// DefaultInterval, two minutes, is how often a checkpoint is synced to the disk.
const DefaultInterval = 2 * time.Minute

// flushEvery is after how long at most what was noted is in the file, and so survives the process, if not the machine.
const flushEvery = time.Second

// File is the checkpoint of a check. It is for one goroutine.
type File struct {
	path  string
	every time.Duration
	// early tells that nothing is lost if the file has its name at once.
	early  bool
	blocks *block.Writer
	// making is the file as long as it does not have its name, and then file has it.
	making *atomicfile.File
	file   *os.File

	flushed, synced time.Time
	// from is what the search goes on from, nil if there is none or it was read to its end.
	from *reader
	// damage says where that is damaged.
	damage string
	// cut tells that a search did not come to its end.
	cut bool
	err error
}

// Open opens the checkpoint of a check, and that from which it goes on. Only one process may write a checkpoint. The
// error says what to change.
func Open(options Options) (*File, error) {
	f := &File{path: options.Path, every: options.Every, synced: time.Now(), flushed: time.Now()}
	if f.path == "" {
		f.path = options.Resume
	}
	if f.every <= 0 {
		f.every = DefaultInterval
	}
	for _, path := range []string{f.path, options.Resume} {
		if err := unused(path); err != nil {
			return nil, err
		}
	}
	_, err := os.Stat(f.path)
	f.early = err != nil || options.Resume != ""
	if options.Resume != "" {
		if f.from, err = openReader(options.Resume, options.Identity); err != nil {
			return nil, err
		}
	}
	if f.making, err = atomicfile.Create(f.path); err != nil {
		f.discard()
		return nil, err
	}
	f.making.Private()
	if f.blocks, err = block.NewWriter(f, fmt.Sprint(magic, version), blockLimit); err == nil {
		var identity []byte
		if identity, err = json.Marshal(options.Identity); err == nil {
			_, added := f.blocks.Add(identityEntry, identity)
			_, flushed := f.blocks.Flush()
			err = errors.Join(added, flushed)
		}
	}
	if err != nil {
		f.discard()
		return nil, err
	}
	f.publishEarly()
	return f, f.err
}

// patience is how long a process that has just been ended may still hold its checkpoint.
const patience = 3 * time.Second

// unused returns an error if a process is at work on a checkpoint.
func unused(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return nil // there is none, or what is wrong shows later
	}
	defer file.Close()
	for began := time.Now(); ; time.Sleep(patience / 100) {
		switch {
		case !filelock.Held(file):
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("a check is going on that writes the checkpoint %s: wait for its end, or name another file", path)
		}
	}
}

// Write implements [io.Writer] for the blocks.
func (f *File) Write(p []byte) (int, error) {
	if f.file != nil {
		return f.file.Write(p)
	}
	return f.making.Write(p)
}

// Next returns the next entry of the search that goes on, nil if there are no more.
func (f *File) Next() []byte {
	if f.from == nil {
		return nil
	}
	if kind, entry := f.from.next(); kind == searchEntry {
		return entry
	}
	f.damage = f.from.damage
	f.from.close()
	f.from = nil
	return nil
}

// Add adds an entry. What goes wrong is said by [File.Close]: a search is not to end because of its checkpoint.
func (f *File) Add(entry []byte) {
	if f.err != nil {
		return
	}
	_, f.err = f.blocks.Add(searchEntry, entry)
	if f.from != nil || f.err != nil {
		return // the checkpoint that it goes on from has more than this one
	}
	f.publishEarly()
	switch now := time.Now(); {
	case now.Sub(f.synced) >= f.every:
		f.Save()
	case now.Sub(f.flushed) >= flushEvery:
		f.flushed = now
		_, f.err = f.blocks.Flush()
	}
}

// Save syncs the checkpoint to the disk, under its name. As long as a search has not come to where the checkpoint ends
// that it goes on from, there is nothing to save.
func (f *File) Save() {
	if f.err != nil || f.from != nil {
		return
	}
	_, f.err = f.blocks.Flush()
	if f.err == nil && f.file != nil {
		f.err = f.file.Sync()
	} else if f.err == nil {
		f.publish()
	}
	f.synced = time.Now()
	f.flushed = f.synced
}

// End takes note that a search has ended, and whether it came to its end.
func (f *File) End(complete bool) {
	f.cut = f.cut || !complete
	f.Save()
}

// Cut reports whether a search did not come to its end, so that there is something to go on with.
func (f *File) Cut() bool { return f.cut }

// publishEarly gives the file its name if that costs nothing.
func (f *File) publishEarly() {
	if f.early && f.file == nil && f.from == nil {
		f.Save()
	}
}

// publish gives the file its name, and goes on at its end.
func (f *File) publish() {
	if f.err = f.making.Commit(); f.err != nil {
		return
	}
	f.making = nil
	if f.file, f.err = os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0); f.err == nil {
		filelock.Hold(f.file) // which is at once: whoever looks whether we are at work only holds it for an instant
	}
}

// Saved returns where the checkpoint is, empty if it was not saved because the search did not come to where the one
// ends that it goes on from.
func (f *File) Saved() string {
	if f.file == nil {
		return ""
	}
	return f.path
}

// Damage says where the checkpoint to go on from is damaged, empty if it is not.
func (f *File) Damage() string { return f.damage }

// Close saves the checkpoint, and says what went wrong since it was opened.
func (f *File) Close() error {
	f.Save()
	if f.file != nil {
		f.err = errors.Join(f.err, f.file.Close())
	}
	f.discard()
	if f.err != nil {
		return fmt.Errorf("the checkpoint %s could not be kept: %w", f.path, f.err)
	}
	return nil
}

func (f *File) discard() {
	if f.from != nil {
		f.from.close()
		f.from = nil
	}
	if f.making != nil {
		f.making.Discard()
		f.making = nil
	}
}

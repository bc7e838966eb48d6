package observe

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/orrery-dev/orrery/record/live"
)

// folder is where files are written by default. Their names sort as they were begun: the name of the process, the
// replica, the time in UTC, the number of the file.
type folder struct {
	path    string
	process live.Process
	// anyReplica tells that replicas are numbered at random: files of others on this host are of earlier processes.
	anyReplica bool
	keep       int
}

// beginLayout is how the time is written at which a file was begun.
const beginLayout = "20060102T150405.000Z"

// partFile is a file of a folder.
type partFile struct{ *os.File }

// discard removes a file in which nothing is.
func (f *partFile) discard() { _ = os.Remove(f.Name()) } // it may be gone already

// open makes a file that only its owner may read, and removes those that are too many.
func (f folder) open(part int) (io.WriteCloser, error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return nil, err
	}
	var file *os.File
	for now, attempt := time.Now(), 0; file == nil; attempt++ {
		var err error
		name := filepath.Join(f.path, f.prefix(f.process.Replica)+"_"+now.UTC().Format(beginLayout)+fmt.Sprintf("_%06d.ort", part))
		const attempts = 100 // a process before this one had the same replica, a moment ago
		if file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil && (!errors.Is(err, fs.ErrExist) || attempt == attempts) {
			return nil, err
		}
		now = now.Add(time.Millisecond)
	}
	f.prune(filepath.Base(file.Name()))
	return &partFile{file}, nil
}

// prefix returns how the names of the files of a replica begin.
func (f folder) prefix(replica string) string { return plain(f.process.Name) + "_" + plain(replica) }

// prune removes the oldest files beside a new one. A file that stays is no reason to stop.
func (f folder) prune(begun string) {
	ours := regexp.QuoteMeta(f.prefix(f.process.Replica))
	if f.anyReplica {
		ours = regexp.QuoteMeta(f.prefix(hostname())) + "-[0-9a-f]{8}"
	}
	pattern, err := regexp.Compile("^" + ours + `_(\d{8}T\d{6}\.\d{3}Z_\d{6,})\.ort$`)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return
	}
	type part struct{ name, begun string }
	var parts []part
	for _, entry := range entries {
		if match := pattern.FindStringSubmatch(entry.Name()); match != nil && entry.Name() != begun { // clocks can be set back
			parts = append(parts, part{entry.Name(), match[1]})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.begun, b.begun) })
	for _, old := range parts[:max(0, len(parts)+1-f.keep)] {
		_ = os.Remove(filepath.Join(f.path, old.name))
	}
}

// plain returns a text as names of files can have it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, s)
}

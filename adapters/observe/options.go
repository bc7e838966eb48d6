package observe

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/orrery-dev/orrery/record/live"
)

// Options say what is recorded, and where. Of all but the folder the zero value is a good choice.
type Options struct {
	// Folder is where the files of the recording are written, named after the process, with the ending ".ort". It is
	// made if it is not there.
	Folder string
	// Open opens the file with this number, from 1, when the files are to be somewhere else than in a folder. It is
	// called, and what it returns is used, by one goroutine, that no reconcile waits for. After an error it is called
	// again with the same number, after a while.
	Open func(part int) (io.WriteCloser, error)
	// Process is the identity of the process. By default, it is the name of the program, the name of the host with a
	// random number, and the version of the main module.
	Process live.Process
	// FileSize is the number of bytes after which a file is ended and another one begun, 64 MiB by default. What is
	// open when that happens is ended by the end of its block.
	FileSize int64
	// RotateEvery is the time after which a file is ended and another one begun when there is something to write, 0 for
	// never. What is in a file can be taken elsewhere once it has ended.
	RotateEvery time.Duration
	// Files is how many files are kept in the folder: of those that this process wrote, and processes of the same name
	// on the same host before it, the oldest are removed. 16 by default.
	Files int
	// Ended is told the path of each file in the folder that has ended, also because it could not be written any
	// further. It must return soon.
	Ended func(file string)
	// Buffer is how many entries and objects may wait to be written, 4096 by default. What comes on top is dropped,
	// counted, and named in the recording as a gap.
	Buffer int
	// BufferBytes is how much memory what waits to be written may take, about, 16 MiB by default. What comes on top is
	// dropped as well.
	BufferBytes int
	// FlushEvery is how long what was recorded may stay in memory, one second by default. It is what a crash can lose.
	FlushEvery time.Duration
	// Share is the share of the objects that are recorded, between 0 and 1; 0 means all. An object is in or out by its
	// namespace and name, for all controllers, in all replicas, and always.
	Share float64
	// Redact lists what is not recorded, besides the data of Secrets.
	Redact []Redaction
	// KeepSecrets records the data of Secrets as well.
	KeepSecrets bool
	// Requests are the types of requests of controllers whose requests are not reconcile.Request, each from
	// [RequestsOf].
	Requests []RequestType
	// Off leaves the recording switched off until [Recorder.Resume].
	Off bool
	// Report is told when the recording ends because it cannot go on, and when it is interrupted because a file cannot
	// be written. By default, the logger of the manager is. It must return soon.
	Report func(error)
}

// Redaction names fields whose values are not recorded. In their place is a digest, by which equal values can be told
// from different ones within one file.
type Redaction struct {
	// Kind is the kind of the objects, with its group behind a dot, such as "ConfigMap" or "Deployment.apps". Empty
	// means every kind.
	Kind string
	// Pointer is a JSON pointer (RFC 6901) to the fields, in which "*" stands for every key of an object and every item
	// of an array, such as "/spec/template/spec/containers/*/env/*/value".
	Pointer string
}

// withDefaults returns the options with everything set, or says what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	o.FileSize = cmp.Or(o.FileSize, 64<<20)
	o.Files = cmp.Or(o.Files, 16)
	o.Buffer = cmp.Or(o.Buffer, 4096)
	o.BufferBytes = cmp.Or(o.BufferBytes, 16<<20)
	o.FlushEvery = cmp.Or(o.FlushEvery, time.Second)
	given := o.Process.Replica
	o.Process = identity(o.Process)
	switch {
	case (o.Folder == "") == (o.Open == nil):
		return o, errors.New("set either Options.Folder or Options.Open")
	case o.FileSize < 1 || o.Files < 1 || o.Buffer < 1 || o.BufferBytes < 1 || o.FlushEvery < 0 || o.RotateEvery < 0:
		return o, errors.New("set Options.FileSize, RotateEvery, Files, Buffer, BufferBytes and FlushEvery to nothing negative")
	case !(o.Share >= 0 && o.Share <= 1):
		return o, fmt.Errorf("set Options.Share to a number between 0 and 1, and not to %v", o.Share)
	}
	for _, r := range o.Redact {
		if !strings.HasPrefix(r.Pointer, "/") {
			return o, fmt.Errorf("%q is no JSON pointer to a field: it must start with a slash", r.Pointer)
		}
	}
	if o.Open == nil {
		o.Open = folder{path: o.Folder, process: o.Process, anyReplica: given == "", keep: o.Files}.open
	}
	return o, nil
}

// identity fills in what a process does not say about itself.
func identity(p live.Process) live.Process {
	p.Name = cmp.Or(p.Name, filepath.Base(os.Args[0]))
	if p.Replica == "" {
		p.Replica = hostname() + "-" + uuid.NewString()[:8]
	}
	if build, ok := debug.ReadBuildInfo(); ok && p.Version == "" {
		p.Version = build.Main.Version
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" && (p.Version == "" || p.Version == "(devel)") {
				p.Version = setting.Value
			}
		}
	}
	return p
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

package record

import (
	"errors"
	"fmt"
)

// CorruptError says that a file is a run record, but not a whole or sound one.
type CorruptError struct {
	// Offset is where in the file the damage was noticed, in bytes from its
	// start: the start of the block that is damaged, or the end of the file.
	Offset int64
	// Reason says what is wrong there.
	Reason error
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("the run record is damaged at byte %d: %v: write it again with orrery check --out", e.Offset, e.Reason)
}

// Unwrap returns the reason.
func (e *CorruptError) Unwrap() error { return e.Reason }

// VersionError says that a file is a run record of a version that this reader
// does not know.
type VersionError struct {
	// Version is what the file says.
	Version string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the run record has format version %s, but this orrery reads versions %d to %d: read it with the orrery that wrote it, or write it again with orrery check --out", e.Version, firstVersion, version)
}

// ErrNotRecord is the error for a file that is no run record at all.
var ErrNotRecord = errors.New("this is not a run record: give a file that was written by orrery check --out")

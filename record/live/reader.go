package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/record/internal/block"
)

// ErrNotRecording is the error for a file that is no recording at all.
var ErrNotRecording = errors.New("this is not a recording of controllers: give a file that adapters/observe wrote")

// VersionError says that a file is a recording of a version that this reader does not know.
type VersionError struct {
	// Version is what the file says.
	Version string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the recording has format version %s, but this orrery reads version %d: read it with the orrery of the module that wrote it", e.Version, version)
}

// CorruptError says that a recording is damaged. What was read before is sound.
type CorruptError struct {
	// Offset is where the damaged block starts, in bytes from the start of the file.
	Offset int64
	// Reason says what is wrong there.
	Reason error
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("the recording is damaged at byte %d: %v", e.Offset, e.Reason)
}

// Unwrap returns the reason.
func (e *CorruptError) Unwrap() error { return e.Reason }

// CutOff reports whether the file ends where it should not.
func (e *CorruptError) CutOff() bool { return errors.Is(e.Reason, block.ErrTruncated) }

// Reader reads a recording entry by entry. It keeps one block in memory.
type Reader struct {
	blocks *block.Reader
	header Header
	// plain is what is left of the current block.
	plain []byte
	// offset is where the current block starts, next where it ends.
	offset, next int64
	sequence     sequence
	failed       error
}

// NewReader starts to read a recording. The error is [ErrNotRecording] or a [*VersionError] if there is none that can
// be read, and a [*CorruptError] if it is damaged or cut off before its first entry.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReader(r)
	offset, err := firstLine(in)
	if err != nil {
		return nil, err
	}
	blocks, err := block.NewReader(in, blockLimit)
	if err != nil {
		return nil, err
	}
	reader := &Reader{blocks: blocks, offset: offset, next: offset}
	first, err := reader.read()
	if errors.Is(err, io.EOF) {
		err = reader.corrupt(block.ErrTruncated)
	}
	header, isHeader := first.(Header)
	if err == nil && !isHeader {
		err = reader.corrupt(errors.New("the first entry is not a header"))
	}
	if err != nil {
		reader.Close()
		return nil, err
	}
	reader.header = header
	return reader, nil
}

// firstLine reads the line that names the format and its version, and returns its length.
func firstLine(in *bufio.Reader) (int64, error) {
	line, found, err := block.Line(in, len(magic)+20)
	if err != nil {
		return 0, err
	}
	number, known := strings.CutPrefix(line, magic)
	switch {
	case !found || !known:
		return 0, block.Mistaken(ErrNotRecording, line)
	case number != strconv.Itoa(version) && number != strconv.Itoa(firstVersion):
		return 0, &VersionError{Version: strconv.QuoteToASCII(number)}
	}
	return int64(len(line)) + 1, nil
}

// Header returns the first entry.
func (r *Reader) Header() Header { return r.header }

// Complete reports whether the recording was ended and not cut off. It is known once [Reader.Next] returned io.EOF.
func (r *Reader) Complete() bool { return r.sequence.complete }

// Close releases the memory of the reader.
func (r *Reader) Close() { r.blocks.Close() }

// Next returns the next entry behind the header, and io.EOF after the last one. A recording that was cut off ends with
// its last whole block. Where it is damaged, the error is a [*CorruptError].
func (r *Reader) Next() (Entry, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	entry, err := r.read()
	if _, again := entry.(Header); err == nil && again {
		err = r.corrupt(errors.New("there is a second header"))
	}
	if err != nil {
		r.failed = err
		return nil, err
	}
	return entry, nil
}

// read returns the next entry.
func (r *Reader) read() (Entry, error) {
	if len(r.plain) == 0 {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	kind, payload, rest, err := block.Cut(r.plain)
	if err != nil {
		return nil, r.corrupt(err)
	}
	r.plain = rest
	entry, err := decode(tag(kind), payload)
	if err == nil {
		err = r.sequence.accept(entry)
	}
	if err != nil {
		return nil, r.corrupt(err)
	}
	return entry, nil
}

// fill reads the next block of entries.
func (r *Reader) fill() error {
	for {
		r.offset = r.next
		plain, size, aside, err := r.blocks.NextOrAside()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, block.ErrTruncated): // cut off, or at its end
			return io.EOF
		case err != nil:
			return r.corrupt(err)
		}
		r.next = r.offset + size
		switch {
		case r.sequence.complete:
			return r.corrupt(errors.New("something follows the end of the recording"))
		case aside:
			continue // an index, which only says again what the entries say
		}
		r.plain = plain
		return nil
	}
}

func (r *Reader) corrupt(reason error) error {
	return &CorruptError{Offset: r.offset, Reason: reason}
}

// decode returns the entry that a payload holds.
func decode(t tag, payload []byte) (Entry, error) {
	switch t {
	case headerTag:
		return decodeAs[Header](payload)
	case objectTag:
		return decodeAs[Object](payload)
	case eventTag:
		return decodeAs[Event](payload)
	case queuedTag:
		return decodeAs[Queued](payload)
	case beginTag:
		return decodeAs[Begin](payload)
	case callTag:
		return decodeAs[Call](payload)
	case doneTag:
		return decodeAs[Done](payload)
	case gapTag:
		return decodeAs[Gap](payload)
	case unseenTag:
		return decodeAs[Unseen](payload)
	case endTag:
		return decodeAs[End](payload)
	}
	return nil, fmt.Errorf("there is no kind of entry number %d", t)
}

func decodeAs[E Entry](payload []byte) (Entry, error) {
	var entry E
	if err := json.Unmarshal(payload, &entry); err != nil {
		return nil, fmt.Errorf("an entry is not what it should be: %w", err)
	}
	return entry, nil
}

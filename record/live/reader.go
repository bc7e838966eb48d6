package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Reader reads a recording entry by entry. It keeps one block in memory.
type Reader struct {
	blocks *block.Reader
	header Header
	// plain is what is left of the current block.
	plain []byte
	// offset is where the current block starts, next where it ends.
	offset, next int64
	objects      int
	number       uint64
	complete     bool
	failed       error
}

// NewReader starts to read a recording. The error is [ErrNotRecording] or a [*VersionError] if there is none that can be read, and a
// [*CorruptError] if it is damaged or cut off before its first entry.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReader(r)
	line, found, err := block.Line(in, len(magic)+20)
	if err != nil {
		return nil, err
	}
	number, known := strings.CutPrefix(line, magic)
	if !found || !known {
		return nil, ErrNotRecording
	}
	if number != strconv.Itoa(version) {
		return nil, &VersionError{Version: strconv.QuoteToASCII(number)}
	}
	blocks, err := block.NewReader(in, blockLimit)
	if err != nil {
		return nil, err
	}
	offset := int64(len(line)) + 1
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

// Header returns the first entry.
func (r *Reader) Header() Header { return r.header }

// Complete reports whether the recording was ended and not cut off. It is known once [Reader.Next] returned io.EOF.
func (r *Reader) Complete() bool { return r.complete }

// Close releases the memory of the reader.
func (r *Reader) Close() { r.blocks.Close() }

// Next returns the next entry behind the header, and io.EOF after the last one. A recording that was cut off ends with its last whole
// block. Where it is damaged, the error is a [*CorruptError].
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
		err = r.accept(entry)
	}
	if err != nil {
		return nil, r.corrupt(err)
	}
	return entry, nil
}

// fill reads the next block.
func (r *Reader) fill() error {
	r.offset = r.next
	plain, size, err := r.blocks.Next()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, block.ErrTruncated): // cut off, or at its end
		return io.EOF
	case err != nil:
		return r.corrupt(err)
	case r.complete:
		return r.corrupt(errors.New("something follows the end of the recording"))
	}
	r.plain, r.next = plain, r.offset+size
	return nil
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

// accept holds an entry against those before it, so that whoever reads on need not: what an entry refers to was there, and numbers go upwards.
func (r *Reader) accept(e Entry) error {
	if r.complete {
		return errors.New("something follows the end of the recording")
	}
	switch e := e.(type) {
	case Object:
		r.objects++
	case Event:
		if e.Type != Added && e.Type != Updated && e.Type != Deleted {
			return fmt.Errorf("there is no event %q", e.Type)
		}
		if e.Object == 0 {
			return errors.New("an event is about no object")
		}
		return errors.Join(r.numbered(e.N, 0), r.refers(e.Object, e.Old))
	case Queued:
		return r.numbered(e.N, e.Event)
	case Begin:
		if err := r.numbered(e.N, 0); err != nil {
			return err
		}
		for _, cause := range e.Causes {
			if cause.N >= e.N {
				return errors.New("a reconcile has a cause that comes later")
			}
		}
	case Call:
		if slices.Contains(e.Answer, 0) {
			return errors.New("an answer is no object")
		}
		return errors.Join(r.numbered(e.N, e.Reconcile), r.refers(e.Answer...))
	case Done:
		if e.Reconcile == 0 {
			return errors.New("the end of a reconcile does not say of which")
		}
		return r.numbered(e.N, e.Reconcile)
	case End:
		r.complete = true
	}
	return nil
}

// numbered wants the number of an entry to be higher than those before, and than that of the reconcile or event it belongs to.
func (r *Reader) numbered(n, owner uint64) error {
	if n <= r.number {
		return fmt.Errorf("entry %d comes after entry %d", n, r.number)
	}
	r.number = n
	if owner >= n {
		return fmt.Errorf("entry %d belongs to something that begins later", n)
	}
	return nil
}

// refers wants objects to be there.
func (r *Reader) refers(objects ...int) error {
	for _, number := range objects {
		if number < 0 || number > r.objects {
			return fmt.Errorf("there is no object %d", number)
		}
	}
	return nil
}

package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/orrery-dev/orrery/record/internal/block"
)

const (
	// magic and the version, as decimal number, make the first line of a recording.
	magic   = "orrery-recording "
	version = 2
	// firstVersion has no indexes, and is read, too.
	firstVersion = 1
	// blockLimit is the size that no block can have, and so no entry.
	blockLimit = 16 << 20
)

// ErrTooLarge is the error for an entry that is too large to be recorded. The recording goes on without it.
var ErrTooLarge = errors.New("the entry is too large to be recorded")

// Writer writes a recording. It is not safe for concurrent use.
type Writer struct {
	blocks  *block.Writer
	objects int
	text    text
	encoder *json.Encoder // to text, of entries that there are few of
	trusts  bool
	index   indexWriter
}

// NewWriter starts a recording.
func NewWriter(w io.Writer, header Header) (*Writer, error) {
	blocks, err := block.NewWriter(w, magic+strconv.Itoa(version), blockLimit)
	if err != nil {
		return nil, err
	}
	writer := &Writer{blocks: blocks}
	writer.encoder = json.NewEncoder(&writer.text.out)
	writer.encoder.SetEscapeHTML(false)
	if err := writer.Add(header); err != nil {
		return nil, err
	}
	return writer, writer.Flush()
}

// Add adds an entry, which reaches the file with its block: when that is full, or with [Writer.Flush]. The error is
// [ErrTooLarge], or one of the JSON of an object or of what was sent, and the recording goes on without the entry; or
// it is one of the file.
func (w *Writer) Add(e Entry) error {
	payload, err := w.payload(e)
	if err != nil {
		return &EntryError{Reason: err}
	}
	written, err := w.blocks.Add(byte(e.tag()), payload)
	if errors.Is(err, block.ErrTooLarge) {
		return ErrTooLarge
	}
	if err != nil {
		return err
	}
	err = w.wrote(written)
	w.index.add(e, payload)
	return err
}

// Trust has the writer take what entries have as JSON, [Object.Value] and [Call.Sent], as it is. It must be valid, and
// should be without space: that is not looked at, which takes as long as all else.
func (w *Writer) Trust() { w.trusts = true }

// payload returns the JSON of an entry, until the next one is added.
func (w *Writer) payload(e Entry) ([]byte, error) {
	if w.text.entry(e, w.trusts) {
		return w.text.out.Bytes(), nil
	}
	w.text.out.Reset()
	if err := w.encoder.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(w.text.out.Bytes(), []byte("\n")), nil
}

// wrote notes that a block was written, if one was, and writes the index when there is enough in it.
func (w *Writer) wrote(size int64) error {
	if size == 0 {
		return nil
	}
	w.index.block(size)
	if w.index.size() < indexed {
		return nil
	}
	return w.writeIndex()
}

func (w *Writer) writeIndex() error {
	if w.index.size() == 0 {
		return nil
	}
	err := w.blocks.WriteAside(w.index.take())
	if errors.Is(err, block.ErrTooLarge) {
		return nil // what has no index is read
	}
	return err
}

// AddObject adds an object and returns its number.
func (w *Writer) AddObject(o Object) (int, error) {
	if err := w.Add(o); err != nil {
		return 0, err
	}
	w.objects++
	return w.objects, nil
}

// Flush writes the entries that were added since the last block was full.
func (w *Writer) Flush() error {
	written, err := w.blocks.Flush()
	if err != nil {
		return err
	}
	return w.wrote(written)
}

// End ends the recording. It does not close what the writer writes to. The end is a block of its own, behind the last
// index: with it, everything is there.
func (w *Writer) End(e End) error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.writeIndex(); err != nil {
		return err
	}
	if err := w.Add(e); err != nil {
		return err
	}
	return w.Flush()
}

// EntryError says that an entry has no JSON. The recording goes on without it.
type EntryError struct{ Reason error }

// Error implements error.
func (e *EntryError) Error() string { return fmt.Sprintf("the entry cannot be recorded: %v", e.Reason) }

// Unwrap returns the reason.
func (e *EntryError) Unwrap() error { return e.Reason }

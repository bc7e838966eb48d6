package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/internal/block"
)

// Reader reads a record entry by entry.
type Reader struct {
	blocks *block.Reader
	// plain is what is left of the current block.
	plain []byte
	// offset is where the current block starts, next where it ends.
	offset, next int64

	// first tells that the record is of the first version.
	first bool
	last  tag
	count counts
	// items and steps are what states refer to, and farthest is the highest number of a state that a step leads to, -1
	// without one.
	items    []Item
	steps    []Step
	farthest int64
	// numbers are those of the last state, in records of the second version.
	numbers Numbers
	// extent and findings are what later entries are checked against.
	extent   Extent
	findings []core.Finding
	// failed is the error that ended the reading.
	failed error
}

// NewReader starts to read a record. The error is [ErrNotRecord] or a
// [*VersionError] if there is none that can be read.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReader(r)
	line, found, err := block.Line(in, len(magic)+20)
	if err != nil {
		return nil, err
	}
	number, known := strings.CutPrefix(line, magic)
	if !found || !known {
		return nil, block.Mistaken(ErrNotRecord, line)
	}
	if number != strconv.Itoa(version) && number != strconv.Itoa(firstVersion) {
		return nil, &VersionError{Version: strconv.QuoteToASCII(number)}
	}
	blocks, err := block.NewReader(in, blockLimit)
	if err != nil {
		return nil, err
	}
	offset := int64(len(line)) + 1
	return &Reader{blocks: blocks, offset: offset, next: offset, first: number == strconv.Itoa(firstVersion), farthest: -1}, nil
}

// Next returns the next entry, and io.EOF after the last one of a whole record.
// A record that is not whole and sound ends in a [*CorruptError].
func (r *Reader) Next() (Entry, error) {
	for {
		entry, err := r.any()
		switch entry.(type) {
		case Item, Step: // they are there only to be referred to
			continue
		case packed:
			return r.numbers.state(core.StateID(r.count.States-1), r.items, r.steps), nil
		}
		return entry, err
	}
}

// any returns the next entry of any kind, as it is in the file.
func (r *Reader) any() (Entry, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	entry, err := r.read()
	if err != nil {
		r.failed = err
		r.blocks.Close()
		return nil, err
	}
	return entry, nil
}

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
	t := tag(kind)
	entry, err := r.decode(t, payload)
	if err != nil {
		return nil, r.corrupt(err)
	}
	if err := r.accept(t, entry); err != nil {
		return nil, r.corrupt(err)
	}
	if t == endTag {
		return nil, r.end()
	}
	return entry, nil
}

// fill reads the next block.
func (r *Reader) fill() error {
	r.offset = r.next
	plain, size, err := r.blocks.Next()
	switch {
	case errors.Is(err, io.EOF):
		return r.corrupt(block.ErrTruncated)
	case err != nil:
		return r.corrupt(err)
	}
	r.plain, r.next = plain, r.offset+size
	return nil
}

// end returns io.EOF if nothing follows the last entry.
func (r *Reader) end() error {
	if len(r.plain) > 0 {
		return r.corrupt(errors.New("something follows the last entry"))
	}
	r.offset = r.next
	switch ended, err := r.blocks.AtEnd(); {
	case err != nil:
		return r.corrupt(err)
	case !ended:
		return r.corrupt(errors.New("something follows the end of the record"))
	}
	return io.EOF
}

func (r *Reader) corrupt(reason error) error {
	return &CorruptError{Offset: r.offset, Reason: reason}
}

// decode returns the entry that a payload holds. Numbers keep their digits.
func (r *Reader) decode(t tag, payload []byte) (Entry, error) {
	switch t {
	case headerTag:
		return decodeAs[Header](payload)
	case reportTag:
		return decodeAs[Report](payload)
	case findingTag:
		return decodeAs[Finding](payload)
	case outcomeTag:
		return decodeAs[Outcome](payload)
	case extentTag:
		return decodeAs[Extent](payload)
	case objectTag:
		return decodeAs[Object](payload)
	case stateTag:
		return decodeAs[State](payload)
	case endTag:
		return decodeAs[counts](payload)
	case itemTag:
		return decodeAs[Item](payload)
	case stepTag:
		return decodeAs[Step](payload)
	case packedTag:
		return packed(payload), nil
	}
	return nil, fmt.Errorf("there is no kind of entry number %d", t)
}

func decodeAs[E Entry](payload []byte) (Entry, error) {
	var entry E
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&entry); err != nil {
		return nil, fmt.Errorf("an entry is not what it should be: %w", err)
	}
	if decoder.InputOffset() != int64(len(payload)) {
		return nil, errors.New("something follows an entry's JSON")
	}
	return entry, nil
}

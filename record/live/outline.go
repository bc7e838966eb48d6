package live

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/orrery-dev/orrery/record/internal/block"
)

// Outline reads a recording by its indexes. Its entries are abridged: they have no values of objects and none of what
// was sent, no causes, errors only as a code, and no [Queued] among them. Whole ones are read when they are asked for,
// and only the blocks that hold them are unpacked. What has no index, such as the end of a recording that was cut off,
// is read as a [Reader] reads it, and its entries can be whole.
//
// An index is believed as far as it goes. That it does not fit its blocks is noticed where a block is read.
type Outline struct {
	in     io.ReadSeeker
	blocks *block.Reader
	// next is where the next block starts that was not looked at, and end where the file ends.
	next, end int64
	header    Header
	headed    bool
	sequence  sequence
	places    []blockPlace
	// pending are the blocks of entries that are to be read next, and index what their index says, nil if there is
	// none.
	pending []blockPlace
	index   *indexReader
	reader  indexReader
	// plain is what is left of a block that is read as a whole, and current where it starts.
	plain   []byte
	current int64
	recent  []unpacked
	count   int
	flat    bool
	failed  error
}

// blockPlace is where a block starts, how large it is, and what there was before it.
type blockPlace struct {
	offset, size int64
	number       uint64
	objects      int
}

// unpacked is a block that is kept for a while.
type unpacked struct {
	offset int64
	plain  []byte
}

// recentLimit is how many blocks are kept unpacked.
const recentLimit = 16

// NewOutline starts to read a recording by its indexes. The errors are those of [NewReader].
func NewOutline(in io.ReadSeeker) (*Outline, error) {
	end, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	start, err := firstLine(bufio.NewReaderSize(in, len(magic)+20))
	if err != nil {
		return nil, err
	}
	blocks, err := block.NewReader(in, blockLimit)
	if err != nil {
		return nil, err
	}
	o := &Outline{in: in, blocks: blocks, next: start, end: end}
	plain, err := o.unpack(start)
	if errors.Is(err, io.EOF) {
		err = &CorruptError{start, block.ErrTruncated}
	}
	if err == nil {
		err = o.head(plain)
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// head takes the header from the first block.
func (o *Outline) head(plain []byte) error {
	kind, payload, _, err := block.Cut(plain)
	if err != nil {
		return &CorruptError{o.next, err}
	}
	entry, err := decode(tag(kind), payload)
	if err != nil {
		return &CorruptError{o.next, err}
	}
	header, is := entry.(Header)
	if !is {
		return &CorruptError{o.next, errors.New("the first entry is not a header")}
	}
	o.header = header
	return nil
}

// Header returns the first entry.
func (o *Outline) Header() Header { return o.header }

// Complete reports whether the recording was ended and not cut off. It is known once [Outline.Next] returned io.EOF.
func (o *Outline) Complete() bool { return o.sequence.complete }

// Unpacked returns how many blocks of entries were unpacked so far.
func (o *Outline) Unpacked() int { return o.count }

// Last returns the number of the last entry that [Outline.Next] returned, 0 if none had one.
func (o *Outline) Last() uint64 { return o.sequence.number }

// Close releases the memory of the outline.
func (o *Outline) Close() { o.blocks.Close() }

// Next returns the next entry behind the header, as far as the index has it, and errors as [Reader.Next] does.
func (o *Outline) Next() (Entry, error) {
	for o.failed == nil {
		if entry := o.accepted(); entry != nil {
			return entry, nil
		}
	}
	return nil, o.failed
}

// accepted takes a step, and returns the entry that it leads to, nil if that is none, or not one to be told of, or it
// fails.
func (o *Outline) accepted() Entry {
	entry, err := o.step()
	_, again := entry.(Header)
	switch {
	case err != nil:
		o.failed = err
	case again && o.headed:
		o.failed = &CorruptError{o.current, errors.New("there is a second header")}
	case again:
		o.headed = true
	case entry == nil: // between two blocks
	default:
		if err := o.sequence.accept(entry); err != nil {
			o.failed = &CorruptError{o.current, err}
			break
		}
		return entry
	}
	return nil
}

// step returns the next entry, or nil where there was something else to do.
func (o *Outline) step() (Entry, error) {
	switch {
	case o.index != nil:
		return o.row()
	case len(o.plain) > 0:
		kind, payload, rest, err := block.Cut(o.plain)
		if err != nil {
			return nil, &CorruptError{o.current, err}
		}
		o.plain = rest
		entry, err := decode(tag(kind), payload)
		if err != nil {
			return nil, &CorruptError{o.current, err}
		}
		return entry, nil
	case len(o.pending) > 0:
		plain, err := o.unpack(o.pending[0].offset)
		o.enter()
		o.plain = plain
		return nil, err
	default:
		return nil, o.group()
	}
}

// enter goes on to the next block that is pending.
func (o *Outline) enter() {
	at := o.pending[0]
	o.pending = o.pending[1:]
	at.number, at.objects = o.sequence.number, o.sequence.objects
	o.places, o.current = append(o.places, at), at.offset
}

// row returns the next entry of the index.
func (o *Outline) row() (Entry, error) {
	if len(o.index.rows) == 0 {
		o.index = nil
		if len(o.pending) > 0 {
			return nil, &CorruptError{o.current, errIndex}
		}
		return nil, nil
	}
	entry, err := o.index.next(o.flat)
	switch {
	case errors.Is(err, errLeftOut):
		if err := o.sequence.numbered(o.index.state.n, 0); err != nil {
			return nil, &CorruptError{o.current, err}
		}
		return nil, nil
	case err != nil:
		return nil, &CorruptError{o.current, err}
	case entry == nil && len(o.pending) > 0:
		o.enter()
	case entry == nil && len(o.index.rows) > 0:
		return nil, &CorruptError{o.current, errIndex}
	}
	return entry, nil
}

// group finds the blocks up to the next index, or up to the end.
func (o *Outline) group() error {
	if o.next >= o.end {
		return io.EOF
	}
	for o.next < o.end {
		if _, err := o.in.Seek(o.next, io.SeekStart); err != nil {
			return err
		}
		size, aside, err := o.blocks.Head()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, block.ErrTruncated), err == nil && size > o.end-o.next:
			o.end = o.next // it was cut off
			return nil
		case err != nil && len(o.pending) > 0:
			return nil // those before it are sound
		case err != nil:
			return &CorruptError{o.next, err}
		case aside && len(o.pending) > 0:
			return o.indexes(size)
		case !aside:
			o.pending = append(o.pending, blockPlace{offset: o.next, size: size})
		}
		o.next += size
	}
	return nil
}

// indexes takes the index of the blocks that are pending. If it is not theirs, they are read without it; if it is
// damaged as well, and then the damage is met.
func (o *Outline) indexes(size int64) error {
	if _, err := o.in.Seek(o.next, io.SeekStart); err != nil {
		return err
	}
	text, _, _, err := o.blocks.NextOrAside()
	if err == nil {
		o.next += size
		sizes, rows, err := sizesOf(text)
		same := slices.EqualFunc(sizes, o.pending, func(size int64, at blockPlace) bool { return size == at.size })
		if err == nil && same {
			o.index = o.reader.start(rows, o.sequence.objects)
			o.enter()
		}
	}
	return nil
}

// unpack returns the entries of a block.
func (o *Outline) unpack(offset int64) ([]byte, error) {
	if i := slices.IndexFunc(o.recent, func(u unpacked) bool { return u.offset == offset }); i >= 0 {
		found := o.recent[i]
		o.recent = append(slices.Delete(o.recent, i, i+1), found)
		return found.plain, nil
	}
	if _, err := o.in.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	plain, _, aside, err := o.blocks.NextOrAside()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, block.ErrTruncated):
		return nil, io.EOF
	case err != nil:
		return nil, &CorruptError{offset, err}
	case aside:
		return nil, &CorruptError{offset, errIndex}
	}
	o.count++
	if len(o.recent) == recentLimit {
		o.recent = slices.Delete(o.recent, 0, 1)
	}
	o.recent = append(o.recent, unpacked{offset, plain})
	return plain, nil
}

// UnknownError says that an entry or an object is not where it should be, or was not yet passed by [Outline.Next].
type UnknownError struct{ What string }

// Error implements error.
func (e *UnknownError) Error() string { return e.What + " is not in the recording" }

// Entry returns the whole entry with a number, which must not be higher than [Outline.Last]. The error is an
// [*UnknownError] if there is none; a [Queued] may not be found.
func (o *Outline) Entry(n uint64) (Entry, error) {
	unknown := &UnknownError{fmt.Sprintf("entry %d", n)}
	at := sort.Search(len(o.places), func(i int) bool { return o.places[i].number >= n }) - 1
	if at < 0 || n > o.sequence.number {
		return nil, unknown
	}
	plain, err := o.unpack(o.places[at].offset)
	for err == nil && len(plain) > 0 {
		var kind byte
		var payload []byte
		kind, payload, plain, err = block.Cut(plain)
		if err != nil {
			return nil, &CorruptError{o.places[at].offset, err}
		}
		if t := tag(kind); t < eventTag || t > doneTag || !mayBe(payload, n) {
			continue
		}
		entry, err := decode(tag(kind), payload)
		if err != nil {
			return nil, &CorruptError{o.places[at].offset, err}
		}
		if numberOf(entry) == n {
			return entry, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, unknown
}

// mayBe reports whether the JSON of an entry may have a number. Our writer puts it first; then the rest need not be
// looked at.
func mayBe(payload []byte, n uint64) bool {
	digits, ours := bytes.CutPrefix(payload, []byte(`{"n":`))
	if !ours {
		return true
	}
	text := strconv.AppendUint(make([]byte, 0, binary.MaxVarintLen64*2), n, 10)
	return bytes.HasPrefix(digits, text) && len(digits) > len(text) && (digits[len(text)] < '0' || digits[len(text)] > '9')
}

// numberOf returns the number of an entry, 0 if it has none.
func numberOf(e Entry) uint64 {
	switch e := e.(type) {
	case Event:
		return e.N
	case Queued:
		return e.N
	case Begin:
		return e.N
	case Call:
		return e.N
	case Done:
		return e.N
	}
	return 0
}

// Object returns the whole object with a number, which [Outline.Next] must have passed. The error is an [*UnknownError]
// if there is none.
func (o *Outline) Object(number int) (Object, error) {
	unknown := &UnknownError{fmt.Sprintf("object %d", number)}
	at := sort.Search(len(o.places), func(i int) bool { return o.places[i].objects >= number }) - 1
	if at < 0 || number > o.sequence.objects {
		return Object{}, unknown
	}
	plain, err := o.unpack(o.places[at].offset)
	if err != nil {
		return Object{}, err
	}
	for have := o.places[at].objects; len(plain) > 0; {
		kind, payload, rest, err := block.Cut(plain)
		if err != nil {
			return Object{}, &CorruptError{o.places[at].offset, err}
		}
		plain = rest
		if tag(kind) != objectTag {
			continue
		}
		if have++; have < number {
			continue
		}
		entry, err := decode(objectTag, payload)
		if err != nil {
			return Object{}, &CorruptError{o.places[at].offset, err}
		}
		object, _ := entry.(Object) // as its tag says
		return object, nil
	}
	return Object{}, unknown
}

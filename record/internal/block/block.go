// Package block holds what the files of Orrery have in common: a first line of text, and then compressed groups of
// entries.
//
// A block starts with a prefix of twelve bytes: the length of the compressed block, the length of the plain one, and a
// CRC-32C over both lengths and the compressed block, each with four bytes, least significant first. A plain block is a
// sequence of entries: a byte for the kind, the length as a varint, and that many bytes. So no change of a file goes
// unnoticed, a file that was cut short can be read up to its last whole block, and every error can name a place in the
// file.
//
// A block whose plain length has its highest bit set stands aside: it holds no entries, but something about those
// before it, such as an index.
package block

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// target is the size at which a block is closed. Larger blocks compress
	// hardly better, and smaller ones worse. The window of the
	// compression is twice that: its memory is several times the window.
	target     = 256 << 10
	prefixSize = 12
	// aside is set in the plain length of a block that stands aside. No limit reaches it.
	aside = 1 << 31
)

var (
	// ErrTruncated is the reason when a file ends within a block.
	ErrTruncated = errors.New("the file ends too early")
	// errChecksum is the reason when a block is not what was written.
	errChecksum = errors.New("the checksum is wrong")
	// ErrTooLarge is the reason when an entry does not fit into a block.
	ErrTooLarge = errors.New("the entry is larger than a block can be")
)

// checksum returns the CRC-32C of the parts, the one that processors compute.
func checksum(parts ...[]byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := uint32(0)
	for _, part := range parts {
		sum = crc32.Update(sum, table, part)
	}
	return sum
}

// Writer writes blocks.
type Writer struct {
	out     io.Writer
	limit   int
	encoder *zstd.Encoder
	plain   bytes.Buffer
	packed  []byte // of the last block
}

// NewWriter writes the first line, and returns a writer of blocks that are smaller than the limit, which must not
// exceed a gibibyte.
func NewWriter(out io.Writer, line string, limit int) (*Writer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(2*target))
	if err != nil {
		return nil, fmt.Errorf("record: start compression: %w", err)
	}
	if _, err := io.WriteString(out, line+"\n"); err != nil {
		return nil, err
	}
	return &Writer{out: out, limit: limit, encoder: encoder}, nil
}

// Add appends an entry to the block. If that is full, it is written first, and its size in the file is returned. The
// error is [ErrTooLarge] for an entry that no block can hold; then nothing is appended.
func (w *Writer) Add(kind byte, payload []byte) (written int64, err error) {
	size := len(payload) + binary.MaxVarintLen64 + 1
	if size >= w.limit {
		return 0, ErrTooLarge
	}
	if w.plain.Len() >= target || w.plain.Len()+size >= w.limit {
		if written, err = w.Flush(); err != nil {
			return 0, err
		}
	}
	w.plain.WriteByte(kind)
	w.plain.Write(binary.AppendUvarint(w.plain.AvailableBuffer(), uint64(len(payload))))
	w.plain.Write(payload)
	return written, nil
}

// Flush writes what was added since the last block, and returns the size of that block in the file, 0 if nothing was.
func (w *Writer) Flush() (written int64, err error) {
	if w.plain.Len() == 0 {
		return 0, nil
	}
	defer w.plain.Reset()
	return w.write(w.plain.Bytes(), 0)
}

// Write writes a block of entries that are encoded already.
func (w *Writer) Write(plain []byte) error {
	_, err := w.write(plain, 0)
	return err
}

// WriteAside writes a block that stands aside. The error is [ErrTooLarge] if no block can be so large; then nothing is
// written.
func (w *Writer) WriteAside(plain []byte) error {
	if len(plain) >= w.limit {
		return ErrTooLarge
	}
	_, err := w.write(plain, aside)
	return err
}

// write writes a block with a mark in its plain length.
func (w *Writer) write(plain []byte, mark uint32) (size int64, err error) {
	var room [prefixSize]byte
	packed := w.encoder.EncodeAll(plain, append(w.packed[:0], room[:]...))
	if w.packed = packed; cap(packed) > 2*target {
		w.packed = nil // a large block is rare
	}
	prefix := binary.LittleEndian.AppendUint32(packed[:0], uint32(len(packed)-prefixSize))
	prefix = binary.LittleEndian.AppendUint32(prefix, uint32(len(plain))|mark)
	binary.LittleEndian.AppendUint32(prefix, checksum(prefix, packed[prefixSize:]))
	_, err = w.out.Write(packed) // at once, so that what is cut off is one block at most
	return int64(len(packed)), err
}

// Reader reads blocks. Its errors are not yet tied to an offset.
type Reader struct {
	in      io.Reader
	limit   int
	decoder *zstd.Decoder
	packed  bytes.Buffer
}

// NewReader returns a reader of blocks that are not larger than the limit.
func NewReader(in io.Reader, limit int) (*Reader, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
	if err != nil {
		return nil, fmt.Errorf("record: start decompression: %w", err)
	}
	return &Reader{in: in, limit: limit, decoder: decoder}, nil
}

// other says how to read the files of ours, by how their first lines begin.
var other = []struct{ magic, reading string }{
	{"orrery-record ", "it is a run record, which orrery inspect, serve and export read"},
	{"orrery-recording ", "it is a recording of controllers, which orrery trace reads"},
	{"orrery checkpoint ", "it is a checkpoint, which orrery check --resume takes up"},
}

// Mistaken adds to an error of a file that it is one of ours of another kind, if its first line says so.
func Mistaken(err error, line string) error {
	for _, o := range other {
		if strings.HasPrefix(line, o.magic) {
			return fmt.Errorf("%w; %s", err, o.reading)
		}
	}
	return err
}

// Line reads the first line, as far as one can be that of a file of ours: up to so many bytes. It reports whether there
// is one.
func Line(in *bufio.Reader, longest int) (string, bool, error) {
	var line []byte
	for len(line) < longest {
		b, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return "", false, nil
		case err != nil:
			return "", false, err
		case b == '\n':
			return string(line), true, nil
		}
		line = append(line, b)
	}
	return "", false, nil
}

// Next returns the plain bytes of the next block and its size in the file, or
// io.EOF where the file ends between two blocks. A block that stands aside is damage.
func (r *Reader) Next() (plain []byte, size int64, err error) {
	plain, size, isAside, err := r.NextOrAside()
	if err == nil && isAside {
		err = errChecksum
	}
	return plain, size, err
}

// NextOrAside is [Reader.Next] for files with blocks that stand aside.
func (r *Reader) NextOrAside() (plain []byte, size int64, isAside bool, err error) {
	var prefix [prefixSize]byte
	h, err := r.head(&prefix)
	if err != nil {
		return nil, 0, false, err
	}
	// The buffer grows with what is really there, not with what the prefix claims.
	r.packed.Reset()
	switch _, err := io.CopyN(&r.packed, r.in, int64(h.packed)); {
	case errors.Is(err, io.EOF):
		return nil, 0, false, ErrTruncated
	case err != nil:
		return nil, 0, false, err
	}
	if checksum(prefix[:8], r.packed.Bytes()) != binary.LittleEndian.Uint32(prefix[8:]) {
		return nil, 0, false, errChecksum
	}
	plain, err = r.decoder.DecodeAll(r.packed.Bytes(), make([]byte, 0, min(int(h.plain), 2*target)))
	switch {
	case err != nil || len(plain) != int(h.plain):
		return nil, 0, false, errors.New("the compressed block cannot be unpacked")
	case len(plain) == 0:
		return nil, 0, false, errors.New("a block is empty")
	}
	return plain, h.size(), h.aside, nil
}

// Head reads the prefix of the next block only, and returns the size that the whole block has in the file. Nothing is
// checked.
func (r *Reader) Head() (size int64, isAside bool, err error) {
	var prefix [prefixSize]byte
	h, err := r.head(&prefix)
	return h.size(), h.aside, err
}

// head is what the prefix of a block says.
type head struct {
	packed, plain uint32
	aside         bool
}

func (h head) size() int64 { return prefixSize + int64(h.packed) }

func (r *Reader) head(prefix *[prefixSize]byte) (head, error) {
	switch _, err := io.ReadFull(r.in, prefix[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return head{}, ErrTruncated
	case err != nil:
		return head{}, err
	}
	plain := binary.LittleEndian.Uint32(prefix[4:])
	h := head{binary.LittleEndian.Uint32(prefix[0:]), plain &^ aside, plain&aside != 0}
	if int64(h.packed) > int64(r.limit) || int64(h.plain) > int64(r.limit) {
		return head{}, errChecksum
	}
	return h, nil
}

// AtEnd reports whether nothing follows the last block.
func (r *Reader) AtEnd() (bool, error) {
	switch _, err := io.ReadFull(r.in, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, err
	}
	return false, nil
}

// Close releases the memory of the reader.
func (r *Reader) Close() { r.decoder.Close() }

// Cut cuts the first entry off a plain block, which must not be empty.
func Cut(plain []byte) (kind byte, payload, rest []byte, err error) {
	size, n := binary.Uvarint(plain[1:])
	if n <= 0 || size > uint64(len(plain)-1-n) {
		return 0, nil, nil, errors.New("an entry is longer than its block")
	}
	start := 1 + n
	end := start + int(size)
	return plain[0], plain[start:end], plain[end:], nil
}

// Package block holds what the files of Orrery have in common: a first line of text, and then compressed groups of entries.
//
// A block starts with a prefix of twelve bytes: the length of the compressed block, the length of the plain one, and a CRC-32C over both lengths
// and the compressed block, each with four bytes, least significant first. A plain block is a sequence of entries: a byte for the
// kind, the length as a varint, and that many bytes. So no change of a file goes unnoticed, a file that was cut short can be read up to
// its last whole block, and every error can name a place in the file.
package block

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// target is the size at which a block is closed. Larger blocks compress
	// hardly better, and smaller ones worse.
	target     = 256 << 10
	prefixSize = 12
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
}

// NewWriter writes the first line, and returns a writer of blocks that are smaller than the limit, which must not exceed a gibibyte.
func NewWriter(out io.Writer, line string, limit int) (*Writer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("record: start compression: %w", err)
	}
	if _, err := io.WriteString(out, line+"\n"); err != nil {
		return nil, err
	}
	return &Writer{out: out, limit: limit, encoder: encoder}, nil
}

// Add appends an entry to the block, and writes the block when it is full. The error is [ErrTooLarge] for an entry that no block
// can hold; then nothing is appended.
func (w *Writer) Add(kind byte, payload []byte) error {
	size := len(payload) + binary.MaxVarintLen64 + 1
	if size >= w.limit {
		return ErrTooLarge
	}
	if w.plain.Len()+size >= w.limit {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.plain.WriteByte(kind)
	w.plain.Write(binary.AppendUvarint(w.plain.AvailableBuffer(), uint64(len(payload))))
	w.plain.Write(payload)
	if w.plain.Len() < target {
		return nil
	}
	return w.Flush()
}

// Flush writes what was added since the last block.
func (w *Writer) Flush() error {
	if w.plain.Len() == 0 {
		return nil
	}
	defer w.plain.Reset()
	return w.Write(w.plain.Bytes())
}

// Write writes a block of entries that are encoded already.
func (w *Writer) Write(plain []byte) error {
	packed := w.encoder.EncodeAll(plain, make([]byte, prefixSize, prefixSize+len(plain)/2))
	prefix := binary.LittleEndian.AppendUint32(packed[:0], uint32(len(packed)-prefixSize))
	prefix = binary.LittleEndian.AppendUint32(prefix, uint32(len(plain)))
	binary.LittleEndian.AppendUint32(prefix, checksum(prefix, packed[prefixSize:]))
	_, err := w.out.Write(packed) // at once, so that what is cut off is one block at most
	return err
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

// Line reads the first line, as far as one can be that of a file of ours: up to so many bytes. It reports whether there is one.
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
// io.EOF where the file ends between two blocks.
func (r *Reader) Next() (plain []byte, size int64, err error) {
	var prefix [prefixSize]byte
	switch _, err := io.ReadFull(r.in, prefix[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, ErrTruncated
	case err != nil:
		return nil, 0, err
	}
	packedSize := binary.LittleEndian.Uint32(prefix[0:])
	plainSize := binary.LittleEndian.Uint32(prefix[4:])
	if int64(packedSize) > int64(r.limit) || int64(plainSize) > int64(r.limit) {
		return nil, 0, errChecksum
	}
	// The buffer grows with what is really there, not with what the prefix claims.
	r.packed.Reset()
	switch _, err := io.CopyN(&r.packed, r.in, int64(packedSize)); {
	case errors.Is(err, io.EOF):
		return nil, 0, ErrTruncated
	case err != nil:
		return nil, 0, err
	}
	if checksum(prefix[:8], r.packed.Bytes()) != binary.LittleEndian.Uint32(prefix[8:]) {
		return nil, 0, errChecksum
	}
	plain, err = r.decoder.DecodeAll(r.packed.Bytes(), nil)
	switch {
	case err != nil || len(plain) != int(plainSize):
		return nil, 0, errors.New("the compressed block cannot be unpacked")
	case len(plain) == 0:
		return nil, 0, errors.New("a block is empty")
	}
	return plain, prefixSize + int64(packedSize), nil
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

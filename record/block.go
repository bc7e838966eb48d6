package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// magic and the version, as decimal number, make the first line of a record.
	magic = "orrery-record "
	// version is what is written. The first version is read, too: its states are JSON.
	version      = 2
	firstVersion = 1

	// blockTarget is the size at which a block is closed. Larger blocks compress
	// hardly better, and smaller ones worse.
	blockTarget = 256 << 10
	// blockLimit is the size that no block can have. It keeps a reader from
	// believing any length that a file claims.
	blockLimit = 1 << 30
	// prefixSize is the size of a block's prefix: the length of the compressed
	// block, the length of the plain one, and a checksum over both lengths and the
	// compressed block, each with four bytes, least significant first.
	prefixSize = 12
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

// blockWriter writes blocks.
type blockWriter struct {
	out     io.Writer
	encoder *zstd.Encoder
	plain   bytes.Buffer
}

func newBlockWriter(out io.Writer) (*blockWriter, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("record: start compression: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%s%d\n", magic, version); err != nil {
		return nil, err
	}
	return &blockWriter{out: out, encoder: encoder}, nil
}

// add appends an entry to the block, and writes the block when it is full.
func (w *blockWriter) add(t tag, payload []byte) error {
	if len(payload) >= blockLimit-binary.MaxVarintLen64-1 {
		return fmt.Errorf("record: an entry of %d bytes is too large to be recorded: record without it, or check a smaller system", len(payload))
	}
	w.plain.WriteByte(byte(t))
	w.plain.Write(binary.AppendUvarint(w.plain.AvailableBuffer(), uint64(len(payload))))
	w.plain.Write(payload)
	if w.plain.Len() < blockTarget {
		return nil
	}
	return w.flush()
}

// flush writes what was added since the last block.
func (w *blockWriter) flush() error {
	if w.plain.Len() == 0 {
		return nil
	}
	packed := w.encoder.EncodeAll(w.plain.Bytes(), nil)
	prefix := binary.LittleEndian.AppendUint32(nil, uint32(len(packed)))
	prefix = binary.LittleEndian.AppendUint32(prefix, uint32(w.plain.Len()))
	prefix = binary.LittleEndian.AppendUint32(prefix, checksum(prefix, packed))
	w.plain.Reset()
	if _, err := w.out.Write(prefix); err != nil {
		return err
	}
	_, err := w.out.Write(packed)
	return err
}

// blockReader reads blocks. Its errors are not yet tied to an offset.
type blockReader struct {
	in      io.Reader
	decoder *zstd.Decoder
	packed  bytes.Buffer
}

// next returns the plain bytes of the next block and its size in the file, or
// io.EOF where the file ends between two blocks.
func (r *blockReader) next() (plain []byte, size int64, err error) {
	var prefix [prefixSize]byte
	switch _, err := io.ReadFull(r.in, prefix[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, errTruncated
	case err != nil:
		return nil, 0, err
	}
	packedSize := binary.LittleEndian.Uint32(prefix[0:])
	plainSize := binary.LittleEndian.Uint32(prefix[4:])
	if packedSize > blockLimit || plainSize > blockLimit {
		return nil, 0, errChecksum
	}
	// The buffer grows with what is really there, not with what the prefix claims.
	r.packed.Reset()
	switch _, err := io.CopyN(&r.packed, r.in, int64(packedSize)); {
	case errors.Is(err, io.EOF):
		return nil, 0, errTruncated
	case err != nil:
		return nil, 0, err
	}
	if checksum(prefix[:8], r.packed.Bytes()) != binary.LittleEndian.Uint32(prefix[8:]) {
		return nil, 0, errChecksum
	}
	plain, err = r.decoder.DecodeAll(r.packed.Bytes(), nil)
	if err != nil || len(plain) != int(plainSize) {
		return nil, 0, errors.New("the compressed block cannot be unpacked")
	}
	return plain, prefixSize + int64(packedSize), nil
}

// splitEntry cuts the first entry off a plain block.
func splitEntry(plain []byte) (t tag, payload, rest []byte, err error) {
	size, n := binary.Uvarint(plain[1:])
	if n <= 0 || size > uint64(len(plain)-1-n) {
		return 0, nil, nil, errors.New("an entry is longer than its block")
	}
	start := 1 + n
	end := start + int(size)
	return tag(plain[0]), plain[start:end], plain[end:], nil
}

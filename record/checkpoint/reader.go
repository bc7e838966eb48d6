package checkpoint

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/orrery-dev/orrery/record/internal/block"
)

const (
	magic   = "orrery checkpoint "
	version = 1
	// blockLimit is how large a block can be: that of one batch of large states.
	blockLimit = 1 << 28
)

// The kinds of entries.
const (
	identityEntry = 'i'
	searchEntry   = 's'
)

// reader reads the entries of a checkpoint.
type reader struct {
	path   string
	file   *os.File
	blocks *block.Reader
	plain  []byte
	// read is how many bytes of the file were good.
	read int64
	// damage says where the file is damaged, empty if it is not or if only the last block was cut off.
	damage string
}

// openReader opens a checkpoint of a check.
func openReader(path string, of Identity) (*reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file}
	if err := r.begin(of); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reader) begin(of Identity) error {
	in := bufio.NewReaderSize(r.file, 1<<20)
	line, found, err := block.Line(in, len(magic)+20)
	if err != nil {
		return err
	}
	number, ours := strings.CutPrefix(line, magic)
	switch got, err := strconv.Atoi(number); {
	case !found || !ours || err != nil:
		return block.Mistaken(fmt.Errorf("%s is not a checkpoint: give a file that was written by orrery check --checkpoint", r.path), line)
	case got != version:
		return fmt.Errorf("%s is a checkpoint of version %d, and this program reads version %d: go on with the program that wrote it", r.path, got, version)
	}
	r.read = int64(len(line) + 1)
	if r.blocks, err = block.NewReader(in, blockLimit); err != nil {
		return err
	}
	var was Identity
	kind, payload := r.next()
	if kind != identityEntry || json.Unmarshal(payload, &was) != nil {
		return fmt.Errorf("%s: the checkpoint is damaged at its beginning, so that it is not known of what it is", r.path)
	}
	return was.compare(r.path, of)
}

// next returns the next entry, and 0 if there are no more that are good.
func (r *reader) next() (kind byte, payload []byte) {
	if len(r.plain) == 0 && !r.fill() {
		return 0, nil
	}
	kind, payload, rest, err := block.Cut(r.plain)
	if err != nil {
		r.damaged(err)
		return 0, nil
	}
	r.plain = rest
	return kind, payload
}

// fill reads the next block, and returns false if there is none.
func (r *reader) fill() bool {
	if r.blocks == nil {
		return false
	}
	plain, size, err := r.blocks.Next()
	switch {
	case err == nil:
		r.plain = plain
		r.read += size
		return true
	case !errors.Is(err, io.EOF) && !errors.Is(err, block.ErrTruncated):
		r.damaged(err)
	}
	r.close()
	return false
}

func (r *reader) damaged(err error) {
	r.damage = fmt.Sprintf("%s is damaged after %d bytes (%v): what comes behind is searched again", r.path, r.read, err)
	r.close()
}

func (r *reader) close() {
	r.plain = nil
	if r.blocks != nil {
		r.blocks.Close()
		r.blocks = nil
	}
	_ = r.file.Close() // it was only read
}

package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/atomicfile"
	"github.com/orrery-dev/orrery/record/internal/block"
)

// DefaultLimit is a number of states that is enough to look around in, and keeps
// records at a few megabytes.
const DefaultLimit = 100_000

const (
	// magic and the version, as decimal number, make the first line of a record.
	magic = "orrery-record "
	// version is what is written. The first version is read, too: its states are JSON.
	version      = 2
	firstVersion = 1
	// blockLimit is the size that no block can have. It keeps a reader from
	// believing any length that a file claims.
	blockLimit = 1 << 30
)

// newBlocks starts the blocks of a record.
func newBlocks(w io.Writer) (*block.Writer, error) {
	return block.NewWriter(w, magic+strconv.Itoa(version), blockLimit)
}

// Write writes a record of a report and of the first states of the graph, limit of them at most. A nil graph has no
// states. It returns how many states are recorded. When the context ends, it records no more states: the record is
// whole all the same, and its extent says so. Report, findings and outcomes are always recorded.
func Write(ctx context.Context, w io.Writer, header Header, report *core.Report, graph Graph, limit int) (Extent, error) {
	blocks, err := newBlocks(w)
	if err != nil {
		return Extent{}, err
	}
	r := &recorder{blocks: blocks}
	r.add(header)
	r.add(Report(*report))
	for _, finding := range report.Findings {
		r.count.Findings++
		r.add(Finding{ID: finding.ID, Trace: finding.Trace, Other: finding.Other})
	}
	for _, outcome := range report.OutcomeList {
		r.count.Outcomes++
		r.add(Outcome(outcome))
	}
	if graph == nil {
		r.add(Extent{})
	} else {
		r.addGraph(ctx, graph, limit)
	}
	r.add(r.count)
	if r.err != nil {
		return Extent{}, r.err
	}
	_, err = blocks.Flush()
	return r.extent, err
}

// WriteFile is [Write] to a file, which appears under its name only once it is
// complete.
func WriteFile(ctx context.Context, path string, header Header, report *core.Report, graph Graph, limit int) (Extent, error) {
	file, err := atomicfile.Create(path)
	if err != nil {
		return Extent{}, err
	}
	defer file.Discard()
	extent, err := Write(ctx, file, header, report, graph, limit)
	if err != nil {
		return Extent{}, err
	}
	return extent, file.Commit()
}

// recorder adds entries until the first error.
type recorder struct {
	blocks *block.Writer
	count  counts
	extent Extent
	err    error
}

func (r *recorder) add(e Entry) {
	if r.err != nil {
		return
	}
	payload, err := encode(e)
	if err != nil {
		r.err = fmt.Errorf("record: %T: %w", e, err)
		return
	}
	r.err = addTo(r.blocks, e.tag(), payload)
}

// addTo adds an encoded entry to the blocks.
func addTo(blocks *block.Writer, t tag, payload []byte) error {
	_, err := blocks.Add(byte(t), payload)
	if errors.Is(err, block.ErrTooLarge) {
		return fmt.Errorf("record: an entry of %d bytes is too large to be recorded: record without it, or check a smaller system", len(payload))
	}
	return err
}

// encode returns a value as JSON on one line. Map keys come out in order, and
// arrows and comparisons stay readable.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

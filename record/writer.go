package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/atomicfile"
)

// DefaultLimit is a number of states that is enough to look around in, and keeps
// records at a few megabytes.
const DefaultLimit = 100_000

// Write writes a record of a report and of the first states of the graph, limit
// of them at most. A nil graph has no states.
func Write(w io.Writer, header Header, report *core.Report, graph core.Graph, limit int) error {
	blocks, err := newBlockWriter(w)
	if err != nil {
		return err
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
		r.addGraph(graph, limit)
	}
	r.add(r.count)
	if r.err != nil {
		return r.err
	}
	return blocks.flush()
}

// WriteFile is [Write] to a file, which appears under its name only once it is
// complete.
func WriteFile(path string, header Header, report *core.Report, graph core.Graph, limit int) error {
	file, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := Write(file, header, report, graph, limit); err != nil {
		return err
	}
	return file.Commit()
}

// recorder adds entries until the first error.
type recorder struct {
	blocks *blockWriter
	count  counts
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
	r.err = r.blocks.add(e.tag(), payload)
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

package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Record is a whole record in memory.
type Record struct {
	Header Header
	// Report is the report with the stories of its findings and its outcomes.
	Report  core.Report
	Extent  Extent
	Objects []core.TraceObject
	States  States
}

// Read reads a whole record.
func Read(r io.Reader) (*Record, error) {
	reader, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	record := &Record{}
	for {
		entry, err := reader.any()
		if errors.Is(err, io.EOF) {
			return record, nil
		}
		if err != nil {
			return nil, err
		}
		record.take(entry)
	}
}

// ReadFile reads a whole record from a file.
func ReadFile(path string) (*Record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	record, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return record, nil
}

func (r *Record) take(entry Entry) {
	switch entry := entry.(type) {
	case Header:
		r.Header = entry
	case Report:
		r.Report = core.Report(entry)
		r.Report.Elapsed = time.Duration(entry.ElapsedMS) * time.Millisecond
	case Finding:
		finding := &r.Report.Findings[entry.ID-1]
		finding.Trace, finding.Other = entry.Trace, entry.Other
	case Outcome:
		r.Report.OutcomeList = append(r.Report.OutcomeList, core.OutcomeReport(entry))
	case Extent:
		r.Extent = entry
	case Object:
		r.Objects = append(r.Objects, core.TraceObject(entry))
		r.States.objects++
	case Item:
		r.States.items = append(r.States.items, entry)
	case Step:
		r.States.steps = append(r.States.steps, entry)
	case packed:
		r.States.add(entry)
	case State:
		r.States.addFirst(entry)
	}
}

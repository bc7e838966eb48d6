package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/orrery-dev/orrery/record/live"
)

// outlines are the outlines of the files of a question, which stay open while it is answered.
type outlines struct {
	files []io.ReadCloser
	open  []*live.Outline
	notes *noter
}

// close closes all files.
func (o *outlines) close() {
	for _, outline := range o.open {
		outline.Close()
	}
	for _, file := range o.files {
		_ = file.Close() // it was only read
	}
}

// reading is a way to go through the entries of a file.
type reading interface {
	Next() (live.Entry, error)
	Complete() bool
}

// entries opens a file, by its outline if outlines are given: then these close it.
func (s Source) entries(outlines *outlines) (r reading, done func(), err error) {
	file, err := s.Open()
	if err != nil {
		return nil, nil, err
	}
	if outlines == nil {
		reader, err := live.NewReader(file)
		if err != nil {
			_ = file.Close() // it was only read
			return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		return reader, func() {
			reader.Close()
			_ = file.Close() // it was only read
		}, nil
	}
	outlines.files = append(outlines.files, file)
	in, seeks := file.(io.ReadSeeker)
	if !seeks {
		all, err := io.ReadAll(file)
		if err != nil {
			return nil, nil, err
		}
		in = bytes.NewReader(all)
	}
	outline, err := live.NewOutline(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	outlines.open = append(outlines.open, outline)
	return outline, func() {}, nil
}

// find returns the whole entry with a number, and the outline that it is in; nil if there is none, or it cannot be read
// any more, which is noted.
func find(files []*live.Outline, notes *noter, n uint64) (live.Entry, *live.Outline) {
	for _, outline := range files {
		if n > outline.Last() {
			continue
		}
		entry, err := outline.Entry(n)
		if !notes.lost(err) {
			return nil, nil
		}
		return entry, outline
	}
	return nil, nil
}

// lost notes that something cannot be read again, and reports whether it can.
func (n *noter) lost(err error) (there bool) {
	var unknown *live.UnknownError
	switch {
	case err == nil:
		return true
	case !errors.As(err, &unknown):
		n.say("%v", err)
	}
	return false
}

// whole returns a call with all that is recorded of it, as far as it can be found.
func (p *process) whole(c Call) Call {
	if entry, _ := find(p.outlines, p.notes, c.N); entry != nil {
		if call, ok := entry.(live.Call); ok {
			c.Call = call
		}
	}
	return c
}

// complete returns a reconcile with all that is recorded of it, if it is one of outlines.
func (p *process) complete(r *Reconcile) *Reconcile {
	if len(p.outlines) == 0 {
		return r
	}
	all := &Reconcile{Process: r.Process, Begin: r.Begin, Done: r.Done}
	if entry, _ := find(p.outlines, p.notes, r.Begin.N); entry != nil {
		if begin, ok := entry.(live.Begin); ok {
			all.Begin = begin
		}
	}
	for _, c := range r.Calls {
		all.Calls = append(all.Calls, p.whole(c))
	}
	if r.Done != nil {
		if entry, _ := find(p.outlines, p.notes, r.Done.N); entry != nil {
			if done, ok := entry.(live.Done); ok {
				all.Done = &done
			}
		}
	}
	return all
}

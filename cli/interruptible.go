package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/orrery-dev/orrery/record"
)

// interruptibleReader reads until its context ends, and interruptibleWriter writes until then.
type (
	interruptibleReader struct {
		context context.Context
		from    io.Reader
	}
	interruptibleWriter struct {
		context context.Context
		to      io.Writer
	}
)

// Read implements [io.Reader].
func (r interruptibleReader) Read(p []byte) (int, error) {
	if err := r.context.Err(); err != nil {
		return 0, fmt.Errorf("interrupted: %w", err)
	}
	return r.from.Read(p)
}

// Write implements [io.Writer].
func (w interruptibleWriter) Write(p []byte) (int, error) {
	if err := w.context.Err(); err != nil {
		return 0, fmt.Errorf("interrupted, so not everything was written: %w", err)
	}
	return w.to.Write(p)
}

// readRecord reads a record until the context ends.
func readRecord(ctx context.Context, path string) (*record.Record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := record.Read(interruptibleReader{ctx, file})
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%s: interrupted: %w", path, ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

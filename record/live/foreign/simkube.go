package foreign

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/orrery-dev/orrery/record/live"
)

const (
	// simKubeVersion is the version of the format of SimKube 2: https://github.com/acrlabs/simkube, docs/ref/trace-files.md.
	simKubeVersion = 2
	// traceLimit is how large a trace may be, and depthLimit how deep what is in it: objects are some ten levels deep.
	traceLimit = 512 << 20
	depthLimit = 128
)

// simKubeTrace is a trace of SimKube, as far as it is needed.
type simKubeTrace struct {
	Version int            `msgpack:"version"`
	Events  []simKubeEvent `msgpack:"events"`
}

// simKubeEvent is what changed in a second.
type simKubeEvent struct {
	At      int64            `msgpack:"ts"`
	Applied []map[string]any `msgpack:"applied_objs"`
	Deleted []map[string]any `msgpack:"deleted_objs"`
}

// SimKube writes a recording of a trace of SimKube: each object as it was applied and deleted, in the order of the trace. Its times are whole seconds, and versions, which
// it has none of, are counted.
func SimKube(in io.Reader, out io.Writer, options Options) error {
	text, err := io.ReadAll(io.LimitReader(in, traceLimit+1))
	switch {
	case err != nil:
		return err
	case len(text) > traceLimit:
		return fmt.Errorf("the trace is larger than %d MiB: export a shorter time", traceLimit>>20)
	}
	const what = "this is no trace of SimKube 2"
	if err := checkNesting(text); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var trace simKubeTrace
	if err := msgpack.Unmarshal(text, &trace); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if trace.Version != simKubeVersion {
		return fmt.Errorf("%s: its version is %d, and this reads version %d", what, trace.Version, simKubeVersion)
	}
	var start int64
	if len(trace.Events) > 0 {
		start = trace.Events[0].At
	}
	b, err := newBuilder(out, "SimKube", time.Unix(start, 0).UTC(), options,
		"this is a trace of SimKube: it holds objects as they were applied and deleted, to the second. Who did that, and why, is not in it, and neither are statuses that its tracer leaves out",
		"the resource versions are counted by the import: they tell the order, and are not those of the cluster")
	if err != nil {
		return err
	}
	for _, event := range trace.Events {
		at := time.Duration(max(0, min(event.At-start, 1<<31))) * time.Second
		for _, object := range event.Applied {
			if err := b.applied(object, at); err != nil {
				return err
			}
		}
		for _, object := range event.Deleted {
			if err := b.deleted(object, at); err != nil {
				return err
			}
		}
	}
	return b.end()
}

// applied writes a new version of an object.
func (b *builder) applied(object map[string]any, at time.Duration) error {
	o, err := b.counted(object)
	if err != nil {
		return b.tolerate(err)
	}
	typed := live.Added
	if b.last[o.Key] != 0 {
		typed = live.Updated
	}
	number, err := b.object(o)
	if err != nil {
		return b.tolerate(err)
	}
	return b.event(typed, at, number, false)
}

// deleted writes that an object is gone. The trace has it as it was.
func (b *builder) deleted(object map[string]any, at time.Duration) error {
	o, err := b.counted(object)
	if err != nil {
		return b.tolerate(err)
	}
	number, err := b.object(o)
	if err != nil {
		return b.tolerate(err)
	}
	delete(b.last, o.Key)
	return b.event(live.Deleted, at, number, false)
}

// counted returns an object with the next version.
func (b *builder) counted(object map[string]any) (live.Object, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return live.Object{}, &live.EntryError{Reason: err}
	}
	o, _, ok := objectOf(text)
	if !ok {
		return live.Object{}, &live.EntryError{Reason: errors.New("an object of the trace has no kind or no name")}
	}
	o.ResourceVersion = strconv.FormatUint(b.number+1, 10)
	return o, nil
}

// checkNesting goes through MessagePack before it is decoded, which is done level by level on the stack: it refuses what is nested too deep, and
// what ends too early.
func checkNesting(text []byte) error {
	left := []uint64{1} // values, by level
	for len(left) > 0 {
		if left[len(left)-1] == 0 {
			left = left[:len(left)-1]
			continue
		}
		left[len(left)-1]--
		skip, values, err := header(text)
		switch {
		case err != nil:
			return err
		case skip > uint64(len(text)):
			return io.ErrUnexpectedEOF
		case values > 0 && len(left) == depthLimit:
			return fmt.Errorf("it is nested deeper than %d levels", depthLimit)
		case values > 0:
			left = append(left, values)
		}
		text = text[skip:]
	}
	return nil
}

// header returns how many bytes a value takes without those in it, and how many are in it.
func header(text []byte) (skip, values uint64, err error) {
	if len(text) == 0 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	code := text[0]
	// length returns a number of so many bytes behind the code.
	length := func(size int) uint64 {
		if len(text) < 1+size {
			err = io.ErrUnexpectedEOF
			return 0
		}
		padded := make([]byte, 8)
		copy(padded[8-size:], text[1:1+size])
		return binary.BigEndian.Uint64(padded)
	}
	switch {
	case code <= 0x7f, code >= 0xe0, code == 0xc0, code == 0xc2, code == 0xc3:
		return 1, 0, nil
	case code <= 0x8f:
		return 1, 2 * uint64(code&0xf), nil
	case code <= 0x9f:
		return 1, uint64(code & 0xf), nil
	case code <= 0xbf:
		return 1 + uint64(code&0x1f), 0, nil
	case code >= 0xc4 && code <= 0xc6: // bytes
		size := 1 << (code - 0xc4)
		return 1 + uint64(size) + length(size), 0, err
	case code >= 0xc7 && code <= 0xc9: // extensions
		size := 1 << (code - 0xc7)
		return 2 + uint64(size) + length(size), 0, err
	case code == 0xca, code == 0xce, code == 0xd2:
		return 5, 0, nil
	case code == 0xcb, code == 0xcf, code == 0xd3:
		return 9, 0, nil
	case code == 0xcc, code == 0xd0:
		return 2, 0, nil
	case code == 0xcd, code == 0xd1:
		return 3, 0, nil
	case code >= 0xd4 && code <= 0xd8: // extensions of a fixed size
		return 2 + 1<<(code-0xd4), 0, nil
	case code >= 0xd9 && code <= 0xdb: // strings
		size := 1 << (code - 0xd9)
		return 1 + uint64(size) + length(size), 0, err
	case code == 0xdc, code == 0xdd: // arrays
		size := 2 << (code - 0xdc)
		return 1 + uint64(size), length(size), err
	case code == 0xde, code == 0xdf: // maps
		size := 2 << (code - 0xde)
		return 1 + uint64(size), 2 * length(size), err
	}
	return 0, 0, fmt.Errorf("%#x starts no value", code)
}

package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/orrery-dev/orrery/record/live"
)

const (
	// simKubeVersion is the version of the format of the traces of SimKube 2.
	simKubeVersion = 2
	// traceLimit is how large a trace may be, and objectLimit how large an object in it: API servers take some three
	// megabytes.
	traceLimit  = 512 << 20
	objectLimit = 4 << 20
)

// SimKube writes a recording of a trace of SimKube 2: each object as it was applied and deleted, in the order of the
// trace. Its times are whole seconds, and versions, which it has none of, are counted. The lifetimes of Pods, which the
// trace does not tell of Pods by their names, are not taken over.
//
// The format is version 2 of https://github.com/acrlabs/simkube/blob/main/docs/ref/trace-files.md: a map in
// MessagePack, whose "events" are maps with "ts" in seconds since 1970, "applied_objs" and "deleted_objs". What the
// trace starts with is what was there already.
func SimKube(in io.Reader, out io.Writer, options Options) error {
	text, err := io.ReadAll(io.LimitReader(in, traceLimit+1))
	switch {
	case err != nil:
		return err
	case len(text) > traceLimit:
		return fmt.Errorf("the trace is larger than %d MiB: export a shorter time", traceLimit>>20)
	}
	const what = "this is no trace of SimKube 2"
	events, err := simKubeEvents(text)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var start int64
	for first := range events {
		if start, err = simKubeTime(first); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		break
	}
	began := time.Unix(start, 0).UTC()
	if year := began.Year(); year < 1970 || year > 9999 {
		return fmt.Errorf("%s: it begins in the year %d", what, year)
	}
	b, err := newBuilder(out, "SimKube", began, options,
		"this is a trace of SimKube: it holds objects as they were applied and deleted, to the second. Who did that, and why, is not in it, and neither are statuses and "+
			"other changes that its tracer leaves out. When Pods ran is in it, and left out here: it does not name them",
		"the resource versions are counted by the import: they tell the order, and are not those of the cluster")
	if err != nil {
		return err
	}
	first := true
	for event := range events {
		if err := b.simKubeEvent(event, start, first); err != nil {
			return err
		}
		first = false
	}
	return b.end()
}

// simKubeEvents returns the events of a trace, as they are.
func simKubeEvents(text []byte) (iter.Seq[[]byte], error) {
	size, err := valueSize(text)
	switch {
	case err != nil:
		return nil, err
	case size < len(text):
		return nil, fmt.Errorf("%d bytes follow it", len(text)-size)
	}
	number := 0
	field, ok := fieldOf(text, "version")
	if !ok || msgpack.Unmarshal(field, &number) != nil {
		return nil, errors.New("it names no version")
	}
	if number != simKubeVersion {
		return nil, fmt.Errorf("its version is %d, and this reads version %d", number, simKubeVersion)
	}
	field, ok = fieldOf(text, "events")
	if !ok {
		return nil, errors.New("it has no events")
	}
	events, ok := itemsOf(field)
	if !ok {
		return nil, errors.New("its events are no list")
	}
	return events, nil
}

// simKubeTime returns when an event was, in seconds since 1970.
func simKubeTime(event []byte) (seconds int64, err error) {
	field, ok := fieldOf(event, "ts")
	if !ok || msgpack.Unmarshal(field, &seconds) != nil {
		return 0, errors.New("an event has no time")
	}
	return seconds, nil
}

// simKubeEvent writes what an event of a trace says. One that is damaged leaves a gap.
func (b *builder) simKubeEvent(event []byte, start int64, first bool) error {
	seconds, err := simKubeTime(event)
	if err != nil {
		return b.tolerate(&live.EntryError{Reason: err})
	}
	since := min(max(0, seconds)-start, 1<<31) // both are after 1970
	at := time.Duration(max(0, since)) * time.Second
	for _, name := range []string{"applied_objs", "deleted_objs"} {
		field, ok := fieldOf(event, name)
		objects, list := itemsOf(field)
		if !ok || !list {
			if err := b.tolerate(&live.EntryError{Reason: fmt.Errorf("an event of the trace has no list %s", name)}); err != nil {
				return err
			}
		}
		for object := range objects {
			if name == "deleted_objs" {
				err = b.deleted(object, at)
			} else {
				err = b.applied(object, at, first)
			}
			if err := b.tolerate(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// applied writes a new version of an object.
func (b *builder) applied(packed []byte, at time.Duration, initial bool) error {
	o, err := b.counted(packed)
	if err != nil {
		return err
	}
	event := live.Event{Type: live.Added, At: at, Initial: initial}
	if b.last[o.Key] != 0 {
		event = live.Event{Type: live.Updated, At: at, Old: b.last[o.Key]}
	}
	if event.Object, err = b.object(o); err != nil {
		return err
	}
	return b.event(event)
}

// deleted writes that an object is gone. The trace has it as it was.
func (b *builder) deleted(packed []byte, at time.Duration) error {
	o, err := b.counted(packed)
	if err != nil {
		return err
	}
	number, err := b.object(o)
	if err != nil {
		return err
	}
	delete(b.last, o.Key)
	return b.event(live.Event{Type: live.Deleted, At: at, Object: number})
}

// counted returns an object with the next version.
func (b *builder) counted(packed []byte) (live.Object, error) {
	if len(packed) > objectLimit {
		return live.Object{}, live.ErrTooLarge
	}
	var object map[string]any
	if err := msgpack.Unmarshal(packed, &object); err != nil {
		return live.Object{}, &live.EntryError{Reason: err}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return live.Object{}, &live.EntryError{Reason: err}
	}
	o, _, ok := objectOf(text)
	if !ok {
		return live.Object{}, &live.EntryError{Reason: errors.New("an object of the trace has no kind or no name")}
	}
	b.version++
	o.ResourceVersion = strconv.FormatUint(b.version, 10)
	return o, nil
}

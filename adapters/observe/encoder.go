package observe

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"runtime"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// encoder writes what a recorder hands to it, in a goroutine of its own. Nobody waits for it.
type encoder struct {
	recorder *Recorder
	redactor *redactor
	part     int
	file     *counted
	begun    time.Duration
	writer   *live.Writer
	// unwritten are the entries of the block that is not in the file yet, and of an outage those that were dropped.
	unwritten int
	outage    *outage
	// numbers are those of the objects in the file, and sums those of their contents: a version that a cache holds is
	// mostly the one that the server has.
	numbers map[versionOf]written
	seed    maphash.Seed
}

type versionOf struct {
	key     core.Key
	uid, rv string
	form    string
}

// written is an object in the file, with a sum of its value, 0 if it has none.
type written struct {
	number int
	sum    uint64
}

// outage is a time in which there is no file to write to.
type outage struct {
	since, retry time.Duration
	pause        time.Duration
}

// longestPause is how long at most nobody looks whether a file can be written again.
const longestPause = time.Minute

// counted counts the bytes of a file.
type counted struct {
	io.WriteCloser
	bytes int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.WriteCloser.Write(p)
	c.bytes += int64(n)
	return n, err
}

func newEncoder(r *Recorder) *encoder {
	return &encoder{recorder: r, redactor: newRedactor(r.options, &r.same), seed: maphash.MakeSeed()}
}

// run writes until the recorder is closed. Where a file cannot be written, what is to be recorded is dropped and
// counted until one can be.
func (e *encoder) run() {
	r := e.recorder
	defer close(r.done)
	defer e.release()
	defer r.contain()
	flush := time.NewTicker(max(r.options.FlushEvery, time.Millisecond))
	defer flush.Stop()
	for {
		select {
		case <-r.wake:
			e.write(r.handOver())
		case <-flush.C:
			e.write(r.handOver())
			e.flush()
		case <-r.stop:
			if e.outage != nil {
				e.outage.retry = 0 // the last chance to say what is missing
			}
			e.write(r.handOver())
			if e.outage != nil {
				e.begin()
			}
			e.end(false)
			return
		}
	}
}

// flush writes the block that is not in the file yet, and ends a file that is old enough.
func (e *encoder) flush() {
	if e.writer == nil {
		return
	}
	if err := e.writer.Flush(); err != nil {
		e.fails(err)
		return
	}
	e.unwritten = 0
	if every := e.recorder.options.RotateEvery; every > 0 && e.recorder.now()-e.begun >= every {
		e.end(true)
	}
}

// release closes the file that a panic left open.
func (e *encoder) release() {
	if e.file != nil {
		_ = e.file.Close() // the recording has failed already
	}
}

// fails gives a file up. What was in its last block is lost.
func (e *encoder) fails(err error) {
	if e.file != nil {
		_ = e.file.Close() // it has failed already
		if e.writer != nil {
			e.recorder.ended(e.file)
		}
	}
	e.writer, e.file = nil, nil
	now := e.recorder.now()
	if e.outage == nil {
		e.outage = &outage{since: now}
		e.recorder.report(fmt.Errorf("the recording is interrupted, until a file can be written again: %w", err))
	}
	e.outage.pause = min(max(2*e.outage.pause, e.recorder.options.FlushEvery, time.Millisecond), longestPause)
	e.outage.retry = now + e.outage.pause
}

// yieldEvery is after how many entries, of which objects count for some, the writer lets others go first. It has
// written for some tens of microseconds then.
const yieldEvery = 16

// write writes items to the current file, and begins another one where that is large enough.
func (e *encoder) write(items []item) {
	yields := yieldEvery
	for _, i := range items {
		open := e.begin()
		e.unwritten += i.entries()
		if open {
			before := e.file.bytes
			err := e.add(i)
			switch {
			case err != nil:
				e.fails(err)
			case e.file.bytes > before:
				e.unwritten = 1 // a block was full, and this entry is the first of the next one
			}
		}
		e.recorder.written(i)
		if yields -= 1 + 8*len(i.shown); yields <= 0 {
			yields = yieldEvery
			runtime.Gosched() // reconciles go first
		}
		if e.writer != nil && e.file.bytes >= e.recorder.options.FileSize {
			e.end(true)
		}
	}
}

// begin begins a file if none is open. It reports whether there is one.
func (e *encoder) begin() bool {
	if e.writer != nil {
		return true
	}
	now := e.recorder.now()
	if e.outage != nil && now < e.outage.retry {
		return false
	}
	file, err := e.recorder.options.Open(e.part + 1)
	if err != nil {
		e.fails(err)
		return false
	}
	e.file, e.begun = &counted{WriteCloser: file}, now
	e.numbers = map[versionOf]written{}
	e.writer, err = live.NewWriter(e.file, live.Header{
		Process: e.recorder.options.Process, Started: e.recorder.started, Part: e.part + 1, Redacted: e.redactor.Words(), Share: e.recorder.options.Share,
	})
	if err == nil {
		e.writer.Trust() // what it gets was encoded or compacted here
	}
	if err == nil && e.outage != nil {
		err = e.missed(now)
	}
	if err != nil {
		e.writer = nil
		e.fails(err)
		if partial, is := file.(*partFile); is {
			partial.discard() // the next attempt has the same number
		}
		return false
	}
	e.part++
	return true
}

// missed writes what was lost in an outage, and ends it.
func (e *encoder) missed(now time.Duration) error {
	e.recorder.forget() // objects that were lost have to be copied again
	err := e.writer.Add(live.Gap{At: e.outage.since, Until: now, Reason: live.NotKept, Entries: e.unwritten})
	if err == nil {
		err = e.writer.Flush()
	}
	if err == nil {
		e.outage, e.unwritten = nil, 0
	}
	return err
}

// end ends the current file.
func (e *encoder) end(rotated bool) {
	if e.writer == nil {
		return
	}
	err := e.writer.End(live.End{At: e.recorder.now(), Rotated: rotated})
	if err == nil {
		file := e.file
		e.writer, e.file, e.unwritten = nil, nil, 0
		err = file.Close()
		e.recorder.ended(file)
	}
	if err != nil {
		e.fails(err)
	}
	e.recorder.forget()
}

// add writes an item with the objects it refers to. What cannot be written leaves a gap.
func (e *encoder) add(i item) error {
	entry, err := e.complete(i)
	if err == nil {
		err = e.writer.Add(entry)
	}
	if reason := reasonOf(err); reason != "" {
		now := e.recorder.now()
		return e.writer.Add(live.Gap{At: now, Until: now, Reason: reason, Entries: 1})
	}
	return err
}

// reasonOf returns why an entry is missing, empty if there is no error, or one of the file.
func reasonOf(err error) string {
	var unsayable *live.EntryError
	switch {
	case errors.Is(err, live.ErrTooLarge):
		return live.TooLarge
	case errors.As(err, &unsayable):
		return live.Broken
	}
	return ""
}

// complete returns the entry of an item with the numbers of its objects and what was sent. Objects are types of users,
// whose methods can panic.
func (e *encoder) complete(i item) (_ live.Entry, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = &live.EntryError{Reason: fmt.Errorf("panic: %v", panicked)}
		}
	}()
	numbers := make([]int, len(i.shown))
	for n, v := range i.shown {
		number, err := e.object(v)
		if err != nil {
			return nil, err
		}
		numbers[n] = number
	}
	switch entry := i.entry.(type) {
	case live.Event:
		entry.Object = numbers[0]
		if len(numbers) > 1 {
			entry.Old = numbers[1]
		}
		return entry, nil
	case live.Call:
		entry.Answer = numbers
		sent, err := e.redactor.body(entry, i.sent)
		if err != nil {
			return nil, &live.EntryError{Reason: err}
		}
		entry.Sent = sent
		if entry.Failed != nil && e.redactor.Redacts(entry.Object.Kind) {
			entry.Failed = &live.Failure{Code: entry.Failed.Code, Reason: entry.Failed.Reason, Message: "(redacted)"} // it can quote values
		}
		return entry, nil
	}
	return i.entry, nil
}

// object returns the number of a version of an object, which is written if it is new.
func (e *encoder) object(v version) (int, error) {
	which := versionOf{v.key, v.uid, v.rv, v.form}
	if have, ok := e.numbers[which]; ok && (v.rv != "" && (v.object == nil || have.sum != 0)) {
		return have.number, nil
	}
	if v.same != nil {
		if same, ok := e.numbers[versionOf{v.key, v.uid, v.rv, *v.same}]; ok {
			e.numbers[which] = same
			return same.number, nil
		}
	}
	out := live.Object{Key: v.key, UID: v.uid, ResourceVersion: v.rv, Form: v.form}
	var sum uint64
	if v.object != nil {
		value, err := e.redactor.object(v.key, v.object)
		if err != nil {
			return 0, &live.EntryError{Reason: err}
		}
		out.Value = value
		sum = max(1, maphash.Bytes(e.seed, value))
		for _, other := range []string{live.Served, live.Cached} {
			same, ok := e.numbers[versionOf{v.key, v.uid, v.rv, other}]
			if ok && v.rv != "" && same.sum == sum {
				e.numbers[which] = same
				return same.number, nil
			}
		}
	}
	number, err := e.writer.AddObject(out)
	if err != nil {
		return 0, err
	}
	if len(e.numbers) >= knownLimit {
		clear(e.numbers) // an object can stand in a file twice
	}
	e.numbers[which] = written{number, sum}
	return number, nil
}

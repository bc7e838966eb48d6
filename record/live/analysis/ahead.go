package analysis

import (
	"sync"

	"github.com/orrery-dev/orrery/record/live"
)

const (
	// batchSize is how many entries are handed over at once, and batchesAhead how many times that many are read ahead.
	batchSize    = 1024
	batchesAhead = 4
)

// ahead reads entries in a goroutine of its own, while those before them are looked at.
type ahead struct {
	from    reading
	batches chan batch
	stopped chan struct{}
	reading sync.WaitGroup
	now     batch
}

// batch is some entries, and the error that followed them.
type batch struct {
	entries []live.Entry
	err     error
}

// readAhead begins to read. Until it is stopped, nobody else may use what it reads from.
func readAhead(from reading) *ahead {
	a := &ahead{from: from, batches: make(chan batch, batchesAhead), stopped: make(chan struct{})}
	a.reading.Go(func() {
		for {
			b := batch{entries: make([]live.Entry, 0, batchSize)}
			for len(b.entries) < batchSize && b.err == nil {
				var entry live.Entry
				if entry, b.err = from.Next(); b.err == nil {
					b.entries = append(b.entries, entry)
				}
			}
			select {
			case a.batches <- b:
			case <-a.stopped:
				return
			}
			if b.err != nil {
				return
			}
		}
	})
	return a
}

// Next returns the next entry, as what is read from does.
func (a *ahead) Next() (live.Entry, error) {
	for len(a.now.entries) == 0 {
		if a.now.err != nil {
			return nil, a.now.err
		}
		a.now = <-a.batches
	}
	entry := a.now.entries[0]
	a.now.entries = a.now.entries[1:]
	return entry, nil
}

// Complete reports whether the recording was ended. It is known when [ahead.Next] has returned an error.
func (a *ahead) Complete() bool { return a.from.Complete() }

// stop ends the reading, and waits for that.
func (a *ahead) stop() {
	close(a.stopped)
	a.reading.Wait()
}

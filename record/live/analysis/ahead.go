package analysis

import (
	"sync"

	"github.com/orrery-dev/orrery/record/live"
)

const (
	// batchSize is how many rows are handed over at once, and batchesAhead how many times that many are read ahead.
	batchSize    = 1024
	batchesAhead = 4
)

// ahead reads rows in a goroutine of its own, while those before them are looked at.
type ahead struct {
	from    *live.Outline
	batches chan batch
	// read are batches that were looked at, to be used again.
	read    chan []live.Row
	stopped chan struct{}
	reading sync.WaitGroup
	now     batch
	at      int
}

// batch is some rows, and the error that followed them.
type batch struct {
	rows []live.Row
	err  error
}

// readAhead begins to read. Until it is stopped, nobody else may use what it reads from.
func readAhead(from *live.Outline) *ahead {
	a := &ahead{from: from, batches: make(chan batch, batchesAhead), read: make(chan []live.Row, batchesAhead), stopped: make(chan struct{})}
	a.reading.Go(func() {
		for {
			var b batch
			select {
			case rows := <-a.read:
				b.rows = rows[:0]
			default:
				b.rows = make([]live.Row, 0, batchSize)
			}
			for len(b.rows) < batchSize && b.err == nil {
				at := len(b.rows)
				b.rows = b.rows[:at+1]
				if b.err = from.NextRow(&b.rows[at]); b.err != nil {
					b.rows = b.rows[:at]
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

// next returns the next row, which is good until the one after it, as what is read from does.
func (a *ahead) next() (*live.Row, error) {
	for a.at == len(a.now.rows) {
		if a.now.err != nil {
			return nil, a.now.err
		}
		if a.now.rows != nil {
			select {
			case a.read <- a.now.rows:
			default: // there are enough
			}
		}
		a.now, a.at = <-a.batches, 0
	}
	a.at++
	return &a.now.rows[a.at-1], nil
}

// stop ends the reading, and waits for that.
func (a *ahead) stop() {
	close(a.stopped)
	a.reading.Wait()
}

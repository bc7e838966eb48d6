package explore

import (
	"runtime/metrics"
	"time"
)

// meterEvery is how often memory is looked at and progress told.
const meterEvery = 100 * time.Millisecond

// meter reads how much memory the process uses: at once, and then now and then.
type meter struct {
	next   time.Duration
	sample []metrics.Sample
}

// due tells whether it is time to look again.
func (m *meter) due(elapsed time.Duration) bool {
	if elapsed < m.next {
		return false
	}
	m.next = elapsed + meterEvery
	return true
}

// memory returns the bytes that the Go runtime has mapped and not given back.
func (m *meter) memory() int64 {
	if m.sample == nil {
		m.sample = []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	}
	metrics.Read(m.sample)
	return int64(m.sample[0].Value.Uint64() - m.sample[1].Value.Uint64())
}

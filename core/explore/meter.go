package explore

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// meterEvery is how often memory is looked at and progress told.
const meterEvery = 100 * time.Millisecond

// meter reads how much memory the process uses: at once, and then now and then.
type meter struct {
	// limit is how much it may use, in bytes; 0 means as much as there is.
	limit  int64
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
		m.sample = []metrics.Sample{
			{Name: "/memory/classes/total:bytes"},
			{Name: "/memory/classes/heap/released:bytes"},
			{Name: "/gc/heap/live:bytes"},
		}
	}
	metrics.Read(m.sample)
	return int64(m.sample[0].Value.Uint64() - m.sample[1].Value.Uint64())
}

// live returns the bytes that were in use when garbage was last collected, as of the last call of memory.
func (m *meter) live() int64 { return int64(m.sample[2].Value.Uint64()) }

// full tells whether so much is used that a search has to end. What is left is for the collector of garbage, which would
// soon do nothing but run, and for those who judge what was found: they need about half as much again.
func (m *meter) full(memory int64) bool {
	return m.limit > 0 && (memory >= m.limit || m.live() >= m.limit/8*5)
}

// affords tells whether so many bytes at once are within the limit.
func (m *meter) affords(bytes int64) bool {
	if m.limit == 0 || m.memory()+bytes <= m.limit {
		return true
	}
	runtime.GC()
	m.memory()
	return m.live()+bytes <= m.limit/8*7
}

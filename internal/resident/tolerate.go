package resident

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// tolerated is how much garbage may lie about although less is in use, in bytes.
const tolerated = 64 << 20

// usual is the percentage of garbage that Go's runtime tolerates if nobody says otherwise.
const usual = 100

// tolerating is held while garbage is tolerated: there is one collector in a process.
var tolerating sync.Mutex

// Tolerate has garbage collected only where there are more than 64 MiB of it, as long as no more than that is in use,
// until the function that it returns is called. By itself, Go's runtime lets as much garbage lie about as there is in
// use: a program with little in use that makes much garbage spends a fifth of its time on that. Where more is in use,
// things are as ever, and a limit on memory is kept. Who has said how much garbage there is to be, by GOGC or
// [Economize], is left alone; so is a second one while the first tolerates garbage.
func Tolerate() (restore func()) {
	if !tolerating.TryLock() {
		return func() {}
	}
	if percentage() != usual {
		tolerating.Unlock()
		return func() {}
	}
	t := &tolerance{}
	t.adapt()
	return func() {
		defer tolerating.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.over = true
		debug.SetGCPercent(usual)
	}
}

// tolerance adapts what is tolerated to what is in use.
type tolerance struct {
	mu   sync.Mutex
	over bool
}

// adapt tolerates as much as is fitting for what was in use when garbage was last collected, and comes back when it is
// collected the next time.
func (t *tolerance) adapt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	debug.SetGCPercent(fitting(read("/gc/heap/live:bytes")))
	runtime.AddCleanup(&collected{}, (*tolerance).adapt, t)
}

// collected is garbage: that it is collected tells that garbage is. It is large enough to lie alone.
type collected struct{ _ [64]byte }

// fitting returns the percentage of garbage to tolerate where so many bytes are in use.
func fitting(live uint64) int {
	const least = 1 << 20 // so little is never in use
	return int(max(usual, usual*tolerated/max(live, least)))
}

// percentage is that of garbage that is tolerated now.
func percentage() uint64 { return read("/gc/gogc:percent") }

// read returns a measured value of Go's runtime.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

package orrery

import "runtime/debug"

// keepWithin has garbage collected as often as it takes to stay within a limit on memory, until the function that it
// returns is called. The limit is that of the process; a lower one that is set already stays.
func keepWithin(limit int64) (restore func()) {
	if limit == 0 {
		return func() {}
	}
	before := debug.SetMemoryLimit(-1)
	// Somewhat below, so that the limit itself is kept.
	debug.SetMemoryLimit(min(before, limit/10*9))
	return func() { debug.SetMemoryLimit(before) }
}

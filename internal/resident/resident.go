// Package resident keeps the memory of a process within a limit: what the operating system holds for it, and not only
// what Go's runtime has asked for.
package resident

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Foreign returns how many bytes are resident of which Go's runtime does not know: mapped files, of which the program
// itself is the largest. It grows while parts of the program are used for the first time. It is 0 on systems that do
// not tell.
func Foreign() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	const shared = 2 // the field, in pages
	fields := strings.Fields(string(text))
	if len(fields) <= shared {
		return 0
	}
	pages, err := strconv.ParseInt(fields[shared], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// least is what Go's runtime is left in any case: with less, it would do nothing but collect garbage.
const least = 16 << 20

// Keep has garbage collected as often as it takes for the process to stay within a limit, in bytes, until the function
// that it returns is called. 0 is no limit. A lower limit that is set already stays. It cannot keep what is in use from
// being more.
func Keep(limit int64) (restore func()) {
	if limit == 0 {
		return func() {}
	}
	before := debug.SetMemoryLimit(-1)
	// Somewhat below, so that the limit itself is kept: the runtime may go a little beyond its own, and more of the
	// program comes in.
	debug.SetMemoryLimit(min(before, max(limit/10*9-Foreign(), least)))
	return func() { debug.SetMemoryLimit(before) }
}

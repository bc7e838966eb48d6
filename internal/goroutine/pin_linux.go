package goroutine

import (
	"runtime"
	"syscall"
)

// Pin returns a number that tells the calling goroutine from all others that are pinned, until it calls [Unpin] as
// often as it called Pin. Here that is the number of a thread, which the goroutine has for itself as long as it is
// pinned. It takes a fifth of a microsecond, where [Current] takes ten at the bottom of a deep stack.
func Pin() uint64 {
	runtime.LockOSThread()
	return uint64(syscall.Gettid())
}

// Unpin undoes one [Pin].
func Unpin() { runtime.UnlockOSThread() }

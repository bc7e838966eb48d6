//go:build !linux

package goroutine

// Pin returns a number that tells the calling goroutine from all others that are pinned, until it calls [Unpin] as
// often as it called Pin.
func Pin() uint64 {
	number, _ := Current()
	return number
}

// Unpin undoes one [Pin].
func Unpin() {}

//go:build !unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns the time of day, as the system does not tell how long this process has computed.
func Used() time.Duration {
	var now syscall.Timeval
	_ = syscall.Gettimeofday(&now)
	return time.Duration(now.Nano())
}

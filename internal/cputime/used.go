//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns how long this process has computed, on all processors, for itself and in the system.
func Used() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

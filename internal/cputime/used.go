//go:build unix

package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns how long this process has computed, on all processors, for itself and in the system.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

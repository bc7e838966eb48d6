package orrery_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// leftBehind are the goroutines of code under test that never ends, or that waits for another goroutine which a run
// that is given up has ended. Nobody can end a goroutine of another's.
var leftBehind []goleak.Option

// neverEnds says that a test runs code that never ends, and with it its bubble. Until then nothing may be left behind.
func neverEnds(t *testing.T) {
	t.Helper()
	if err := goleak.Find(leftBehind...); err != nil {
		t.Errorf("before this test: %v", err)
	}
	t.Cleanup(func() { leftBehind = append(leftBehind, goleak.IgnoreCurrent()) })
}

// TestMain wants nothing to be left of the checks.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(leftBehind...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

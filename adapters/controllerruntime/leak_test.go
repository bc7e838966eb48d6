package controllerruntime_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leftBehind are the goroutines of code under test that never ends. Nobody can end a goroutine of another's.
var leftBehind []goleak.Option

// neverEnds says that a test runs code that never ends, and with it its bubble. Until then nothing may be left behind.
func neverEnds(t *testing.T) {
	t.Helper()
	if err := left(); err != nil {
		t.Errorf("before this test: %v", err)
	}
	t.Cleanup(func() { leftBehind = append(leftBehind, goleak.IgnoreCurrent()) })
}

// left says which goroutines are left that do not end either. A bubble that was given up ends by itself, which takes a
// while on a machine that is busy.
func left() error {
	const patience = 20 * time.Second
	for began := time.Now(); ; {
		if err := goleak.Find(leftBehind...); err == nil || time.Since(began) > patience {
			return err
		}
	}
}

// TestMain wants nothing to be left of the checks.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := left(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

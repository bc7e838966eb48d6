package webhook

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orrery-dev/orrery/internal/finalizers"
)

// overdue is the error of code that has not come back in real time.
type overdue struct{ deadline time.Duration }

// Error implements error.
func (o *overdue) Error() string {
	return fmt.Sprintf("it has not returned within %s of real time: it may wait for the API server and for time to pass, and for nothing else", o.deadline)
}

// bubbled runs code in a bubble of virtual time and returns why it did not come back:
// it panicked, ended its goroutine, or is blocked for ever. Code that is busy for ever,
// or waits for something outside of the bubble, is left behind at the deadline; then
// the error is an [overdue], and nothing that the code writes may be read. Goroutines
// that are left of code that came back do not matter.
//
// The errors say nothing that differs from run to run.
func bubbled(deadline time.Duration, code func()) error {
	finalizers.End() // of what the bubble leaves behind
	// There is room for the end of the code, and for that of the bubble after it.
	ended := make(chan error, 2)
	go func() {
		defer func() {
			if value := recover(); value != nil {
				ended <- burst(value)
			}
		}()
		synctest.Test(new(testing.T), func(*testing.T) {
			over := make(chan struct{})
			go func() {
				err := errors.New("it ended its goroutine instead of returning")
				defer func() {
					if value := recover(); value != nil {
						err = fmt.Errorf("it panicked: %v", value)
					}
					ended <- err
					close(over)
				}()
				code()
				err = nil
			}()
			<-over // Virtual time passes only while this goroutine waits.
		})
	}()
	watch := time.NewTimer(deadline)
	defer watch.Stop()
	select {
	case err := <-ended:
		return err
	case <-watch.C:
		return &overdue{deadline}
	}
}

// burst reads the panic of a bubble that cannot go on.
func burst(value any) error {
	if text := fmt.Sprint(value); !strings.Contains(text, "deadlock") {
		return fmt.Errorf("it panicked: %s", text)
	}
	return errors.New("every goroutine of it is blocked for ever")
}

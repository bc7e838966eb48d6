//go:build !unix

package supervisor

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Where processes cannot share memory and signals as on Unix, there are no supervisors, no children and no witnesses:
// who ends the process ends the check.

// Child is a process with a supervisor: there is none.
type Child struct {
	core.Guard
	Began time.Time
	Live  bool
}

// Context never ends.
func (*Child) Context() context.Context { return context.Background() }

// In returns no guard.
func (*Child) In(string) core.Guard { return nil }

// Done does nothing.
func (*Child) Done() {}

// Unreported is the error for a process that ended without an end of its command: nobody knows of one.
type Unreported struct{ error }

// Supervised returns nil: there is no supervisor.
func Supervised() (*Child, error) { return nil, nil }

// Wanted reports that there can be no supervisor.
func Wanted() bool { return false }

// Run returns an error: there can be no supervisor.
func Run(io.Writer, bool) (int, error) { return 0, errors.ErrUnsupported }

// RunTests returns an error: there can be no supervisor.
func RunTests(io.Writer) (int, error) { return 0, errors.ErrUnsupported }

// Witness is a process that waits for the end of this one: there is none.
type Witness struct{}

// StartWitness starts none.
func StartWitness() *Witness { return &Witness{} }

// Watch returns no guard.
func (*Witness) Watch(string) (core.Guard, func()) { return nil, func() {} }

// Testify does nothing: no process is a witness.
func Testify() {}

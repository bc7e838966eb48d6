//go:build unix

package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// Child is a process with a supervisor. It is the guard of the code that it runs.
type Child struct {
	// Began is when the command began in an earlier process, zero if this is the first.
	Began time.Time
	// Live tells that what is said besides the result is seen on a terminal.
	Live bool

	journal *journal
	ends    ends
	context context.Context
}

var _ core.Guard = (*Child)(nil)

// Supervised returns this process as the child of a supervisor, nil if it has none.
func Supervised() (*Child, error) {
	given := os.Getenv(variable)
	if given == "" || given == off {
		return nil, nil
	}
	began, err := strconv.ParseInt(given, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is %q: set it to %q for no supervisor, or do not set it", variable, given, off)
	}
	c := &Child{Live: os.Getenv(live) != ""}
	if err := json.Unmarshal([]byte(os.Getenv(known)), &c.ends); err != nil {
		return nil, fmt.Errorf("%s: %w", known, err)
	}
	if len(c.ends) > 0 {
		c.Began = time.Unix(0, began)
	}
	// What the code starts is nobody's child.
	for _, name := range []string{variable, known, live} {
		_ = os.Unsetenv(name)
	}
	journals, err := openJournals(os.NewFile(journalFile, "journal"), 1)
	if err != nil {
		return nil, err
	}
	c.journal = journals[0]
	// Who presses Ctrl-C sends the signal to both.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	var end context.CancelFunc
	c.context, end = context.WithCancel(context.Background())
	go c.listen(os.NewFile(signalFile, "signals"), end)
	return c, nil
}

// listen ends the context when the supervisor passes a signal on, and the process when there is no supervisor any
// longer.
func (c *Child) listen(signals *os.File, end context.CancelFunc) {
	for {
		if n, err := signals.Read(make([]byte, 1)); n == 0 || err != nil {
			os.Exit(1)
		}
		end()
	}
}

// Context ends when the command is to end.
func (c *Child) Context() context.Context { return c.context }

// Done notes that the command has come to its end.
func (c *Child) Done() { c.journal.note(done, 0, "") }

// Runs implements [core.Guard].
func (c *Child) Runs(from core.Point, words string) { c.journal.note(runs, from, words) }

// Rests implements [core.Guard].
func (c *Child) Rests() { c.journal.note(other, 0, "") }

// Ended implements [core.Guard].
func (c *Child) Ended(from core.Point) (string, bool) {
	how, known := c.ends[from]
	return how, known
}

// In returns the guard of a check in a test, by the name of the test: the same code may do something else in another
// one.
func (c *Child) In(test string) core.Guard {
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(test))
	return tested{c, core.Point(digest.Sum64())}
}

// tested is a child as the guard of a check in one of its tests.
type tested struct {
	*Child
	test core.Point
}

// Runs implements [core.Guard].
func (t tested) Runs(from core.Point, words string) { t.Child.Runs(from^t.test, words) }

// Ended implements [core.Guard].
func (t tested) Ended(from core.Point) (string, bool) { return t.Child.Ended(from ^ t.test) }

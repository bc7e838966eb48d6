//go:build unix

package supervisor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orrery-dev/orrery/core"
)

// variable is the environment variable that tells a process that it is a child, by the time at which the first of them
// began. off is what users set it to who want no supervisor.
const (
	variable = "ORRERY_SUPERVISOR"
	off      = "off"
	// known is the variable with what is known of where code ends processes, and live the one that is set if what is
	// said besides the result is seen on a terminal.
	known = "ORRERY_ENDED"
	live  = "ORRERY_LIVE"
)

// The files of a child, besides its standard streams.
const (
	journalFile = 3 + iota
	signalFile
)

// patience is how long a process may take to end its command after a signal.
const patience = 10 * time.Second

// mostEnds is how often a command starts again. After that, it is given up.
const mostEnds = 16

// ends is where code ends processes, and how.
type ends map[core.Point]string

// Unreported is the error for a process that ended without an end of its command, and not because of code that it ran.
type Unreported struct {
	// how says in words how it ended, with a stack in further lines.
	how string
	// during is what it did, empty if nobody knows.
	during string
}

// Error implements error.
func (u *Unreported) Error() string {
	if u.during == "" {
		return "Something " + u.how
	}
	return u.during + ": " + u.how
}

// Wanted reports whether a process may have a supervisor, and is none's child.
func Wanted() bool { return os.Getenv(variable) == "" }

// Run runs the program again with the arguments that it has, in a process with the same streams, of which notes may be
// seen on a terminal, again and again as long as code ends it. It returns the exit code of the last one. Signals that
// end a search (SIGINT, SIGTERM) go on to it; a second one ends it. An [Unreported] tells that nothing more comes of
// that. Every other error tells that no process could be started: then the command is best run without a supervisor.
func Run(notes io.Writer, onTerminal bool) (int, error) {
	return (&supervisor{began: time.Now(), live: onTerminal, ends: ends{}}).supervise(notes)
}

// RunTests is [Run] for a test binary, which does not say when it has come to its end: each end is one, but for one in
// the code of a controller.
func RunTests(notes io.Writer) (int, error) {
	return (&supervisor{began: time.Now(), ends: ends{}, tests: true}).supervise(notes)
}

func (s *supervisor) supervise(notes io.Writer) (int, error) {
	var err error
	if s.program, err = os.Executable(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	for {
		ended, err := s.run(signals)
		if err != nil {
			return 0, err
		}
		if ended.phase == done {
			return ended.state.ExitCode(), nil
		}
		if by, signaled := ended.by.(syscall.Signal); signaled {
			signal.Reset(by)
			_ = syscall.Kill(os.Getpid(), by)
			const bySignal = 128 // as shells have it, should it not come
			time.Sleep(time.Second)
			return bySignal + int(by), nil
		}
		if ended.deaf {
			return 0, &Unreported{how: fmt.Sprintf("did not end within %s after a signal", patience), during: ended.during()}
		}
		if ended.strays() {
			ended.phase = runs
		}
		if s.tests && ended.phase == other && ended.state.Exited() {
			return ended.state.ExitCode(), nil
		}
		words := how(ended.state, ended.crash)
		_, again := s.ends[ended.from]
		if ended.phase != runs || again || len(s.ends) == mostEnds || ended.killed() {
			return 0, &Unreported{how: words, during: ended.during()}
		}
		s.ends[ended.from] = words
		what := "the command begins"
		if s.tests {
			what = "the tests begin"
		}
		fmt.Fprintf(notes, "orrery: %s: the code ended the process; this is known from now on, and %s again\n", ended.words, what)
	}
}

// supervisor starts processes.
type supervisor struct {
	program string
	began   time.Time
	live    bool
	ends    ends
	// tests tells that the program is a test binary.
	tests bool
}

// ended is a process that has ended.
type ended struct {
	entry
	state *os.ProcessState
	crash string
	// by is the second signal to end it, nil if there was none, and deaf tells that it did not end with the first.
	by   os.Signal
	deaf bool
}

// killed reports whether somebody else ended the process.
func (e ended) killed() bool {
	status, _ := e.state.Sys().(syscall.WaitStatus)
	return status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM || status.Signal() == syscall.SIGINT)
}

// strays reports whether a goroutine ended the process that code left behind: it used what belongs to a run from
// outside, and was late, so that the run was over when it did.
func (e ended) strays() bool {
	headline, _ := readCrash(e.crash)
	return e.phase == other && e.words != "" && strings.HasSuffix(headline, "from outside bubble")
}

// during is what the process did, as far as anybody knows.
func (e ended) during() string {
	if e.phase == runs {
		return e.words
	}
	return ""
}

// run runs a process to its end.
func (s *supervisor) run(signals <-chan os.Signal) (ended, error) {
	file, err := newJournals(1)
	if err != nil {
		return ended{}, err
	}
	files := []*os.File{file}
	defer func() {
		for _, file := range files {
			_ = file.Close()
		}
	}()
	from, to, err := os.Pipe()
	if err != nil {
		return ended{}, err
	}
	files = append(files, from, to)
	knowledge, err := json.Marshal(s.ends)
	if err != nil {
		return ended{}, err
	}
	child := exec.Command(s.program, os.Args[1:]...)
	child.Args[0] = os.Args[0]
	child.Env = append(os.Environ(), variable+"="+strconv.FormatInt(s.began.UnixNano(), 10), known+"="+string(knowledge))
	if s.live {
		child.Env = append(child.Env, live+"=1")
	}
	last := &tail{}
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, io.MultiWriter(os.Stderr, last)
	child.WaitDelay = time.Second // for what it has started
	child.ExtraFiles = files[:2]
	if err := child.Start(); err != nil {
		return ended{}, err
	}
	over := make(chan struct{})
	go func() {
		_ = child.Wait() // what it says is in the state
		close(over)
	}()
	e := ended{}
	var late <-chan time.Time
	for said := 0; e.state == nil; {
		select {
		case got := <-signals:
			if said++; said > 1 {
				e.by = got
				_ = child.Process.Kill()
				continue
			}
			_, _ = to.Write([]byte{0})
			late = time.After(patience)
		case <-late:
			e.deaf = true
			_ = child.Process.Kill()
		case <-over:
			e.state = child.ProcessState
		}
	}
	e.entry, err = readJournal(file, 0)
	e.crash = string(last.text)
	return e, err
}

// tail keeps the last of what is written.
type tail struct{ text []byte }

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 20
	if t.text = append(t.text, p...); len(t.text) > 2*most {
		t.text = append([]byte(nil), t.text[len(t.text)-most:]...)
	}
	return len(p), nil
}

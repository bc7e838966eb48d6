//go:build unix

package supervisor

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/orrery-dev/orrery/core"
)

// testimony is the environment variable that tells a process that it is a witness.
const testimony = "ORRERY_WITNESS"

// mostWatched is how many checks are watched at a time.
const mostWatched = 16

// Witness is a process that waits for the end of this one. The zero Witness is none.
type Witness struct {
	free chan *journal
	// alive is the end of a pipe that the kernel closes when this process ends.
	alive *os.File
}

// StartWitness starts a witness, if it can. It is the program itself, which has no other way to be in two processes,
// and has to call [Testify] before it does anything else.
func StartWitness() *Witness {
	w := &Witness{}
	program, err := os.Executable()
	if err != nil {
		return w
	}
	file, err := newJournals(mostWatched)
	if err != nil {
		return w
	}
	defer func() { _ = file.Close() }() // the memory stays
	journals, err := openJournals(file, mostWatched)
	if err != nil {
		return w
	}
	ends, alive, err := os.Pipe()
	if err != nil {
		return w
	}
	defer func() { _ = ends.Close() }() // the witness has it
	w.alive = alive
	witness := exec.Command(program)
	witness.Env = append(os.Environ(), testimony+"=1")
	witness.Stderr, witness.ExtraFiles = os.Stderr, []*os.File{file, ends}
	if err := witness.Start(); err != nil {
		return w
	}
	w.free = make(chan *journal, mostWatched)
	for _, j := range journals {
		w.free <- j
	}
	return w
}

// Watch returns a guard for a check in a test, by the name of the test. If the process ends while code of a controller
// is at work, another process says on the standard error who that was: nobody else can. It is nil if there is no such
// process, or if too many are watched. The check has to be unwatched in the end.
func (w *Witness) Watch(name string) (guard core.Guard, unwatch func()) {
	select {
	case j := <-w.free:
		return watched{j, name}, func() {
			j.note(other, 0, "")
			w.free <- j
		}
	default:
		return nil, func() {}
	}
}

// watched is the guard of a check that is watched.
type watched struct {
	journal *journal
	name    string
}

// Runs implements [core.Guard].
func (w watched) Runs(from core.Point, words string) {
	w.journal.note(runs, from, words+", was at work in "+w.name)
}

// Rests implements [core.Guard].
func (w watched) Rests() { w.journal.note(other, 0, "") }

// Ended implements [core.Guard]. Nothing is known of earlier processes.
func (w watched) Ended(core.Point) (string, bool) { return "", false }

// Testify does nothing unless this process is a witness. Then it waits for the end of the one that is watched, says
// what was at work, and ends.
func Testify() {
	if os.Getenv(testimony) == "" {
		return
	}
	file, ends := os.NewFile(journalFile, "journals"), os.NewFile(journalFile+1, "pipe")
	_, _ = ends.Read(make([]byte, 1)) // which nobody writes
	for n := range mostWatched {
		e, err := readJournal(file, n)
		if err == nil && e.phase == runs {
			fmt.Fprintf(os.Stderr, "orrery: %s when the process of the tests ended. If its code has ended it (os.Exit, a fatal line of a log, a panic in a goroutine, a fatal error of the runtime), "+
				"run the test again with -orrery.supervisor: then that is a finding with a story, and the tests go on\n", e.words)
		}
	}
	os.Exit(0)
}

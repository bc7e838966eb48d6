//go:build unix

package supervisor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/orrery-dev/orrery/core"
)

// journalSize is the size of the memory that a process shares with its supervisor, in bytes, and wordsAt where the
// words begin in it.
const (
	journalSize = 8192
	wordsAt     = 20
)

// phase says what a process does.
type phase byte

const (
	// other is before and between the runs of code.
	other phase = iota
	// runs is while code runs.
	runs
	// done is when the command has come to its end.
	done
)

// journal is what a process notes for another one.
type journal struct {
	mu     sync.Mutex
	memory []byte
}

// newJournals returns a file with the journals of some writers. Nobody else can open it.
func newJournals(n int) (*os.File, error) {
	file, err := os.CreateTemp("", "orrery-run-")
	if err != nil {
		return nil, err
	}
	// Who has it open keeps it.
	if err := errors.Join(os.Remove(file.Name()), file.Truncate(int64(n)*journalSize)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// openJournals returns the journals in a file.
func openJournals(file *os.File, n int) ([]*journal, error) {
	memory, err := unix.Mmap(int(file.Fd()), 0, n*journalSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("share memory with another process: %w", err)
	}
	var all []*journal
	for part := range slices.Chunk(memory, journalSize) {
		all = append(all, &journal{memory: part})
	}
	return all, nil
}

// note notes a phase, and for code that runs from where it does and what it is about. The phase is what a reader looks
// at first, so it is last to be written and first to be taken back.
func (j *journal) note(p phase, from core.Point, words string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.memory[0] = byte(other)
	if p == runs {
		binary.LittleEndian.PutUint64(j.memory[8:], uint64(from))
		n := copy(j.memory[wordsAt:], words)
		binary.LittleEndian.PutUint32(j.memory[16:], uint32(n))
	}
	j.memory[0] = byte(p)
}

// entry is what a journal says.
type entry struct {
	phase phase
	from  core.Point
	words string
}

// readJournal reads what a process has noted that has ended, in the journal of a number.
func readJournal(file io.ReaderAt, number int) (entry, error) {
	memory := make([]byte, journalSize)
	if _, err := file.ReadAt(memory, int64(number)*journalSize); err != nil {
		return entry{}, fmt.Errorf("read what the process has noted: %w", err)
	}
	e := entry{phase: phase(memory[0]), from: core.Point(binary.LittleEndian.Uint64(memory[8:]))}
	n := min(int(binary.LittleEndian.Uint32(memory[16:])), journalSize-wordsAt)
	e.words = string(memory[wordsAt : wordsAt+n])
	return e, nil
}

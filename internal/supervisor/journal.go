package supervisor

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/orrery-dev/orrery/core"
)

// journalSize is the size of the memory that a process shares with its supervisor, in bytes, and wordsAt where the words begin in it.
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

// journal is what a process notes for its supervisor.
type journal struct {
	mu     sync.Mutex
	memory []byte
}

// openJournal returns the journal in a file of its size.
func openJournal(file *os.File) (*journal, error) {
	memory, err := unix.Mmap(int(file.Fd()), 0, journalSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("share memory with the supervisor: %w", err)
	}
	return &journal{memory: memory}, nil
}

// note notes a phase, and for code that runs from where it does and what it is about. The phase is what a reader looks at first, so it is last to be
// written and first to be taken back.
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

// readJournal reads what a process has noted that has ended.
func readJournal(file io.ReaderAt) (entry, error) {
	memory := make([]byte, journalSize)
	if _, err := file.ReadAt(memory, 0); err != nil {
		return entry{}, fmt.Errorf("read what the process has noted: %w", err)
	}
	e := entry{phase: phase(memory[0]), from: core.Point(binary.LittleEndian.Uint64(memory[8:]))}
	n := min(int(binary.LittleEndian.Uint32(memory[16:])), journalSize-wordsAt)
	e.words = string(memory[wordsAt : wordsAt+n])
	return e, nil
}

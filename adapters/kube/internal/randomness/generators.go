package randomness

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	oldrand "math/rand"
	newrand "math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
)

// names is the generator of k8s.io/apimachinery/pkg/util/rand.
func names() generator {
	return generator{utilrand.Seed, func() int64 { return int64(utilrand.Int()) }}
}

// numbers is that of math/rand which all packages share.
func numbers() generator {
	return generator{oldrand.Seed, oldrand.Int63} //nolint:staticcheck // there is no other way to seed it
}

// generator gives numbers that follow from a seed. Where it has come to is known by the next one.
type generator struct {
	seed func(int64)
	next func() int64
}

// unknown stands for more numbers than anybody counts.
const unknown = -1

// most is how many numbers are counted.
const most = 10_000

// drawn returns how many numbers were drawn since a generator was given a seed, and leaves it at numbers that nobody knows.
func (g generator) drawn(seed int64) int {
	next := g.next()
	g.seed(newrand.Int64())
	again := oldrand.New(oldrand.NewSource(seed))
	for n := range most {
		if again.Int63() == next {
			return n
		}
	}
	return unknown
}

// settings have math/rand heed Seed, and crypto make keys with the reader that it is given.
const settings = "randseednop=0,cryptocustomrand=1"

// heed makes the settings, which are those of the process.
func heed() {
	switch others := os.Getenv("GODEBUG"); {
	case strings.Contains(others, settings):
	case others == "":
		_ = os.Setenv("GODEBUG", settings) // otherwise what is drawn is left to chance
	default:
		_ = os.Setenv("GODEBUG", others+","+settings)
	}
}

// standing is held by who replaces the reader of crypto/rand.
var standing sync.Mutex

// standIn replaces the reader of crypto/rand, and of google/uuid, which keeps that of the start, by one that can be set. Both are read without a lock, so that this is done before anything is run, and once.
func standIn() {
	standing.Lock()
	defer standing.Unlock()
	if _, stands := rand.Reader.(*reader); !stands {
		r := &reader{real: rand.Reader}
		rand.Reader = r
		uuid.SetRand(r)
	}
}

// reader reads from the real reader as long as it is not set.
type reader struct {
	real    io.Reader
	current atomic.Pointer[stream]
}

// stream is what is read while a reader is set.
type stream struct {
	mu   sync.Mutex
	from *newrand.ChaCha8
	read bool
}

// setReader lets what is read from now on follow from a seed, and returns the reader that is set, nil if somebody else has replaced it.
func setReader(seed uint64) *reader {
	r, stands := rand.Reader.(*reader)
	if !stands {
		return nil
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	r.current.Store(&stream{from: newrand.NewChaCha8(key)})
	return r
}

// unset reads from the real reader again, and reports whether anything was read since it was set.
func (r *reader) unset() bool {
	if r == nil {
		return false
	}
	s := r.current.Swap(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	s := r.current.Load()
	if s == nil {
		return r.real.Read(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = true
	if len(p) == 1 && inVain() {
		return 1, nil
	}
	return s.from.Read(p)
}

// inVain reports whether the byte is thrown away that a caller reads: crypto reads one every other time, so that nobody relies on what keys are made of.
func inVain() bool {
	var callers [2]uintptr
	n := runtime.Callers(3, callers[:]) // of Read
	frame, _ := runtime.CallersFrames(callers[:n]).Next()
	return frame.Function == "crypto/internal/randutil.MaybeReadByte"
}

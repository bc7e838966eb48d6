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
func names() *generator {
	return &generator{seed: utilrand.Seed, next: func() int64 { return int64(utilrand.Int()) }}
}

// numbers is that of math/rand which all packages share.
func numbers() *generator {
	return &generator{seed: oldrand.Seed, next: oldrand.Int63} //nolint:staticcheck // there is no other way to seed it
}

// generator gives numbers that follow from a seed. Where it has come to is known by the next one. To give it a seed
// takes as long as a short run of code, so that it goes on with the one it has as long as nobody else draws from it.
type generator struct {
	seed func(int64)
	next func() int64
	// again gives the same numbers as the generator that was given a seed, nil if nobody knows what it gives. at is how
	// many it has given.
	again *oldrand.Rand
	of    int64
	at    int
}

// unknown stands for more numbers than anybody counts.
const unknown = -1

// most is how many numbers are counted.
const most = 10_000

// before is how many numbers are taken before the first one that is drawn, if a generator was set to its seed so often
// before: one at the beginning of each time, and one at its end.
func before(times int) int { return 2*times + 1 }

// set lets the numbers that come next follow from a seed, and from how often the generator was set to it before.
func (g *generator) set(seed int64, times int) {
	if g.again != nil && g.of == seed && g.at == before(times)-1 && g.take() {
		return
	}
	g.seed(seed)
	g.again, g.of, g.at = oldrand.New(oldrand.NewSource(seed)), seed, 0
	for g.at < before(times) {
		g.take()
	}
}

// take takes a number, and reports whether it is the one that should come next: others may have drawn from the
// generator.
func (g *generator) take() bool {
	g.at++
	return g.next() == g.again.Int63()
}

// drawn returns how many numbers were drawn since the generator was set.
func (g *generator) drawn() int {
	next := g.next()
	for n := range most {
		g.at++
		if g.again.Int63() == next {
			return n
		}
	}
	g.again = nil
	return unknown
}

// release lets the numbers that come next be what nobody knows.
func (g *generator) release() {
	g.seed(newrand.Int64())
	g.again = nil
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

// standIn replaces the reader of crypto/rand, and of google/uuid, which keeps that of the start, by one that can be
// set. Both are read without a lock, so that this is done before anything is run, and once.
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

// setReader lets what is read from now on follow from a seed, and returns the reader that is set, nil if somebody else
// has replaced it.
func setReader(seed uint64, times int) *reader {
	r, stands := rand.Reader.(*reader)
	if !stands {
		return nil
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(times))
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

// inVain reports whether the byte is thrown away that a caller reads: crypto reads one every other time, so that nobody
// relies on what keys are made of.
func inVain() bool {
	var callers [2]uintptr
	n := runtime.Callers(3, callers[:]) // of Read
	frame, _ := runtime.CallersFrames(callers[:n]).Next()
	return frame.Function == "crypto/internal/randutil.MaybeReadByte"
}

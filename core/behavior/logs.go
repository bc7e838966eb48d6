package behavior

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// MostHeard is how many lines of a run are listened to. Code that logs more is not listened to any further.
const MostHeard = 10_000

// Logs are the lines that the code of a run logs. The zero value has none.
type Logs struct {
	mu    sync.Mutex
	lines []heard
	full  bool
	// answered is how many calls of the run are answered, and own the goroutine that the run was started in.
	answered int
	own      uint64
	stop     func()
}

// heard is a line with the goroutine that logged it.
type heard struct {
	Logged
	by uint64
}

// Logged is a line of a run.
type Logged struct {
	core.LogLine
	// Calls is how many calls of the run were answered before.
	Calls int
	// Aside tells that another goroutine logged it than that of the run.
	Aside bool
}

// Listen has the session note what code logs in the runs that it repeats from now on.
func (s *Session) Listen(logs *Logs) { s.logs.Store(logs) }

// Full reports whether there are more lines than were listened to.
func (l *Logs) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// Lines returns the lines in an order that is the same whenever the code does the same: those between the same calls by
// goroutines, that of the run first, and the others by what they log.
func (l *Logs) Lines() []Logged {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []Logged
	for rest := l.lines; len(rest) > 0; {
		end := slices.IndexFunc(rest, func(h heard) bool { return h.Calls != rest[0].Calls })
		if end < 0 {
			end = len(rest)
		}
		lines = append(lines, ordered(rest[:end])...)
		rest = rest[end:]
	}
	return lines
}

// ordered returns lines by goroutines.
func ordered(lines []heard) []Logged {
	by := map[uint64][]Logged{}
	var own []Logged
	for _, line := range lines {
		if line.Aside {
			by[line.by] = append(by[line.by], line.Logged)
		} else {
			own = append(own, line.Logged)
		}
	}
	var asides [][]Logged
	for _, of := range by {
		asides = append(asides, of)
	}
	slices.SortFunc(asides, func(a, b []Logged) int { return slices.CompareFunc(a, b, CompareLogged) })
	return append(own, slices.Concat(asides...)...)
}

// CompareLogged orders lines by what they say, and nothing else.
func CompareLogged(a, b Logged) int { return cmp.Compare(a.said(), b.said()) }

// said returns all that a line says, as one text.
func (l Logged) said() string {
	words := []string{l.Level, l.Logger, l.Message}
	for _, value := range l.Values {
		words = append(words, value.Key, value.Value)
	}
	return strings.Join(words, "\x00")
}

// hear notes a line that code logs in a session.
func (s *Session) hear(line core.LogLine) {
	logs := s.logs.Load()
	if logs == nil || s.aborted.Load() {
		return
	}
	by, _ := goroutine.Current()
	logs.mu.Lock()
	defer logs.mu.Unlock()
	if len(logs.lines) == MostHeard {
		logs.full = true
		logs.end()
		return
	}
	logs.lines = append(logs.lines, heard{Logged: Logged{LogLine: line, Calls: logs.answered, Aside: logs.own != 0 && by != logs.own}, by: by})
}

// end ends that anybody listens. l.mu is held.
func (l *Logs) end() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// hush ends that anybody listens to what a session leaves behind.
func (s *Session) hush() {
	if logs := s.logs.Swap(nil); logs != nil {
		logs.mu.Lock()
		defer logs.mu.Unlock()
		logs.end()
	}
}

// attend listens to what the instance logs in a run that begins, and returns what ends that.
func (b *bubble) attend() (stop func()) {
	logs := b.session.logs.Load()
	instance, logging := b.instance.(core.Logging)
	if logs == nil || !logging {
		return func() {}
	}
	end := sync.OnceFunc(instance.Listen(b.session.hear))
	logs.mu.Lock()
	defer logs.mu.Unlock()
	logs.stop = end
	return end
}

// owns notes that the calling goroutine is that of a run.
func (s *Session) owns() {
	if logs := s.logs.Load(); logs != nil {
		logs.mu.Lock()
		defer logs.mu.Unlock()
		logs.own, _ = goroutine.Current()
	}
}

// answers notes that a call is answered.
func (s *Session) answers() {
	if logs := s.logs.Load(); logs != nil {
		logs.mu.Lock()
		defer logs.mu.Unlock()
		logs.answered++
	}
}

// Listens implements [core.LogRecorder].
func (b scribe) Listens() bool { return b.session.logs.Load() != nil }

// Log implements [core.LogRecorder].
func (b scribe) Log(line core.LogLine) {
	b.mu.Lock()
	late := b.closed || b.run != b.bubble.run
	b.mu.Unlock()
	if !late {
		b.session.hear(line)
	}
}

// Listens implements [core.LogRecorder].
func (d direct) Listens() bool { return d.session.logs.Load() != nil }

// Log implements [core.LogRecorder].
func (d direct) Log(line core.LogLine) { d.session.hear(line) }

var (
	_ core.LogRecorder = scribe{}
	_ core.LogRecorder = direct{}
)

package system

import (
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/internal/goroutine"
)

// listeners are those who listen to what is logged, each in a bubble of virtual time. A library keeps one logger for
// the whole process; what is logged through it belongs to the run in whose bubble the goroutine is that logs.
type listeners struct {
	// count is how many there are: mostly there are none.
	count atomic.Int32
	mu    sync.Mutex
	by    map[uint64]func(core.LogLine)
}

// Listen has what is logged in the bubble of the calling goroutine go to a function, until stop is called.
func (l *listeners) Listen(hear func(core.LogLine)) (stop func()) {
	bubble := goroutine.Bubble()
	if bubble == 0 {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[uint64]func(core.LogLine){}
	}
	l.by[bubble] = hear
	l.count.Add(1)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, bubble)
		l.count.Add(-1)
	})
}

// here returns who listens to the calling goroutine, nil if nobody does.
func (l *listeners) here() func(core.LogLine) {
	if l.count.Load() == 0 {
		return nil
	}
	bubble := goroutine.Bubble()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[bubble]
}

// Loggers are what controllers log through.
type Loggers struct {
	logr.Logger
	listeners []*listeners
}

// Listen has what is logged in the bubble of the calling goroutine, through the logger or through that of the process,
// go to a function, until stop is called.
func (l Loggers) Listen(hear func(core.LogLine)) (stop func()) {
	var stops []func()
	for _, listeners := range l.listeners {
		stops = append(stops, listeners.Listen(hear))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// Loggers returns what controllers log through: a logger that writes to the one of the options, if there is one, and
// one that a library keeps for the whole process, which install makes the first of them and returns. A program that has
// set one of its own before keeps it, and nobody listens to what is logged there.
func (d *Definition) Loggers(install func(logr.Logger) logr.Logger) Loggers {
	own := &listeners{}
	l := Loggers{Logger: bridge(d.logger, own), listeners: []*listeners{own}}
	if s, ok := install(l.Logger).GetSink().(*sink); ok && s.listeners != own {
		l.listeners = append(l.listeners, s.listeners)
	}
	return l
}

// Anew returns a logger of which it counts as given what its code adds from now on: what it has so far says which
// controller logs, and what about.
func Anew(logger logr.Logger) logr.Logger {
	s, ok := logger.GetSink().(*sink)
	if !ok {
		return logger
	}
	anew := *s
	anew.pairs = nil
	return logger.WithSink(&anew)
}

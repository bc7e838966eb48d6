package controllerruntime

import (
	"sync"

	"github.com/go-logr/logr"
	"github.com/hashicorp/go-hclog"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// bridge returns a logger that writes to hclog, nil to drop everything.
func bridge(logger hclog.Logger) logr.Logger {
	if logger == nil {
		return logr.Discard()
	}
	return logr.New(hclogSink{logger})
}

// hclogSink is a logr sink that writes to hclog. Level 0 is hclog's Info, 1 is
// Debug, and all above are Trace.
type hclogSink struct{ logger hclog.Logger }

var _ logr.LogSink = hclogSink{}

// Init implements [logr.LogSink].
func (hclogSink) Init(logr.RuntimeInfo) {}

// Enabled implements [logr.LogSink].
func (s hclogSink) Enabled(level int) bool { return levelOf(level) >= s.logger.GetLevel() }

// Info implements [logr.LogSink].
func (s hclogSink) Info(level int, message string, pairs ...any) {
	s.logger.Log(levelOf(level), message, pairs...)
}

// Error implements [logr.LogSink].
func (s hclogSink) Error(err error, message string, pairs ...any) {
	s.logger.Error(message, append([]any{"error", err}, pairs...)...)
}

// WithValues implements [logr.LogSink].
func (s hclogSink) WithValues(pairs ...any) logr.LogSink { return hclogSink{s.logger.With(pairs...)} }

// WithName implements [logr.LogSink].
func (s hclogSink) WithName(name string) logr.LogSink { return hclogSink{s.logger.Named(name)} }

func levelOf(level int) hclog.Level {
	switch {
	case level <= 0:
		return hclog.Info
	case level == 1:
		return hclog.Debug
	}
	return hclog.Trace
}

// setGlobal guards the global logger of controller-runtime, which can be set only
// once in a process.
var setGlobal sync.Once

// logGlobally makes the logger the global one of controller-runtime, unless it has
// one. Without one it keeps a promise for every logger that is derived from it and
// complains after half a minute.
func logGlobally(logger logr.Logger) {
	setGlobal.Do(func() { ctrllog.SetLogger(logger) })
}

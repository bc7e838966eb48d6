package system

import (
	"github.com/go-logr/logr"
	hclog "github.com/hashicorp/go-hclog"
)

// Bridge returns a logger for controllers that writes to the one of the options, or drops everything without one.
func (d *Definition) Bridge() logr.Logger { return bridge(d.logger) }

// bridge returns a logger that writes to hclog; nil drops everything.
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

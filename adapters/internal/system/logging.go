package system

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	hclog "github.com/hashicorp/go-hclog"

	"github.com/orrery-dev/orrery/core"
)

// mostVerbose is how verbose a line may be that is listened to: what components of Kubernetes log at that level is
// there for debugging. More verbose are the libraries.
const mostVerbose = 4

// bridge returns a logger that writes to whoever listens, or else to hclog if it is not nil.
func bridge(logger hclog.Logger, listeners *listeners) logr.Logger {
	return logr.New(&sink{logger: logger, listeners: listeners})
}

// sink is a logr sink. Level 0 is hclog's Info, 1 is Debug, and all above are Trace.
type sink struct {
	logger    hclog.Logger
	listeners *listeners
	// name and pairs are those that the logger was made with.
	name  string
	pairs []any
}

var _ logr.LogSink = (*sink)(nil)

// Init implements [logr.LogSink].
func (*sink) Init(logr.RuntimeInfo) {}

// Enabled implements [logr.LogSink].
func (s *sink) Enabled(level int) bool {
	return s.logger != nil && levelOf(level) >= s.logger.GetLevel() || level <= mostVerbose && s.listeners.here() != nil
}

// Info implements [logr.LogSink].
func (s *sink) Info(level int, message string, pairs ...any) {
	hear := s.listeners.here()
	switch {
	case hear == nil:
		if s.logger != nil {
			s.logger.Log(levelOf(level), message, pairs...)
		}
	case level <= 0:
		hear(s.line("info", message, pairs))
	case level == 1:
		hear(s.line("debug", message, pairs))
	case level <= mostVerbose:
		hear(s.line(fmt.Sprintf("V(%d)", level), message, pairs))
	}
}

// Error implements [logr.LogSink].
func (s *sink) Error(err error, message string, pairs ...any) {
	all := append([]any{"error", err}, pairs...)
	switch hear := s.listeners.here(); {
	case hear != nil && err == nil:
		hear(s.line("error", message, pairs))
	case hear != nil:
		hear(s.line("error", message, all))
	case s.logger != nil:
		s.logger.Error(message, all...)
	}
}

// line returns a line of the logger.
func (s *sink) line(level, message string, pairs []any) core.LogLine {
	return core.LogLineOf(level, s.name, message, slices.Concat(s.pairs, pairs)...)
}

// WithValues implements [logr.LogSink].
func (s *sink) WithValues(pairs ...any) logr.LogSink {
	if len(pairs) == 0 {
		return s
	}
	with := *s
	with.pairs = slices.Concat(s.pairs, pairs)
	if s.logger != nil {
		with.logger = s.logger.With(pairs...)
	}
	return &with
}

// WithName implements [logr.LogSink].
func (s *sink) WithName(name string) logr.LogSink {
	with := *s
	with.name = strings.TrimPrefix(s.name+"."+name, ".")
	if s.logger != nil {
		with.logger = s.logger.Named(name)
	}
	return &with
}

func levelOf(level int) hclog.Level {
	switch {
	case level <= 0:
		return hclog.Info
	case level == 1:
		return hclog.Debug
	}
	return hclog.Trace
}

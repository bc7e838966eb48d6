package core

import (
	"strconv"
	"strings"
)

// LogLine is a line that code logs, as text. When it is logged is no part of it.
type LogLine struct {
	// Level is "error", "info", "debug", or how verbose the line is, such as "V(2)".
	Level string `json:"level"`
	// Logger is the name of the logger, with the names of those that it was made from, empty if it has none.
	Logger  string `json:"logger,omitempty"`
	Message string `json:"message"`
	// Values are the keys and values of the line, in the order in which they were given.
	Values []LogValue `json:"values,omitempty"`
}

// String returns the line as a text, such as `info scaling name=web replicas="3 of 5"`. It may have characters that cannot be printed.
func (l LogLine) String() string {
	words := []string{l.Level}
	if l.Logger != "" {
		words = append(words, l.Logger+":")
	}
	words = append(words, l.Message)
	for _, v := range l.Values {
		value := v.Value
		if value == "" || strings.ContainsAny(value, " \t\n\"=") {
			value = strconv.Quote(value)
		}
		words = append(words, v.Key+"="+value)
	}
	return strings.Join(words, " ")
}

// LogValue is a value of a line with its key.
type LogValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LogRecorder is an [EffectRecorder] that can be told what the code of a run logs. It drops the lines that nobody asks for. To log is no call: nothing is answered.
type LogRecorder interface {
	EffectRecorder

	// Listens reports whether somebody asks for lines. What code does must not depend on it.
	Listens() bool
	// Log notes a line. It may be called by several goroutines at once.
	Log(LogLine)
}

// Logging is an [Instance] whose code logs through loggers that have no recorder.
type Logging interface {
	Instance

	// Listen has the lines that code logs go to a function, which several goroutines may call at once, until stop is called. Code of other instances, and code that the instance
	// has left behind, logs elsewhere. It is called in the goroutine that looks after a run, which is in the bubble of its code.
	Listen(hear func(LogLine)) (stop func())
}

package core

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
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

// String returns the line as a text, such as `info scaling name=web replicas="3 of 5"`. It may have characters that
// cannot be printed.
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

// LogRecorder is an [EffectRecorder] that can be told what the code of a run logs. It drops the lines that nobody asks
// for. To log is no call: nothing is answered.
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

	// Listen has the lines that code logs go to a function, which several goroutines may call at once, until stop is
	// called. Code of other instances, and code that the instance has left behind, logs elsewhere. It is called in the
	// goroutine that looks after a run, which is in the bubble of its code.
	Listen(hear func(LogLine)) (stop func())
}

// How much of a line is kept: what it says, in bytes, and its values.
const (
	longestMessage = 500
	longestValue   = 200
	mostValues     = 30
)

// LogLineOf returns a line as text, with keys and values in turn. Long ones are cut, and what differs from run to run
// whatever the code does is left out: addresses in memory. Of an object of Kubernetes it has the name. A value whose
// own code panics makes no difference to who logs it.
func LogLineOf(level, logger, message string, pairs ...any) LogLine {
	line := LogLine{Level: level, Logger: clipped(logger, longestValue), Message: clipped(strings.TrimRight(message, "\n"), longestMessage)}
	for i := 0; i < len(pairs); i += 2 {
		if len(line.Values) == mostValues {
			line.Values = append(line.Values, LogValue{Key: "…", Value: fmt.Sprintf("%d more", (len(pairs)-i+1)/2)})
			break
		}
		value := LogValue{Key: clipped(logText(pairs[i]), longestValue), Value: "(missing)"}
		if i+1 < len(pairs) {
			value.Value = clipped(logText(pairs[i+1]), longestValue)
		}
		line.Values = append(line.Values, value)
	}
	return line
}

// logText returns a value as text.
func logText(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("(the text of a %T panics)", value)
		}
	}()
	_, named := value.(fmt.Stringer)
	if marshaler, ok := value.(interface{ MarshalLog() any }); ok && !named {
		value = marshaler.MarshalLog()
	}
	switch v := value.(type) {
	case nil:
		return "<nil>"
	case string:
		return v
	case []byte:
		return string(v)
	case error:
		return v.Error()
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case interface {
		GetNamespace() string
		GetName() string
	}:
		// An object of Kubernetes is named, as its loggers do: it may be a secret.
		return strings.TrimPrefix(v.GetNamespace()+"/"+v.GetName(), "/")
	case fmt.Stringer:
		return v.String()
	}
	switch reflect.Indirect(reflect.ValueOf(value)).Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		if encoded, err := json.Marshal(value); err == nil {
			return string(encoded)
		}
		return fmt.Sprintf("(a %T)", value)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Sprintf("(a %T)", value)
	case reflect.Invalid:
		return "<nil>"
	}
	return fmt.Sprint(reflect.Indirect(reflect.ValueOf(value)).Interface())
}

// addresses finds addresses in memory, as the Go runtime prints them.
var addresses = regexp.MustCompile(`\b0x[0-9a-f]{8,16}\b`)

// clipped returns the beginning of a text.
func clipped(text string, most int) string {
	cut := len(text) > most
	if cut {
		text = text[:most]
	}
	text = addresses.ReplaceAllString(strings.ToValidUTF8(text, ""), "0x…")
	if cut {
		text += "…"
	}
	return text
}

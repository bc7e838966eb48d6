package external

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// call asks a service for one of its operations, or lets one of its events happen.
type call struct {
	service, operation string
	// input is JSON, and words what reports say in place of it and of the operation, empty if they say these.
	input, words string
	reads        bool
}

var (
	_ Addressed  = (*call)(nil)
	_ core.Aimed = (*call)(nil)
)

// Part implements [Addressed].
func (c *call) Part() string { return c.service }

// Identity implements [core.Call].
func (c *call) Identity() string { return fmt.Sprintf("%q %q %s", c.service, c.operation, c.input) }

// Aim implements [core.Aimed].
func (c *call) Aim() string {
	if c.reads {
		return c.Identity()
	}
	return fmt.Sprintf("%q %q", c.service, c.operation)
}

// Contents implements [core.Aimed].
func (c *call) Contents() string {
	if c.reads {
		return ""
	}
	return c.input
}

// String implements [core.Call]: "cloud: create instance {"name":"a"}".
func (c *call) String() string {
	words := c.words
	if words == "" {
		words = c.operation
		if c.input != "{}" && c.input != "null" && c.input != `""` {
			words += " " + c.input
		}
	}
	return c.service + ": " + briefly(words)
}

// inWords returns what a value says of itself, empty if it says nothing.
func inWords(value any) string {
	if says, ok := value.(fmt.Stringer); ok {
		return says.String()
	}
	if text, ok := value.(string); ok {
		return text
	}
	return ""
}

// Source implements [core.Call]: how far a read lags behind is for the service to say.
func (c *call) Source() core.Source { return core.Live }

// response is the answer to a call.
type response struct {
	// output is JSON, empty if there is a refusal, and words what reports say in place of it.
	output, words string
	refusal       *Refusal
}

var _ core.Response = (*response)(nil)

// Identity implements [core.Response].
func (r *response) Identity() string {
	if r.refusal != nil {
		return fmt.Sprintf("refused %q %q", r.refusal.Code, r.refusal.Message)
	}
	return r.output
}

// String implements [core.Response].
func (r *response) String() string {
	switch {
	case r.refusal != nil:
		return r.refusal.Error()
	case r.words != "":
		return briefly(r.words)
	case r.output == "{}":
		return "ok"
	}
	return briefly(r.output)
}

// briefly returns no more of a text than what fits into a line.
func briefly(text string) string {
	const most = 160
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// Refusal is an error of a service: what it answers in place of doing what it is asked for.
type Refusal struct {
	// Code tells refusals apart, such as "NotFound".
	Code string
	// Message is for people.
	Message string
}

// Refuse returns a refusal, for an [Operation] to return.
func Refuse(code, format string, args ...any) error {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusalOf returns what a client is told of an error: whatever it is, it is the service's answer.
func refusalOf(err error) *Refusal {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	return &Refusal{Message: err.Error()}
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Code == "" || r.Message == "" {
		return r.Code + r.Message
	}
	return r.Code + ": " + r.Message
}

// CodeOf returns the code of a refusal, empty for other errors.
func CodeOf(err error) string {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

// TimedOut is the code of a call that took too long. Whether it has taken place, its caller does not know.
const TimedOut = "TimedOut"

// Timeout implements net.Error.
func (r *Refusal) Timeout() bool { return r.Code == TimedOut }

// Temporary implements net.Error.
func (r *Refusal) Temporary() bool { return r.Timeout() }

// Is makes a call that took too long a [context.DeadlineExceeded], as it is for clients that set a deadline.
func (r *Refusal) Is(target error) bool {
	return r.Timeout() && target == context.DeadlineExceeded
}

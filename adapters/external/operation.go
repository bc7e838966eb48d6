package external

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/orrery-dev/orrery/core"
)

// operation is something that a service does, in one step.
type operation struct {
	name  string
	reads bool
	event bool
	// text tells that the input is a text.
	text bool
	do   func(t *Transaction, input string) (output, words string, err error)
}

// Operation is something that clients may ask a service for. In is what they say, and Out what they are answered.
type Operation[In, Out any] struct {
	service *Service
	name    string
	reads   bool
}

// NewOperation adds an operation to a service. The name says it in words: "create instance". Where In or Out has a
// method String, reports have what that says. do is one step of the world, see the rules in the comment of the package.
// If it returns an error, nothing has taken place: [Refuse] makes errors that clients can tell apart.
func NewOperation[In, Out any](s *Service, name string, do func(*Transaction, In) (Out, error)) *Operation[In, Out] {
	return add(s, name, false, do)
}

// NewQuery adds an operation that changes nothing. It cannot get lost after it has taken place.
func NewQuery[In, Out any](s *Service, name string, do func(*Transaction, In) (Out, error)) *Operation[In, Out] {
	return add(s, name, true, do)
}

func add[In, Out any](s *Service, name string, reads bool, do func(*Transaction, In) (Out, error)) *Operation[In, Out] {
	o := &Operation[In, Out]{service: s, name: name, reads: reads}
	if do == nil {
		s.Mistake("the operation %q does nothing", name)
		return o
	}
	s.add(&operation{name: name, reads: reads, do: func(t *Transaction, input string) (string, string, error) {
		in, err := decoded[In](input)
		if err != nil {
			return "", "", t.stop("the input %s cannot be read as a %T: %w", input, in, err)
		}
		out, err := do(t, in)
		if err != nil {
			return "", "", err
		}
		output, err := encoded(out)
		if err != nil {
			return "", "", t.stop("what it returns cannot be kept: %w", err)
		}
		return output, inWords(out), nil
	}}, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	return o
}

// add adds an operation that takes and returns values of types.
func (s *Service) add(o *operation, types ...reflect.Type) {
	switch {
	case strings.TrimSpace(o.name) == "" || strings.ContainsAny(o.name, "\n"):
		s.Mistake("an operation is called %q: give it a name in a line", o.name)
	case o.name == show:
		s.Mistake("%q is what the service does by itself: give the operation another name", o.name)
	case s.operations[o.name] != nil:
		s.Mistake("two operations are called %q: give each its own name", o.name)
	}
	for _, t := range types {
		if err := keepable(t); err != nil {
			s.Mistake("operation %q: %w", o.name, err)
		}
	}
	s.operations[o.name] = o
}

// Do asks the service. An error is a [Refusal], that of the context, or says what is wrong with the set-up. It may end
// the goroutine with its deferred calls, where a run is not needed any further: release locks by defer.
func (o *Operation[In, Out]) Do(ctx context.Context, c *Client, in In) (Out, error) {
	var none Out
	input, err := encoded(in)
	if err != nil {
		return none, fmt.Errorf("%s: the input of %q cannot be kept: %w", o.service.name, o.name, err)
	}
	output, err := c.do(ctx, &call{service: o.service.name, operation: o.name, input: input, words: o.words(in), reads: o.reads})
	if err != nil {
		return none, err
	}
	return decoded[Out](output)
}

// words are what reports say of a call, empty if its input says nothing of itself.
func (o *Operation[In, Out]) words(in In) string {
	words := inWords(in)
	if _, isText := any(in).(string); isText && words != "" {
		words = o.name + " " + words
	}
	return words
}

// Event is something that a service does by itself, some time after a transaction has told it to: an instance comes up,
// a job ends.
type Event[In any] struct {
	service *Service
	name    string
}

// NewEvent adds an event to a service. It happens in one step. What it finds may have changed since it was told to
// happen: then it should do nothing.
func NewEvent[In any](s *Service, name string, do func(*Transaction, In)) *Event[In] {
	e := &Event[In]{service: s, name: name}
	switch {
	case do == nil:
		s.Mistake("the event %q does nothing", name)
		return e
	case strings.Contains(name, separator):
		s.Mistake("the event %q has %q in its name: leave it out", name, separator)
		return e
	}
	add(s, name, false, func(t *Transaction, in In) (struct{}, error) {
		do(t, in)
		return struct{}{}, nil
	})
	s.operations[name].event = true
	s.operations[name].text = reflect.TypeFor[In]() == reflect.TypeFor[string]()
	return e
}

// Later lets the event happen at some time after the transaction: at any time, but it does. If it is to happen with
// this input already, it happens once. For what may or may not happen, see [Service.Action].
func (e *Event[In]) Later(t *Transaction, in In) {
	if !t.mayWrite(e.service, "the event "+e.name) {
		return
	}
	if t.reads {
		_ = t.stop("it lets the event %q happen, and is a query: add it with NewOperation", e.name)
		return
	}
	input, isText := any(in).(string)
	if !isText {
		var err error
		if input, err = encoded(in); err != nil {
			_ = t.stop("the input of the event %q cannot be kept: %w", e.name, err)
			return
		}
	}
	t.enqueued = append(t.enqueued, e.service.item(e.name, input))
}

// separator stands between the name of an event and its input.
const separator = ": "

// item is the request for an event.
func (s *Service) item(name, input string) core.Item {
	return core.Item{Strategy: s.name, Request: core.Request(name + separator + input)}
}

// happening returns the call that lets an event happen.
func (s *Service) happening(request core.Request) (*call, error) {
	name, input, _ := strings.Cut(string(request), separator)
	o := s.operations[name]
	if o == nil || !o.event {
		return nil, fmt.Errorf("%s has no event for the request %q: check the system again", s.name, request)
	}
	happens := &call{service: s.name, operation: name, input: input}
	if o.text {
		var err error
		if happens.input, err = encoded(input); err != nil {
			return nil, err
		}
		happens.words = strings.TrimSpace(name + " " + input)
	}
	return happens, nil
}

package plain

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/orrery-dev/orrery/core"
)

// Inbox is where a process receives messages of type M. It is a set: a message
// that is in it already is not added again, and messages are received in any
// order.
//
// A message is told apart by its text: a string as it is; what implements
// [encoding.TextMarshaler], and [encoding.TextUnmarshaler] as a pointer, as it
// says; everything else as JSON.
type Inbox[M any] struct {
	process string
}

// NewInbox returns the inbox of the process with a name.
func NewInbox[M any](process string) Inbox[M] { return Inbox[M]{process} }

// Send puts a message into the inbox. It panics if the message does not survive
// being turned into text and back.
func (b Inbox[M]) Send(w *World, message M) {
	w.do(&send{core.Item{Strategy: b.process, Request: b.encode(message)}})
}

// Receive makes a [Process.Receive] of a function on messages.
func (b Inbox[M]) Receive(handle func(*World, M)) func(*World, core.Request) {
	return func(w *World, request core.Request) {
		message, err := decode[M](request)
		if err != nil {
			panic(fmt.Sprintf("%s got %q, which is not a %s: %v", b.process, request, reflect.TypeFor[M](), err))
		}
		handle(w, message)
	}
}

// Holding makes the [Process.Messages] at start. It panics like [Inbox.Send].
func (b Inbox[M]) Holding(messages ...M) []core.Request {
	requests := make([]core.Request, len(messages))
	for i, m := range messages {
		requests[i] = b.encode(m)
	}
	return requests
}

func (b Inbox[M]) encode(message M) core.Request {
	text, err := encodeMessage(message)
	if err == nil {
		var back M
		if back, err = decode[M](text); err == nil && !reflect.DeepEqual(back, message) {
			err = fmt.Errorf("as text it is %q, and that reads as %+v: export its fields, or give it MarshalText and UnmarshalText", text, back)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("message %+v to %s is lost on the way: %v", message, b.process, err))
	}
	return text
}

func encodeMessage[M any](message M) (core.Request, error) {
	if m, ok := any(message).(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return core.Request(text), err
	}
	if v := reflect.ValueOf(message); v.Kind() == reflect.String {
		return core.Request(v.String()), nil
	}
	text, err := json.Marshal(message)
	return core.Request(text), err
}

func decode[M any](request core.Request) (message M, err error) {
	if m, ok := any(&message).(encoding.TextUnmarshaler); ok {
		return message, m.UnmarshalText([]byte(request))
	}
	if v := reflect.ValueOf(&message).Elem(); v.Kind() == reflect.String {
		v.SetString(string(request))
		return message, nil
	}
	err = json.Unmarshal([]byte(request), &message)
	return message, err
}

package models

import (
	"fmt"

	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
)

// Verbs between the clients of a register and its servers.
const (
	put    = "put"    // client to server: store the value
	stored = "stored" // server to client: it is stored
	get    = "get"    // client to server: what is the value?
	got    = "got"    // server to client: this is the value
)

// registerClient is a client of a register. It puts its own value at one server,
// and when that is stored, gets the value from the next server. It remembers
// what it takes to judge whether the run is linearizable.
type registerClient struct {
	// Stored and Got tell that the put and the get have returned.
	Stored, Got bool
	// Value is what the get returned, empty for a register that was never put.
	Value string
	// Before counts, for each client, how many of its operations had returned
	// when this client's get began.
	Before []int
}

// returned counts the operations that have returned.
func (c registerClient) returned() int {
	switch {
	case c.Got:
		return 2
	case c.Stored:
		return 1
	}
	return 0
}

func clientName(i int) string { return fmt.Sprintf("client%d", i+1) }

func serverName(i int) string { return fmt.Sprintf("server%d", i+1) }

// valueOf is the letter that a client puts.
func valueOf(client int) string { return string(rune('A' + client)) }

// whoPuts names the client that puts a value.
func whoPuts(value string) string { return clientName(int(value[0] - 'A')) }

func inboxOf(name string) plain.Inbox[message] { return plain.NewInbox[message](name) }

// registerModel is clients that use a register, and the servers that are one.
// Server i, counted from 0, is made under the given name; start holds the
// variables of the servers.
func registerModel(name string, clients, servers int, server func(i int, name string) plain.Process, start ...core.Object) plain.Model {
	states := plain.NewFamily[registerClient]("client")
	model := plain.Model{Name: name, Properties: registerProperties(states, clients)}
	for i := range servers {
		model.Processes = append(model.Processes, server(i, serverName(i)))
	}
	for i := range clients {
		start = append(start, states.At(i+1).Is(registerClient{}))
		first := &model.Processes[i%servers]
		first.Messages = append(first.Messages,
			inboxOf(first.Name).Holding(message{Verb: put, Value: valueOf(i), From: clientName(i)})...)
		model.Processes = append(model.Processes, clientProcess(i, clients, servers, states))
	}
	model.Initial = []core.Initial{plain.Start(start...)}
	return model
}

// clientProcess is the client whose put is under way at start. It leaves
// messages alone that it does not wait for.
func clientProcess(i, clients, servers int, states plain.Family[registerClient]) plain.Process {
	me, name := states.At(i+1), clientName(i)
	return plain.Process{Name: name, Receive: inboxOf(name).Receive(func(w *plain.World, m message) {
		my := me.Get(w)
		switch m.Verb {
		case stored:
			w.Require(!my.Stored)
			my.Stored = true
			my.Before = make([]int, clients)
			for j := range clients {
				if j != i {
					my.Before[j] = states.At(j + 1).Get(w).returned()
				}
			}
			inboxOf(serverName((i+1)%servers)).Send(w, message{Verb: get, From: name})
		case got:
			w.Require(my.Stored && !my.Got)
			my.Got, my.Value = true, m.Value
		default:
			panic(fmt.Sprintf("%s cannot %q", name, m.Verb))
		}
		me.Set(w, my)
	})}
}

func registerProperties(states plain.Family[registerClient], clients int) []core.Property {
	return []core.Property{{
		Name: "linearizable",
		Doc:  "All operations that have returned can be put into one order that a single register explains and in which no operation comes before one that had returned when it began.",
		Invariant: func(s core.State) error {
			history := make([]registerClient, clients)
			for i := range history {
				history[i] = states.At(i + 1).Get(s)
			}
			if !linearizable(history) {
				return fmt.Errorf("no order of the operations explains what was got: %+v", history)
			}
			return nil
		},
	}}
}

// linearizable tries all orders of the clients' operations.
func linearizable(history []registerClient) bool {
	// done counts the operations of each client that are in the order already.
	done := make([]int, len(history))
	var extend func(value string) bool
	extend = func(value string) bool {
		explained := true
		for i, c := range history {
			if done[i] < c.returned() {
				explained = false
			}
		}
		if explained {
			return true
		}
		for i, c := range history {
			next := value
			switch done[i] {
			case 0:
				// A put that has not returned may have taken effect all the same.
				next = valueOf(i)
			case 1:
				if !c.Got || c.Value != value || !allDone(c.Before, done) {
					continue
				}
			default:
				continue
			}
			done[i]++
			if extend(next) {
				return true
			}
			done[i]--
		}
		return false
	}
	return extend("")
}

// allDone tells that the operations counted in before are done.
func allDone(before, done []int) bool {
	for i := range before {
		if done[i] < before[i] {
			return false
		}
	}
	return true
}

package plain

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// store implements [core.Store] for variables.
type store struct {
	processes map[string]*process
}

func (s *store) Answer(snapshot core.Snapshot, call core.Call) (core.Answer, error) {
	switch c := call.(type) {
	case *read:
		return core.Answer{Response: value{snapshot.Get(c.key)}}, nil
	case *list:
		return core.Answer{Response: listing{snapshot.List(c.kind, c.namespace)}}, nil
	case *write:
		answer := core.Answer{Response: done{}}
		if !same(snapshot.Get(c.key), c.content) {
			answer.Writes = []core.Write{{Key: c.key, Content: c.content}}
		}
		return answer, nil
	case *send:
		if reason := s.undeliverable(c.item); reason != "" {
			return core.Answer{}, &core.Unsupported{Call: c.String(), Reason: reason}
		}
		return core.Answer{Response: done{}, Enqueue: []core.Item{c.item}}, nil
	}
	return core.Answer{}, &core.Unsupported{
		Call:   call.String(),
		Reason: "a store of plain variables answers only the calls of package plain: use it with strategies of that package",
	}
}

// undeliverable says why a message cannot be sent, empty if it can.
func (s *store) undeliverable(message core.Item) string {
	to := s.processes[message.Strategy]
	switch {
	case to == nil || to.receive == nil:
		return fmt.Sprintf("nobody called %q receives messages: set Process.Receive, or mend the name of the inbox", message.Strategy)
	case to.actions[message.Request] != nil:
		return fmt.Sprintf("%q is also an action of %s: rename one", message.Request, message.Strategy)
	}
	return ""
}

// Normalize returns the contents themselves: a variable holds nothing that counts up by itself.
func (s *store) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content {
	return versions
}

// Outcome returns all fields: everything in a variable matters.
func (s *store) Outcome(_ core.Key, c core.Content) any { return c.Fields() }

// Faults implements [core.Store]: variables are read and written without fail.
func (s *store) Faults(core.Call) []core.Fault { return nil }

// CanonicalOutcome implements [core.Store]: nothing is chosen here.
func (s *store) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

func same(a, b core.Content) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Canonical() == b.Canonical()
}

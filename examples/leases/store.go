package leases

import "github.com/orrery-dev/orrery/core"

// The kinds of objects. An object has the name of its host.
const (
	Lease  core.Kind = "Lease"
	Record core.Kind = "Record"
)

// address is what a lease or a record holds.
type address string

// Canonical implements [core.Content].
func (a address) Canonical() string { return string(a) }

// Fields implements [core.Content].
func (a address) Fields() any { return map[string]any{"address": string(a)} }

// addressOf returns the address in an object, empty if there is no such object.
func addressOf(s core.Snapshot, kind core.Kind, host string) string {
	if content := s.Get(core.Key{Kind: kind, Name: host}); content != nil {
		return content.Canonical()
	}
	return ""
}

// store is the world: the table of leases, and the zone. It keeps nothing itself.
type store struct{}

var _ core.Store = store{}

// Answer implements [core.Store].
func (store) Answer(s core.Snapshot, asked core.Call) (core.Answer, error) {
	c, ok := asked.(call)
	if !ok {
		return core.Answer{}, &core.Unsupported{Call: asked.String(), Reason: "this store has leases and records only"}
	}
	switch c.verb {
	case lease:
		return core.Answer{Response: answer{address: addressOf(s, Lease, c.host)}}, nil
	case lookup:
		return core.Answer{Response: answer{address: addressOf(s, Record, c.host)}}, nil
	case assign:
		return write(s, Lease, c.host, c.to), nil
	}
	if addressOf(s, Record, c.host) != c.from {
		return core.Answer{Response: answer{err: ErrChanged.Error()}}, nil
	}
	return write(s, Record, c.host, c.to), nil
}

// write returns the answer to a call that stores an address, or deletes the object if the address is empty. To write what is
// there already is no write.
func write(s core.Snapshot, kind core.Kind, host, to string) core.Answer {
	done := core.Answer{Response: answer{done: true}}
	if addressOf(s, kind, host) == to {
		return done
	}
	change := core.Write{Key: core.Key{Kind: kind, Name: host}}
	if to != "" {
		change.Content = address(to)
	}
	done.Writes = []core.Write{change}
	return done
}

// Faults implements [core.Store].
func (store) Faults(asked core.Call) []core.Fault {
	timeout := answer{err: "timeout"}
	switch asked.(call).verb {
	case lookup:
		return []core.Fault{{Name: "timeout", Response: timeout}}
	case replace:
		return []core.Fault{
			{Name: "timeout", Response: timeout},
			{Name: "committed, but the answer is lost", Response: timeout, Commits: true},
		}
	}
	return nil
}

// Normalize implements [core.Store]: nothing in a lease or a record counts up.
func (store) Normalize(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions }

// Outcome implements [core.Store]: all of a lease and of a record matters.
func (store) Outcome(_ core.Key, c core.Content) any { return c.Fields() }

// CanonicalOutcome implements [core.Store]: the store chooses no names.
func (store) CanonicalOutcome(_ []core.Object, outcome map[core.Key]any) map[core.Key]any {
	return outcome
}

// Package leases is two control loops that keep the records of a DNS zone in step with the leases of a DHCP server. There is no Kubernetes in
// it: the package has a store, a client and strategies of its own. It is the example of docs/your-own-adapter.md.
package leases

import (
	"slices"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Options say how the controllers are set up.
type Options struct {
	// Looks makes the sweeper look for a lease before it deletes a record.
	Looks bool
	// WatchesRecords wakes both controllers when a record changes, too, and the sweeper by each change of a lease.
	WatchesRecords bool
	// Remembers makes the publisher remember what it has published.
	Remembers bool
	// Background makes the sweeper delete records in a goroutine of its own, which tries again after a failure if Retries is set.
	Background, Retries bool
}

// System returns the two controllers with one host. Its lease ends, and then it gets the same lease again.
func System(o Options) (*core.System, error) {
	system := &core.System{
		Name:       "leases",
		Store:      store{},
		Strategies: []core.Strategy{publisher(o), sweeper(o)},
		Initial: []core.Initial{{Objects: []core.Object{
			{Key: core.Key{Kind: Lease, Name: "web"}, Content: address("10.0.0.7")},
		}}},
		Scenario: core.Scenario{InOrder: true, Actions: []core.Action{
			{Name: "the lease of web ends", Do: assigns("web", "")},
			{Name: "web gets its lease again", Do: assigns("web", "10.0.0.7")},
		}},
		Properties: slices.Concat(properties.Convergent(), []core.Property{resolves(), swept()}),
	}
	return system, system.Validate()
}

// publisher returns the loop of a [Publisher].
func publisher(o Options) core.Strategy {
	l := &loop{name: "publisher", watches: []core.Kind{Lease}, wakes: func(core.Event) bool { return true }}
	if o.WatchesRecords {
		l.watches = append(l.watches, Record)
	}
	l.start = func() core.Instance {
		p := &Publisher{Leases: client{}, Zone: client{}}
		i := instance{reconciler: p, wakes: l.wakes}
		if !o.Remembers {
			return i
		}
		p.Published = map[string]string{}
		return remembering{i, func() map[string]string { return published(p) }}
	}
	return l
}

// sweeper returns the loop of a [Sweeper].
func sweeper(o Options) core.Strategy {
	l := &loop{name: "sweeper", watches: []core.Kind{Lease}, active: o.Background}
	l.wakes = func(e core.Event) bool { return e.New == nil } // a lease has ended
	if o.WatchesRecords {
		l.watches = append(l.watches, Record)
		l.wakes = func(core.Event) bool { return true }
	}
	l.start = func() core.Instance {
		s := &Sweeper{Leases: client{}, Zone: client{}, Looks: o.Looks, Retries: o.Retries}
		i := instance{reconciler: s, wakes: l.wakes}
		if !o.Background {
			return i
		}
		s.Later = NewBacklog()
		return &working{remembering: remembering{i, func() map[string]string { return waiting(s.Later) }}, run: s.Run}
	}
	return l
}

// assigns returns what the DHCP server does: it gives a host a lease, or ends it.
func assigns(host, to string) func(core.EffectRecorder) error {
	return func(recorder core.EffectRecorder) error {
		recorder.Do(call{verb: assign, host: host, to: to})
		return nil
	}
}

// resolves holds if each host whose lease stays gets its record, and keeps it.
func resolves() core.Property {
	return properties.Matches("each lease has its record", Lease, func(s core.State, desired core.Object) bool {
		return addressOf(s, Record, desired.Key.Name) == desired.Content.Canonical()
	})
}

// swept holds if no record stays without a lease.
func swept() core.Property {
	return properties.Matches("each record has a lease", Record, func(s core.State, record core.Object) bool {
		return addressOf(s, Lease, record.Key.Name) != ""
	})
}

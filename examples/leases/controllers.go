package leases

import (
	"context"
	"errors"
)

// ErrChanged is the error of [Zone.Replace] if the record is not the expected one.
var ErrChanged = errors.New("the record is not what the update expects")

// Leases is the table of leases of a DHCP server, as a cache shows it.
type Leases interface {
	// Address returns the address that a host has leased, empty if it has no lease.
	Address(ctx context.Context, host string) string
}

// Zone is a DNS zone with one address record for each host.
type Zone interface {
	// Lookup returns the address in the record of a host, empty if it has no record.
	Lookup(ctx context.Context, host string) (string, error)
	// Replace replaces one address by another, where the empty address means that there is no record. As with the
	// prerequisites of RFC 2136, the zone refuses the update with [ErrChanged] if the record does not have the first address.
	Replace(ctx context.Context, host, from, to string) error
}

// Publisher gives each host with a lease its record.
type Publisher struct {
	Leases Leases
	Zone   Zone
	// Published, if not nil, is where the publisher remembers which addresses it has published. It makes no calls for those.
	Published map[string]string
}

// Reconcile creates or updates the record of a host.
func (p *Publisher) Reconcile(ctx context.Context, host string) error {
	address := p.Leases.Address(ctx, host)
	if address == "" {
		delete(p.Published, host)
		return nil
	}
	if p.Published[host] == address {
		return nil
	}
	current, err := p.Zone.Lookup(ctx, host)
	if err != nil {
		return err
	}
	if current != address {
		if err := p.Zone.Replace(ctx, host, current, address); err != nil {
			return err
		}
	}
	if p.Published != nil {
		p.Published[host] = address
	}
	return nil
}

// Sweeper deletes the records of hosts without a lease.
type Sweeper struct {
	Leases Leases
	Zone   Zone
	// Looks makes it look for a lease before it deletes a record. Without it, the sweeper trusts that it only gets hosts
	// whose lease has ended.
	Looks bool
	// Later, if not nil, is where Reconcile leaves hosts for [Sweeper.Run].
	Later *Backlog
	// Retries makes Run try again where a call has failed.
	Retries bool
}

// Reconcile deletes the record of a host, or leaves that to Run.
func (s *Sweeper) Reconcile(ctx context.Context, host string) error {
	if s.Later != nil {
		s.Later.Add(host)
		return nil
	}
	return s.sweep(ctx, host)
}

func (s *Sweeper) sweep(ctx context.Context, host string) error {
	if s.Looks && s.Leases.Address(ctx, host) != "" {
		return nil
	}
	current, err := s.Zone.Lookup(ctx, host)
	if err != nil || current == "" {
		return err
	}
	return s.Zone.Replace(ctx, host, current, "")
}

// Run deletes what Reconcile has left for later, until the context ends.
func (s *Sweeper) Run(ctx context.Context) {
	for {
		host, ok := s.Later.Take(ctx)
		if !ok {
			return
		}
		if err := s.sweep(ctx, host); err != nil && s.Retries {
			s.Later.Add(host)
		}
	}
}

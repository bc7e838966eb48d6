package leases

import (
	"context"
	"slices"
	"sync"
)

// Backlog is a queue of hosts in memory, each of which is in it once at most.
type Backlog struct {
	wake chan struct{}

	mu    sync.Mutex
	hosts []string
}

// NewBacklog returns an empty backlog.
func NewBacklog() *Backlog { return &Backlog{wake: make(chan struct{}, 1)} }

// Add adds a host at the end.
func (b *Backlog) Add(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.hosts, host) {
		b.hosts = append(b.hosts, host)
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Take removes the first host. It waits for one until the context ends; then it returns false.
func (b *Backlog) Take(ctx context.Context) (string, bool) {
	for {
		if host, ok := b.first(); ok {
			return host, true
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return "", false
		}
	}
}

func (b *Backlog) first() (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.hosts) == 0 {
		return "", false
	}
	host := b.hosts[0]
	b.hosts = b.hosts[1:]
	return host, true
}

// Hosts returns the hosts that are in the backlog, in their order.
func (b *Backlog) Hosts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts)
}

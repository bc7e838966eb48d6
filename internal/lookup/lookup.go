// Package lookup keeps code that runs in bubbles of testing/synctest from ending the process as it looks up names.
//
// Package net answers a look-up together with one of the same name that goes on already, whoever asks, and the runtime
// ends the process if the answer comes from the bubble of another run. So in a bubble no name server is asked: a
// look-up fails at once, for the same reason each time, and who knows that code looks up names can let it run alone.
package lookup

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/orrery-dev/orrery/internal/goroutine"
)

// Package is the import path of this package, for those who look for the caller on a stack.
const Package = "github.com/orrery-dev/orrery/internal/lookup"

// errOffline is the reason why a look-up in a bubble fails.
var errOffline = errors.New("no name server is asked while a controller is checked")

// seen tells that a name was looked up in a bubble.
var seen atomic.Bool

// Seen reports whether some code in a bubble has looked up a name that a name server would have been asked for. It may
// do so again.
func Seen() bool { return seen.Load() }

// Prepare has look-ups in bubbles fail from here on. The others go to the name servers as before, by the resolver of
// Go.
//
// It also has package net make the channels outside of all bubbles that it makes at the first use, and keeps. If the
// code of a run made them, that of the next one would use a channel of another bubble.
func Prepare() { once.Do(prepare) }

// There is one default resolver in a process.
var once sync.Once

func prepare() {
	nobody := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errOffline }}
	_, _ = nobody.LookupHost(context.Background(), "orrery.invalid")
	_, _ = net.DefaultResolver.LookupPort(context.Background(), "tcp", "http") // by the C library, where that is used
	net.DefaultResolver = &net.Resolver{PreferGo: true, StrictErrors: net.DefaultResolver.StrictErrors, Dial: dialer(net.DefaultResolver.Dial)}
}

// dialer returns how name servers are reached: as by another function, the usual one if it is nil, but not from a
// bubble.
func dialer(otherwise func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	if otherwise == nil {
		otherwise = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if goroutine.Bubble() == 0 {
			return otherwise(ctx, network, address)
		}
		seen.Store(true)
		return nil, errors.Join(errOffline, send())
	}
}

// send sends a packet to nobody, so that code that looks up a name still does what can be counted, and seen in a trace:
// it is no function of what it was told.
func send() error {
	nobody, err := net.Dial("udp", "127.0.0.1:9") // where packets are discarded
	if err != nil {
		return err
	}
	_, _ = nobody.Write([]byte{0}) // what becomes of it is nothing to anybody
	return nobody.Close()
}

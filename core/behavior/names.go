package behavior

import (
	"context"
	"errors"
	"net"
)

// Prepare has the standard library make outside of all bubbles what it makes at the first use, and keeps: the channels of package net by which names are looked up. If the code of
// a run made them, that of the next one would use a channel of another bubble, and the runtime ends the process then. Nobody is asked for a name.
func Prepare() {
	offline := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("nobody is asked")
	}}
	_, _ = offline.LookupHost(context.Background(), "orrery.invalid")
	_, _ = net.DefaultResolver.LookupPort(context.Background(), "tcp", "http") // by the C library, where that is used
}

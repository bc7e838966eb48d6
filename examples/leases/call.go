package leases

import (
	"fmt"

	"github.com/orrery-dev/orrery/core"
)

// verb is what a call asks for.
type verb string

const (
	lease   verb = "read the lease of" // read the lease of a host from the cache
	lookup  verb = "look up"           // read the record of a host from the zone
	replace verb = "update"            // replace the record of a host, see Zone.Replace
	assign  verb = "assign"            // what the DHCP server does: give a host a lease, or end it
)

// call is a call of the controllers, or of the DHCP server.
type call struct {
	verb     verb
	host     string
	from, to string
}

// Identity implements [core.Call].
func (c call) Identity() string { return fmt.Sprintf("%s %q %q %q", c.verb, c.host, c.from, c.to) }

// String implements [core.Call].
func (c call) String() string {
	switch {
	case c.verb == replace && c.from == "":
		return fmt.Sprintf("create record %s with %s", c.host, c.to)
	case c.verb == replace && c.to == "":
		return fmt.Sprintf("delete record %s with %s", c.host, c.from)
	case c.verb == replace:
		return fmt.Sprintf("update record %s from %s to %s", c.host, c.from, c.to)
	case c.verb == assign && c.to == "":
		return "end the lease of " + c.host
	case c.verb == assign:
		return fmt.Sprintf("lease %s to %s", c.to, c.host)
	}
	return fmt.Sprintf("%s %s", c.verb, c.host)
}

// Source implements [core.Call].
func (c call) Source() core.Source {
	if c.verb == lease {
		return core.Cached
	}
	return core.Live
}

// answer is the response to any call.
type answer struct {
	// address is what a read returns, empty if there is none.
	address string
	// err is the error that the caller gets, empty if the call succeeds.
	err string
	// done tells that the call is no read, and succeeds.
	done bool
}

// Identity implements [core.Response].
func (a answer) Identity() string { return fmt.Sprintf("%q %q %t", a.address, a.err, a.done) }

// String implements [core.Response].
func (a answer) String() string {
	switch {
	case a.err != "":
		return a.err
	case a.done:
		return "ok"
	case a.address == "":
		return "none"
	}
	return a.address
}

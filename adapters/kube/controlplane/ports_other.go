//go:build !unix

package controlplane

import (
	"fmt"
	"net"
)

// ports are ports of the loopback interface that nobody listened on. Nothing keeps others from taking them before they
// are used.
type ports struct{}

// reserve chooses a port.
func (p *ports) reserve() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("choose a port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// release has nothing to let go of.
func (p *ports) release() {}

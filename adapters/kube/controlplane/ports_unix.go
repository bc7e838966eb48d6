//go:build unix

package controlplane

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ports are ports of the loopback interface, which are kept for programs to come: sockets are bound to them, and listen
// to nobody. A program that shares ports (SO_REUSEPORT) can listen there, and no other one can.
type ports struct{ sockets []int }

// reserve reserves a port that the system chooses.
func (p *ports) reserve() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("reserve a port: %w", err)
	}
	unix.CloseOnExec(socket)
	p.sockets = append(p.sockets, socket)
	if err := errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	); err != nil {
		return 0, fmt.Errorf("reserve a port: %w", err)
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("reserve a port: %w", err)
	}
	return bound.(*unix.SockaddrInet4).Port, nil
}

// release lets go of the ports.
func (p *ports) release() {
	for _, socket := range p.sockets {
		_ = unix.Close(socket) // nothing was sent over it
	}
	p.sockets = nil
}

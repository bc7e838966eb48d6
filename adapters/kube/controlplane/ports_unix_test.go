//go:build unix

package controlplane

import (
	"context"
	"net"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPortsAreKept wants ports that nobody else can listen on, and on which who shares them is reached.
func TestPortsAreKept(t *testing.T) {
	var p ports
	defer p.release()
	var reserved []int
	for range 20 {
		port, err := p.reserve()
		if err != nil {
			t.Fatal(err)
		}
		reserved = append(reserved, port)
	}
	distinct := slices.Clone(reserved)
	slices.Sort(distinct)
	if len(slices.Compact(distinct)) != len(reserved) || slices.Contains(reserved, 0) {
		t.Errorf("ports %v", reserved)
	}
	if listener, err := net.Listen("tcp", address(reserved[0])); err == nil {
		_ = listener.Close()
		t.Error("somebody else can take a port that is reserved")
	}
	sharing := net.ListenConfig{Control: func(_, _ string, connection syscall.RawConn) error {
		var failed error
		return errorsOf(connection.Control(func(socket uintptr) {
			failed = unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}), &failed)
	}}
	listener, err := sharing.Listen(context.Background(), "tcp", address(reserved[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for range 20 { // each connection comes to who listens
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
		_ = accepted.Close()
	}
	p.release()
	if again, err := net.Listen("tcp", address(reserved[1])); err != nil {
		t.Errorf("a port is not released: %v", err)
	} else {
		_ = again.Close()
	}
}

// errorsOf returns the first error of two.
func errorsOf(err error, other *error) error {
	if err != nil {
		return err
	}
	return *other
}

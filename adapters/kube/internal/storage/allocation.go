package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/core"
)

// A Service gets an address and ports that no other has. Which ones is a function of
// its name, and of what others hold: the first free one from where the hash of the
// name points. For each that is held there is a record, of the kind below.
const AllocationKind core.Kind = "service allocation"

// The addresses are those of 10.0.0.0/24, without the lowest ones, which are left to
// those who ask for them.
const (
	AddressPrefix = "10.0.0."
	firstAddress  = 16
	lastAddress   = 254

	FirstNodePort = 30000
	LastNodePort  = 32767
)

// AllocationKey is the key of the record that an address or a port is held.
func AllocationKey(name string) core.Key { return core.Key{Kind: AllocationKind, Name: name} }

// PortName is the name of a port in records.
func PortName(port int32) string { return strconv.Itoa(int(port)) }

// allocations are the names of the addresses and ports that a Service holds.
func allocations(kind core.Kind, o *Object) []string {
	if kind != kinds.Service {
		return nil
	}
	s := &corev1.Service{}
	if err := jsontree.Into(o.Tree, s); err != nil {
		panic("kube: a stored Service cannot be read: " + err.Error())
	}
	return AllocationsOf(s)
}

// AllocationsOf are the names of the addresses and ports that a Service holds.
func AllocationsOf(s *corev1.Service) []string {
	var names []string
	if HasClusterIP(s) && s.Spec.ClusterIP != corev1.ClusterIPNone {
		names = append(names, s.Spec.ClusterIPs...)
	}
	seen := map[int32]bool{0: true}
	for _, p := range s.Spec.Ports {
		if !seen[p.NodePort] {
			names = append(names, PortName(p.NodePort))
		}
		seen[p.NodePort] = true
	}
	if p := s.Spec.HealthCheckNodePort; !seen[p] {
		names = append(names, PortName(p))
	}
	return names
}

// A Service of another name looks elsewhere first: there it finds its address if no other is in the way, and its ports,
// one after the other. What is further from the start was asked for.
const (
	nearAddresses = 1
	nearPorts     = 8
)

// moved is what the Service of another key gets of the numbers from first to last where that of a key got n. What is
// near one start and what is near the other change places, so that no two numbers become one.
func moved(n, first, last, near int, from, to core.Key) int {
	if n < first || n > last {
		return n
	}
	count := last - first + 1
	here, there := startOf(from, count), startOf(to, count)
	for _, move := range []struct{ from, to int }{{here, there}, {there, here}} {
		if distance := (n - first - move.from + count) % count; distance < near {
			return first + (move.to+distance)%count
		}
	}
	return n
}

// MovedPort is the port of the Service of another key where that of a key has this one.
func MovedPort(port int, from, to core.Key) int {
	return moved(port, FirstNodePort, LastNodePort, nearPorts, from, to)
}

// MovedAllocation is the same for an address or a port by its name. Other texts are returned as they are.
func MovedAllocation(name string, from, to core.Key) string {
	number, isAddress := strings.CutPrefix(name, AddressPrefix)
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return name
	case isAddress:
		return AddressPrefix + strconv.Itoa(moved(n, firstAddress, lastAddress, nearAddresses, from, to))
	}
	return strconv.Itoa(MovedPort(n, from, to))
}

// HasClusterIP reports whether a Service is to have an address in the cluster.
func HasClusterIP(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }

// ErrPortTaken is what a server says of a port that another Service has.
var ErrPortTaken = errors.New("provided port is already allocated")

// Allocator finds what is free for one Service.
type Allocator struct {
	Key   core.Key
	State core.Snapshot
	// Held is what the Service has so far.
	Held map[string]bool
	// Addressed tells that it has its address for good.
	Addressed bool
}

func (a *Allocator) free(name string) bool {
	return !a.Held[name] && a.State.Get(AllocationKey(name)) == nil
}

// Take holds what was asked for, and returns false if another Service has it.
func (a *Allocator) Take(name string) bool {
	if a.Held[name] {
		return true
	}
	if !a.free(name) {
		return false
	}
	a.Held[name] = true
	return true
}

// startOf is where a Service looks first for something that is free of a count.
func startOf(key core.Key, count int) int {
	sum := sha256.Sum256([]byte(key.String()))
	return int(binary.BigEndian.Uint32(sum[:4])) % count
}

// next finds the first that is free of those numbered from first to last, and holds
// it.
func (a *Allocator) next(first, last int, name func(int) string) (int, error) {
	count := last - first + 1
	start := startOf(a.Key, count)
	for i := range count {
		n := first + (start+i)%count
		if a.free(name(n)) {
			a.Held[name(n)] = true
			return n, nil
		}
	}
	return 0, errors.New("range is full")
}

// NextAddress finds a free address, and holds it.
func (a *Allocator) NextAddress() (string, error) {
	name := func(n int) string { return AddressPrefix + strconv.Itoa(n) }
	n, err := a.next(firstAddress, lastAddress, name)
	return name(n), err
}

// NextNodePort finds a free port, and holds it.
func (a *Allocator) NextNodePort() (int32, error) {
	n, err := a.next(FirstNodePort, LastNodePort, strconv.Itoa)
	return int32(n), err
}

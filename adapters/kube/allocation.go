package kube

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery/core"
)

// A Service gets an address and ports that no other has. Which ones is a function of
// its name, and of what others hold: the first free one from where the hash of the
// name points. For each that is held there is a record, of the kind below.
const allocationKind core.Kind = "service allocation"

// The addresses are those of 10.0.0.0/24, without the lowest ones, which are left to
// those who ask for them.
const (
	addressPrefix = "10.0.0."
	firstAddress  = 16
	lastAddress   = 254

	firstNodePort = 30000
	lastNodePort  = 32767
)

var errPortTaken = errors.New("provided port is already allocated")

func allocationKey(name string) core.Key { return core.Key{Kind: allocationKind, Name: name} }

func portName(port int32) string { return strconv.Itoa(int(port)) }

// allocations are the names of the addresses and ports that a Service holds.
func allocations(kind core.Kind, o *Object) []string {
	if kind != kindService {
		return nil
	}
	s := &corev1.Service{}
	if err := fromTree(o.tree, s); err != nil {
		panic("kube: a stored Service cannot be read: " + err.Error())
	}
	return allocationsOf(s)
}

func allocationsOf(s *corev1.Service) []string {
	var names []string
	if hasClusterIP(s) && s.Spec.ClusterIP != corev1.ClusterIPNone {
		names = append(names, s.Spec.ClusterIPs...)
	}
	seen := map[int32]bool{0: true}
	for _, p := range s.Spec.Ports {
		if !seen[p.NodePort] {
			names = append(names, portName(p.NodePort))
		}
		seen[p.NodePort] = true
	}
	if p := s.Spec.HealthCheckNodePort; !seen[p] {
		names = append(names, portName(p))
	}
	return names
}

// allocator finds what is free for one Service.
type allocator struct {
	key   core.Key
	state core.Snapshot
	// held is what the Service has so far.
	held map[string]bool
	// addressed tells that it has its address for good.
	addressed bool
}

func (a *allocator) free(name string) bool {
	return !a.held[name] && a.state.Get(allocationKey(name)) == nil
}

// take holds what was asked for, and returns false if another Service has it.
func (a *allocator) take(name string) bool {
	if a.held[name] {
		return true
	}
	if !a.free(name) {
		return false
	}
	a.held[name] = true
	return true
}

// next finds the first that is free of those numbered from first to last, and holds
// it.
func (a *allocator) next(first, last int, name func(int) string) (int, error) {
	count := last - first + 1
	sum := sha256.Sum256([]byte(a.key.String()))
	start := int(binary.BigEndian.Uint32(sum[:4])) % count
	for i := range count {
		n := first + (start+i)%count
		if a.free(name(n)) {
			a.held[name(n)] = true
			return n, nil
		}
	}
	return 0, errors.New("range is full")
}

func (a *allocator) nextAddress() (string, error) {
	name := func(n int) string { return addressPrefix + strconv.Itoa(n) }
	n, err := a.next(firstAddress, lastAddress, name)
	return name(n), err
}

func (a *allocator) nextNodePort() (int32, error) {
	n, err := a.next(firstNodePort, lastNodePort, strconv.Itoa)
	return int32(n), err
}

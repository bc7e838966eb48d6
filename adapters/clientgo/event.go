package clientgo

import (
	"net/http"
	"reflect"
	"sync"
	"unsafe"

	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"

	"github.com/orrery-dev/orrery/adapters/kube/transport"
)

// eventless is a network that loses the events that controllers record. They are for people to read: nothing that is
// checked depends on them.
type eventless struct {
	network http.RoundTripper
	of      *Environment
}

// WrappedRoundTripper returns the network, for those who look for what is behind a transport.
func (n eventless) WrappedRoundTripper() http.RoundTripper { return n.network }

// RoundTrip implements [http.RoundTripper].
func (n eventless) RoundTrip(sent *http.Request) (*http.Response, error) {
	if n.of.probe != nil {
		return n.of.probe.RoundTrip(sent)
	}
	if !transport.RecordsEvent(sent) {
		return n.network.RoundTrip(sent)
	}
	return transport.Drop(sent)
}

// broadcasters finds event broadcasters. It keeps what it has found out about types, as set-ups are run again and
// again. It may be used by several goroutines, and the zero value knows no types.
type broadcasters struct{ types sync.Map }

// leading is where values of a type may lead to a broadcaster.
type leading struct {
	// pointer tells that a pointer to a value of the type is one.
	pointer bool
	// fields are those of a struct that may lead there.
	fields []int
}

// shutDown shuts down the event broadcasters that can be reached from a controller, as main.go does in the end. One
// that belongs to no run would be started in one: its goroutines, which are outside of the bubble of the run, must not
// wait for it.
func (b *broadcasters) shutDown(controller any) {
	const deepest = 6
	seen := map[unsafe.Pointer]bool{}
	var look func(v reflect.Value, depth int)
	look = func(v reflect.Value, depth int) {
		switch v.Kind() {
		case reflect.Interface:
			look(v.Elem(), depth)
		case reflect.Pointer:
			if v.IsNil() || depth == deepest || seen[v.UnsafePointer()] {
				return
			}
			seen[v.UnsafePointer()] = true
			if of := v.Type().Elem(); b.leading(of).pointer {
				shutDown(reflect.NewAt(of, v.UnsafePointer()).Interface())
				return
			}
			look(v.Elem(), depth+1)
		case reflect.Struct:
			for _, i := range b.leading(v.Type()).fields {
				look(v.Field(i), depth)
			}
		}
	}
	look(reflect.ValueOf(controller), 0)
}

// shutDown shuts down an event broadcaster.
func shutDown(broadcaster any) {
	switch b := broadcaster.(type) {
	case record.EventBroadcaster:
		b.Shutdown()
	case events.EventBroadcaster:
		b.Shutdown()
	}
}

// leading returns where values of a type may lead to.
func (b *broadcasters) leading(t reflect.Type) *leading {
	if known, ok := b.types.Load(t); ok {
		return known.(*leading)
	}
	pointer := reflect.PointerTo(t)
	l := &leading{pointer: pointer.Implements(reflect.TypeFor[record.EventBroadcaster]()) || pointer.Implements(reflect.TypeFor[events.EventBroadcaster]())}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if b.leads(t.Field(i).Type) {
				l.fields = append(l.fields, i)
			}
		}
	}
	b.types.Store(t, l)
	return l
}

// leads reports whether a value of a type may lead to a broadcaster.
func (b *broadcasters) leads(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer:
		return true
	case reflect.Struct:
		return len(b.leading(t).fields) > 0
	}
	return false
}

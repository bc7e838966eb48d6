package memory

import (
	"reflect"
	"slices"
	"unsafe"
)

// channel is the beginning of how the runtime lays out a channel, see hchan in runtime/chan.go. There is no other way
// to look at what waits in one without taking it out, which would wake those who send.
type channel struct {
	count, size     uint
	buffer          unsafe.Pointer
	element         uint16
	_               uint32
	_, _            unsafe.Pointer
	sendAt, receive uint
}

// waitingIn returns what waits in a channel that is not empty, in the order in which it would be received. It returns
// nothing if the channel is laid out in another way.
func waitingIn(v reflect.Value) []reflect.Value {
	c, t := (*channel)(v.UnsafePointer()), v.Type().Elem()
	if c.count != uint(v.Len()) || c.size != uint(v.Cap()) || uintptr(c.element) != t.Size() || c.receive >= c.size || c.buffer == nil {
		return nil
	}
	var all []reflect.Value
	for i := range c.count {
		at := (c.receive + i) % c.size
		all = append(all, reflect.NewAt(t, unsafe.Add(c.buffer, uintptr(at)*t.Size())).Elem())
	}
	return all
}

// seesChannels reports whether channels are laid out as is thought, as a version of Go may change that.
func seesChannels() bool {
	c := make(chan string, 3)
	for _, word := range []string{"", "b", "c"} {
		c <- word
	}
	<-c
	c <- "d"
	var found []string
	for _, v := range waitingIn(reflect.ValueOf(c)) {
		found = append(found, v.String())
	}
	return slices.Equal(found, []string{"b", "c", "d"})
}

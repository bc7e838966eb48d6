package memory

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// controller is what an instance may look like.
type controller struct {
	*http.Client // infrastructure
	base
	seen    map[string]bool
	tries   []int
	last    time.Time
	started bool
	mu      sync.Mutex
	again   *controller
	known   *sync.Map
	work    chan int
	do      func()
	latest  atomic.Pointer[base]
	waiting map[chan int]bool
}

type base struct{ name string }

func TestOf(t *testing.T) {
	c := &controller{
		Client: http.DefaultClient, base: base{"a"}, seen: map[string]bool{"default/a": true}, tries: []int{3},
		last: time.Unix(0, 0).UTC(), started: true, mu: sync.Mutex{}, known: new(sync.Map), work: make(chan int, 1), do: func() {},
	}
	c.again = c
	c.latest.Store(&base{"b"})
	c.waiting = map[chan int]bool{make(chan int): true}
	c.known.Store("k", 7)
	c.work <- 1
	want := map[string]string{
		"controller.name": "a", "controller.seen": "1", "controller.seen[default/a]": "true", "controller.tries": "1", "controller.tries[0]": "3",
		"controller.last": "1970-01-01 00:00:00 +0000 UTC", "controller.started": "true", "controller.again": "false", "controller.latest.name": "b",
		"controller.waiting": "1", "controller.waiting[chan]": "true", "controller.known[k]": "7",
		"controller.work": "1", "int": "5",
	}
	got := Of(c, 5)
	if maps.Equal(got, want) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != want[name] {
			t.Errorf("%s is %q, want %q", name, got[name], want[name])
		}
	}
	for name := range want {
		if _, found := got[name]; !found {
			t.Errorf("%s is not found", name)
		}
	}
}

// A key of a map tells memories apart even if there is nothing to look into behind it.
func TestOfSets(t *testing.T) {
	type controller struct {
		seen    map[string]struct{}
		running map[string]func()
		clients map[string]*http.Client
	}
	c := &controller{seen: map[string]struct{}{"a": {}}, running: map[string]func(){"b": func() {}}, clients: map[string]*http.Client{"c": http.DefaultClient}}
	want := map[string]string{
		"controller.seen": "1", "controller.seen[a]": "set", "controller.running": "1", "controller.running[b]": "set",
		"controller.clients": "1", "controller.clients[c]": "set",
	}
	if got := Of(c); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What cannot be reached is not looked for, and nothing is no memory.
func TestOfNothing(t *testing.T) {
	var none *controller
	if got := Of(none, nil); len(got) > 1 {
		t.Errorf("got %v", got)
	}
}

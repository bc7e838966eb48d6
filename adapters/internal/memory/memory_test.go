package memory

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientcache "k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery/core"
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
		"controller.last": "1970-01-01 00:00:00 +0000 UTC", "controller.started": "true", "controller.again": "that of controller", "controller.latest.name": "b",
		"controller.waiting": "1", "controller.waiting[chan]": "true", "controller.known[k]": "7",
		"controller.work": "1", "controller.work[0]": "1", "int": "5",
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

// TestOfKeys looks into maps whose keys come to the same text, lead back to themselves, or have nothing behind them in
// a map for several goroutines: each is there, under the same name each time.
func TestOfKeys(t *testing.T) {
	type node struct {
		name   string
		parent *node
		ways   [2]*node
	}
	root := &node{name: "root"}
	root.parent, root.ways = root, [2]*node{root, {name: "leaf", parent: root}}
	type controller struct {
		mixed  map[any]string
		shared sync.Map
		nodes  map[*node]int
	}
	for range 20 { // as the order of maps is another one each time
		c := &controller{mixed: map[any]string{1: "a number", "1": "a text", int8(1): "a short number"}, nodes: map[*node]int{root: 3}}
		c.shared.Store("b", struct{}{})
		c.shared.Store("a", root)
		c.shared.Store("c", root)
		want := map[string]string{
			"controller.mixed": "3", "controller.mixed[1]": "a number", "controller.mixed[1]#2": "a short number", "controller.mixed[1]#3": "a text",
			"controller.nodes": "1", "controller.nodes[root/pointer/pointer/leaf/pointer/nil/nil]": "3",
			"controller.shared[a].name": "root", "controller.shared[a].parent": "that of controller.shared[a]",
			"controller.shared[a].ways": "2", "controller.shared[a].ways[0]": "that of controller.shared[a]",
			"controller.shared[a].ways[1].name": "leaf", "controller.shared[a].ways[1].parent": "that of controller.shared[a]",
			"controller.shared[a].ways[1].ways": "2", "controller.shared[a].ways[1].ways[0]": "nil", "controller.shared[a].ways[1].ways[1]": "nil",
			"controller.shared[b]": "set", "controller.shared[c]": "that of controller.shared[a]",
		}
		if got := Of(c); !maps.Equal(got, want) {
			t.Fatal(differences(got, want))
		}
	}
}

// What an interface of infrastructure holds need not be infrastructure.
func TestOfInterfaces(t *testing.T) {
	type controller struct{ handler http.Handler }
	if got := Of(&controller{served{3}}); got["controller.handler.count"] != "3" {
		t.Errorf("got %v", got)
	}
	if got := Of(&controller{&served{}}); got["controller.handler"] != "zero" {
		t.Errorf("got %v", got)
	}
}

// served is a handler of requests that keeps something.
type served struct{ count int }

// ServeHTTP implements [http.Handler].
func (served) ServeHTTP(http.ResponseWriter, *http.Request) {}

// counting and waiting are parts of an instance.
type (
	counting struct{ n int }
	waiting  struct{ n int }
)

// TestOfLists wants the elements of a list of several types to be named by their types, so that what a set-up leaves to
// chance is where they are, and nothing else. Where they are is seen all the same.
func TestOfLists(t *testing.T) {
	shared := &counting{7}
	type instance struct {
		parts []any
		alike []any
	}
	of := func(parts ...any) map[string]string {
		return Of(&instance{parts, []any{&counting{3}, &counting{4}}})
	}
	want := map[string]string{
		"instance.parts": "3", "instance.parts[]": "memory.counting memory.waiting memory.counting", "instance.parts[memory.counting].n": "1",
		"instance.parts[memory.counting]#2.n": "5", "instance.parts[memory.waiting].n": "2",
		"instance.alike": "2", "instance.alike[0].n": "3", "instance.alike[1].n": "4",
	}
	if got := of(&counting{1}, &waiting{2}, &counting{5}); !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	type sharing struct{ of *counting }
	one, other := of(&waiting{2}, shared, nil, &sharing{shared}), of(&sharing{shared}, nil, shared, &waiting{2})
	delete(one, "instance.parts[]")
	delete(other, "instance.parts[]")
	if one["instance.parts[memory.waiting].n"] != "2" || !maps.Equal(one, other) {
		t.Errorf("%q and, in another order, %q", one, other)
	}
}

// What waits in a channel is seen in the order in which it would be received, whatever it is, and stays there.
func TestOfChannels(t *testing.T) {
	type event struct {
		name  string
		extra *base
	}
	type controller struct {
		events chan event
		out    <-chan event
		full   chan struct{}
		empty  chan string
	}
	events := make(chan event, 3)
	for _, name := range []string{"gone", "a", "b"} {
		events <- event{name, &base{"of " + name}}
	}
	<-events
	events <- event{name: "c"}
	c := &controller{events: events, out: events, full: make(chan struct{}, 2), empty: make(chan string)}
	c.full <- struct{}{}
	c.full <- struct{}{}
	got := Of(c)
	want := map[string]string{"controller.events": "3", "controller.full": "2", "controller.empty": "0", "controller.out": "3"}
	for i, name := range []string{"a", "b", "c"} {
		for _, field := range []string{"events", "out"} {
			at := fmt.Sprintf("controller.%s[%d]", field, i)
			want[at+".name"] = name
			switch {
			case name == "c":
				want[at+".extra"] = "nil"
			case field == "out": // seen before
				want[at+".extra"] = fmt.Sprintf("that of controller.events[%d].extra", i)
			default:
				want[at+".extra.name"] = "of " + name
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if first := <-events; first.name != "a" || len(events) != 2 {
		t.Errorf("%v was received first, and %d are left", first, len(events))
	}
}

// Which of several things a pointer is to makes a difference, also where it is seen that way for the second time.
func TestOfOneOfSeveral(t *testing.T) {
	type controller struct {
		all    map[string]*base
		latest *base
	}
	a, b := &base{"one"}, &base{"one"}
	c := &controller{all: map[string]*base{"a": a, "b": b}}
	for want, latest := range map[string]*base{"nil": nil, "that of controller.all[a]": a, "that of controller.all[b]": b} {
		c.latest = latest
		if got := Of(c)["controller.latest"]; got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
	c.latest = &base{"one"}
	if got := Of(c)["controller.latest.name"]; got != "one" {
		t.Errorf("another one is %q", got)
	}
}

// What cannot be reached is not looked for, and nothing is no memory.
func TestOfNothing(t *testing.T) {
	var none *controller
	if got := Of(none, nil); len(got) > 1 {
		t.Errorf("got %v", got)
	}
}

// link is a part of a controller that has the next one behind an interface.
type link struct {
	next any
	kept map[string]map[string]bool
}

// TestOfWhatIsFarAway wants memory to be found behind several parts of a controller, each behind an interface.
func TestOfWhatIsFarAway(t *testing.T) {
	root := &link{kept: map[string]map[string]bool{"a": {"b": true}}}
	const parts = 6
	for range parts - 1 {
		root = &link{next: root}
	}
	path := "link.next.next.next.next.next.kept[a][b]"
	if all := Of(root); all[path] != "true" {
		t.Errorf("%s is not in %v", path, all)
	}
}

// TestOfStores wants what controllers put into stores of client-go to be found, as they note there what they expect.
// Informers of client-go are left out.
func TestOfStores(t *testing.T) {
	type expected struct {
		metav1.ObjectMeta
		name string
	}
	byName := func(v any) (string, error) { return v.(*expected).name, nil }
	a := &expected{metav1.ObjectMeta{Name: "a"}, "a"}
	type controller struct {
		store    clientcache.Store
		indexer  clientcache.Indexer
		expiring clientcache.Store
		informer clientcache.SharedIndexInformer
	}
	c := &controller{
		store:    clientcache.NewStore(byName),
		indexer:  clientcache.NewIndexer(byName, clientcache.Indexers{"all": func(any) ([]string, error) { return []string{"all"}, nil }}),
		expiring: clientcache.NewTTLStore(byName, time.Hour),
		informer: clientcache.NewSharedIndexInformer(nil, nil, 0, clientcache.Indexers{}),
	}
	fresh := Of(c)
	for name, store := range map[string]clientcache.Store{"store.cacheStorage": c.store, "indexer.cacheStorage": c.indexer, "expiring.cacheStorage": c.expiring, "informer": c.informer.GetStore()} {
		if err := store.Add(a); err != nil {
			t.Fatal(err)
		}
		way := "controller." + name + ".items[a]"
		if name == "expiring.cacheStorage" {
			way += ".Obj"
		}
		want := "a"
		if name == "informer" {
			want = ""
		}
		if got := Of(c)[way+".name"]; got != want {
			t.Errorf("%s is %q, want %q in %v", way, got, want, Of(c))
		}
		if err := store.Delete(a); err != nil {
			t.Fatal(err)
		}
		if now := Of(c); !maps.Equal(now, fresh) {
			t.Errorf("%s has left something behind: %v, before %v", name, now, fresh)
		}
	}
}

// TestFind looks for an informer of client-go, which is infrastructure, and does not look behind it.
func TestFind(t *testing.T) {
	type controller struct{ inside map[string]any }
	informer := clientcache.NewSharedIndexInformer(nil, nil, 0, clientcache.Indexers{})
	looked := 0
	named := func(name string) func(reflect.Value) bool {
		return func(v reflect.Value) bool {
			looked++
			return v.Kind() == reflect.Struct && v.Type().Name() == name
		}
	}
	c := &controller{inside: map[string]any{"a": &controller{}, "b": &controller{inside: map[string]any{"c": informer}}}}
	for name, want := range map[string]string{"sharedIndexInformer": "controller.inside[b].inside[c]", "cache": "", "nobody": "", "controller": "controller"} {
		if got := Find(named(name), c); got != want {
			t.Errorf("%s is found at %q, want %q", name, got, want)
		}
	}
	if looked == 0 {
		t.Error("nothing was looked at")
	}
}

// TestHeldLocks checks that a lock is memory as long as it is held, and that looking does not change it.
func TestHeldLocks(t *testing.T) {
	var guarded struct {
		lock  sync.Mutex
		table sync.RWMutex
	}
	for range 2 {
		if got := Of(&guarded); len(got) != 0 {
			t.Errorf("locks that nobody holds are %v", got)
		}
		guarded.lock.Lock()
		guarded.table.RLock()
		for range 2 {
			if got, want := Of(&guarded), map[string]string{".lock": core.Locked, ".table": core.ReadLocked}; !maps.Equal(got, want) {
				t.Errorf("the locks are %v, want %v", got, want)
			}
		}
		guarded.lock.Unlock()
		guarded.table.RUnlock()
		guarded.table.Lock()
		if got, want := Of(&guarded), map[string]string{".table": core.Locked}; !maps.Equal(got, want) {
			t.Errorf("the locks are %v, want %v", got, want)
		}
		guarded.table.Unlock()
	}
}

// TestTimesWithoutAddress looks at times and locks where Go has no address for them: they are what they are in
// variables.
func TestTimesWithoutAddress(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC)
	keeps := struct {
		expiry map[string]time.Time
		last   any
	}{map[string]time.Time{"a": at}, at}
	want := map[string]string{".expiry": "1", ".expiry[a]": at.String(), ".last": at.String()}
	if got := Of(&keeps); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOfData sees what is remembered as values of packages that are not looked into otherwise, and what is done once.
func TestOfData(t *testing.T) {
	type controller struct {
		at    *url.URL
		ip    net.IP
		addr  netip.Addr
		like  *regexp.Regexp
		raw   runtime.RawExtension
		once  sync.Once
		where http.Header
	}
	fresh := func() *controller { return &controller{} }
	for name, remember := range map[string]func(*controller, string){
		"at":    func(c *controller, text string) { c.at = &url.URL{Host: text} },
		"ip":    func(c *controller, text string) { c.ip = net.IP(text) },
		"addr":  func(c *controller, text string) { c.addr = netip.AddrFrom4([4]byte{text[0], 2, 3, 4}) },
		"like":  func(c *controller, text string) { c.like = regexp.MustCompile(text) },
		"raw":   func(c *controller, text string) { c.raw.Raw = []byte(text) },
		"where": func(c *controller, text string) { c.where = http.Header{"A": {text}} },
	} {
		one, same, other := fresh(), fresh(), fresh()
		remember(one, "a")
		remember(same, "a")
		remember(other, "b")
		if !maps.Equal(Of(one), Of(same)) || maps.Equal(Of(one), Of(other)) || maps.Equal(Of(one), Of(fresh())) {
			t.Errorf("%s is not told apart: %v and %v", name, Of(one), Of(other))
		}
	}
	done := fresh()
	done.once.Do(func() {})
	if Of(done)["controller.once"] != "done" || Of(fresh())["controller.once"] != "" {
		t.Errorf("what is done once is not seen: %v, and before %v", Of(done), Of(fresh()))
	}
}

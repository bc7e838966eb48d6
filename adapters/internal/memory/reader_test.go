package memory

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// keeper is a controller that keeps something in every way.
type keeper struct {
	name    string
	count   int
	next    *keeper
	any     any
	names   []string
	all     []*keeper
	few     [3]int
	of      map[string]*keeper
	within  map[string]map[int]part
	anyhow  map[any]any
	behind  map[*part]int
	shared  sync.Map
	lock    sync.Mutex
	reading sync.RWMutex
	pointer atomic.Pointer[part]
	value   atomic.Value
	waits   chan string
	since   time.Time
	client  *http.Client
	server  any
}

type part struct {
	text  string
	count *int
}

// TestReader changes what a controller keeps, in every way, and reads after each change what is found from the
// beginning.
func TestReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, text := rapid.IntRange(0, 2), rapid.SampledFrom([]string{"", "a", "b"})
		keepers := []*keeper{{}, {}, {}}
		held := new(part)
		for i, k := range keepers {
			k.waits, k.of, k.within = make(chan string, 2), map[string]*keeper{}, map[string]map[int]part{}
			k.anyhow, k.behind = map[any]any{}, map[*part]int{}
			k.next, k.client, k.server = keepers[(i+1)%3], &http.Client{}, &http.Client{}
		}
		// Texts are made anew, so that one may come to be where another one was.
		draw := func() string { return strings.Clone(text.Draw(t, "text")) + string(rune('0'+number.Draw(t, "digit"))) }
		made := func() part { n := number.Draw(t, "count"); return part{draw(), &n} }
		changes := []func(k *keeper){
			func(*keeper) {},
			func(*keeper) { runtime.GC() },
			func(k *keeper) { k.name = draw() },
			func(k *keeper) { k.count = number.Draw(t, "count") },
			func(k *keeper) { k.next = keepers[number.Draw(t, "next")] },
			func(k *keeper) { k.next = nil },
			func(k *keeper) { k.any = draw() },
			func(k *keeper) { p := made(); k.any = &p },
			func(k *keeper) { k.any = map[string]int{draw(): number.Draw(t, "count")} },
			func(k *keeper) { k.names = append(k.names, draw()) },
			func(k *keeper) {
				if len(k.names) > 0 {
					k.names[0] = draw()
				}
			},
			func(k *keeper) { k.all = append(k.all, &keeper{count: number.Draw(t, "count")}) },
			func(k *keeper) {
				if len(k.all) > 0 {
					k.all[0].name = draw()
				}
			},
			func(k *keeper) { k.few[1] = number.Draw(t, "count") },
			func(k *keeper) { k.of[draw()] = keepers[number.Draw(t, "next")] },
			func(k *keeper) { delete(k.of, draw()) },
			func(k *keeper) {
				name := draw()
				if k.within[name] == nil {
					k.within[name] = map[int]part{}
				}
				k.within[name][number.Draw(t, "key")] = made()
			},
			func(k *keeper) {
				for _, parts := range k.within {
					for _, p := range parts {
						*p.count = number.Draw(t, "count")
					}
				}
			},
			func(k *keeper) { k.anyhow[draw()] = made() },
			func(k *keeper) { k.anyhow[number.Draw(t, "key")] = draw() },
			func(k *keeper) { k.behind[held] = number.Draw(t, "count") },
			func(*keeper) { held.text = draw() },
			func(k *keeper) { k.shared.Store(draw(), number.Draw(t, "count")) },
			func(k *keeper) { k.shared.Store("held", held) },
			func(k *keeper) { k.shared.Delete("held") },
			func(k *keeper) { k.shared.Clear() },
			func(k *keeper) {
				if !k.lock.TryLock() {
					k.lock.Unlock()
				}
			},
			func(k *keeper) {
				if !k.reading.TryRLock() {
					k.reading.Unlock()
				}
			},
			func(k *keeper) { p := made(); k.pointer.Store(&p) },
			func(k *keeper) { k.value.Store(draw()) },
			func(k *keeper) {
				select {
				case k.waits <- draw():
				default:
					<-k.waits
				}
			},
			func(k *keeper) { k.since = time.Unix(int64(number.Draw(t, "second")), 0) },
			func(k *keeper) { k.client = new(http.Client) },
			func(k *keeper) { k.server.(*http.Client).Timeout = time.Duration(number.Draw(t, "count")) },
		}
		var reader Reader
		counted := Requeues{}
		for range rapid.IntRange(2, 12).Draw(t, "changes") {
			changes[rapid.IntRange(0, len(changes)-1).Draw(t, "change")](keepers[number.Draw(t, "keeper")])
			if number.Draw(t, "requeues") == 2 {
				counted[draw()]++
			}
			roots := []any{Named{"one", keepers[0]}, keepers[1], counted}
			if want, got := Of(roots...), reader.Of(roots...); !maps.Equal(got, want) {
				t.Fatalf("got %s", differences(got, want))
			}
		}
	})
}

// differences says where two memories differ.
func differences(got, want map[string]string) string {
	var all []string
	for path := range want {
		if got[path] != want[path] {
			all = append(all, fmt.Sprintf("%s is %q, want %q", path, got[path], want[path]))
		}
	}
	for path := range got {
		if _, there := want[path]; !there {
			all = append(all, path+" is not there")
		}
	}
	return strings.Join(all, ", ")
}

// TestReaderReadsOnce reads what has not changed no more: what could not be seen to change would be found as it was.
func TestReaderReadsOnce(t *testing.T) {
	k := &keeper{name: "a", names: []string{"b"}, of: map[string]*keeper{"c": {}}, waits: make(chan string, 1), client: http.DefaultClient}
	k.shared.Store("d", 1)
	var reader Reader
	for range 3 {
		reader.Of(k)
	}
	if reader.kept == nil {
		t.Fatal("what was read is not kept")
	}
	reader.found["mark"] = "not read again"
	if reader.Of(k)["mark"] == "" {
		t.Error("it was read again")
	}
	delete(reader.Of(k), "mark")
	if reader.Of(k)["mark"] == "" {
		t.Error("who changes what is returned changes what is kept")
	}
	if reader.Of(k, k)["mark"] != "" {
		t.Error("other roots are taken for the same")
	}
	k.waits <- "e"
	if got := reader.Of(k); got["mark"] != "" || got["keeper.waits"] != "1" {
		t.Errorf("a change was not seen: %v", got)
	}
}

// BenchmarkReader compares a look at what has not changed with one from the beginning.
func BenchmarkReader(b *testing.B) {
	k := &keeper{of: map[string]*keeper{}}
	for i := range 60 {
		k.of[fmt.Sprint(i)] = &keeper{names: []string{"a", "b", "c"}}
	}
	b.Run("again", func(b *testing.B) {
		var reader Reader
		for b.Loop() {
			reader.Of(k)
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			Of(k)
		}
	})
}

package explore

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/adapters/plain"
)

// TestMeter holds what is used against limits around it.
func TestMeter(t *testing.T) {
	var m meter
	used := m.memory()
	live := m.live()
	if used <= 0 || live <= 0 || live > used {
		t.Fatalf("%d bytes are used, and %d are live", used, live)
	}
	if now := m.reclaim(); now <= 0 {
		t.Errorf("behind a collection, %d bytes are used", now)
	}
	m.foreign = math.MinInt64
	if m.memory(); m.foreign == math.MinInt64 {
		t.Error("what is not of the Go runtime is not looked at")
	}
	live = m.live()
	// It looks at once, and then ten times a second.
	for _, now := range []struct {
		after time.Duration
		due   bool
	}{{0, true}, {99e6, false}, {100e6, true}, {150e6, false}, {260e6, true}, {300e6, false}, {359e6, false}, {360e6, true}} {
		if got := m.due(now.after); got != now.due {
			t.Errorf("after %s, it is time to look again: %t", now.after, got)
		}
	}
	const much = 1 << 50
	for _, test := range []struct {
		limit, memory int64
		want          bool
	}{
		{0, much, false}, {much, much - 1, false}, {much, much, true}, {much, much + 1, true},
		{m.foreign + live/5*8 - 16, 0, true}, {m.foreign + live/5*8 + 16, 0, false},
	} {
		m.limit = test.limit
		if got := m.full(test.memory); got != test.want {
			t.Errorf("with %d of %d bytes, %d of them live, it is full: %t", test.memory, test.limit, live, got)
		}
	}
	for _, test := range []struct {
		limit, bytes int64
		want         bool
	}{
		{0, much, true}, {much, 1 << 20, true}, {much, much, false}, {1, 1, false}, {4 * used, 16 * used, false}, {1 << 40, 1 << 39, true}, {used + 3<<40, 1 << 41, true}, {much, much - much/16, true},
	} {
		m.limit = test.limit
		if got := m.affords(test.bytes); got != test.want {
			t.Errorf("with a limit of %d bytes, it affords %d: %t", test.limit, test.bytes, got)
		}
	}
	for _, test := range []struct {
		limit, memory int64
		want          bool
	}{
		{much, much / 8 * 7, true}, {much, much/8*7 - 1, false},
	} {
		m.limit = test.limit
		if got := m.cramped(test.memory); got != test.want {
			t.Errorf("with %d of %d bytes after all was reclaimed, it is cramped: %t", test.memory, test.limit, got)
		}
	}
}

// TestReclaim drops much that was in use, and checks that it no longer counts.
func TestReclaim(t *testing.T) {
	const size = 64 << 20
	var m meter
	dropped := make([]byte, size)
	for i := range dropped {
		dropped[i] = 1
	}
	runtime.GC()
	before, live := m.memory(), m.live()
	runtime.KeepAlive(dropped)
	after := m.reclaim()
	if before-after < size/2 || live-m.live() < size/2 {
		t.Errorf("of %d MiB, %d of them live, %d and %d are left", before>>20, live>>20, after>>20, m.live()>>20)
	}
}

// TestHerald shows runs of code ten times a second, with how far the search has come, and how far it has come whenever
// it says so.
func TestHerald(t *testing.T) {
	var shown []Progress
	h := &herald{progress: func(p Progress) { shown = append(shown, p) }, began: time.Now()}
	for range 3 {
		h.ran()
	}
	h.searched(Progress{States: 5, Memory: 1})
	h.ran()
	h.meter.next = 0
	h.ran()
	if len(shown) != 3 {
		t.Fatalf("shown %d times, want 3: %+v", len(shown), shown)
	}
	for i, want := range []Progress{{Runs: 1}, {States: 5, Runs: 3}, {States: 5, Runs: 5}} {
		if got := shown[i]; got.States != want.States || got.Runs != want.Runs || got.Memory <= 0 {
			t.Errorf("%+v is shown, want %+v", got, want)
		}
	}
}

// TestProgressOfRuns wants progress to count the runs of code that is slow while the search comes nowhere.
func TestProgressOfRuns(t *testing.T) {
	model := grid(1)
	act := model.Processes[0].Actions[0].Do
	var counted atomic.Bool
	model.Processes[0].Actions[0].Do = func(w *plain.World) {
		if !counted.Load() {
			time.Sleep(2 * meterEvery)
		}
		act(w)
	}
	searchModel(t, model, Options{Progress: func(p Progress) {
		if p.States == 1 && p.Runs > 0 {
			counted.Store(true)
		}
	}})
	if !counted.Load() {
		t.Error("none was counted")
	}
}

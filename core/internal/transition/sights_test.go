package transition

import (
	"maps"
	"slices"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/memo"
	"github.com/orrery-dev/orrery/core/internal/memories"
)

// TestSights has what an active instance shows behind a run be remembered, as far as it is not what a fresh one shows,
// for the same run of the same memory.
func TestSights(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	web.Strategy = &nameless{}
	d := web.domain
	d.fresh = map[string]string{"same": "0", "changed": "1", "left": "2"}
	run := behavior.Run{Activation: behavior.Activation{Request: "r"}, Leaf: &behavior.Leaf{}}
	key := l.sight(web, run)
	l.Memo.Sights.Set(key, map[string]string{"changed": "3", "left": memories.Gone, "new": "4"})
	d.manner.Active = true
	want := map[string]string{"same": "0", "changed": "3", "new": "4"}
	if got, err := l.seen(web, nil, run); err != nil || !maps.Equal(got, want) || len(d.fresh) != 3 {
		t.Errorf("it shows %v, want %v: %v", got, want, err)
	}
	others := []func(){
		func() { run.Activation.Request = "s" }, func() { d.Name = "web+db" }, func() { d.manner.Of = "web" }, func() { d.manner.Ticks = true },
	}
	keys := []memo.Digest{key}
	for i, other := range others {
		other()
		if k := l.sight(web, run); slices.Contains(keys, k) {
			t.Errorf("change %d makes no difference", i)
		} else {
			keys = append(keys, k)
		}
	}
	// Of one that cannot be told apart from others, nothing is remembered.
	web.Strategy = nameless{}
	if k := l.sight(web, run); k != (memo.Digest{}) {
		t.Errorf("it is remembered as %x", k)
	}
}

// nameless is a strategy that cannot be compared.
type nameless struct {
	core.Strategy
	_ []int
}

// TestAwaitedInBackground has a process wait as long as time will bring something, if its later times are not searched.
func TestAwaitedInBackground(t *testing.T) {
	m, w := desk("web")
	web := m.Actors[0]
	it := &Item{Item: core.Item{Strategy: core.Background("web"), Request: "time"}, Actor: web, Standing: true, own: behavior.Waits, roots: []*behavior.Node{{}}}
	calls := &Item{Item: core.Item{Strategy: core.Background("web"), Request: "1"}, Actor: web, Standing: true, own: behavior.Works, roots: []*behavior.Node{{}}}
	m.Items = []*Item{it, calls}
	d := web.domain
	keep(m, d)
	it.its, calls.its = d.part(""), d.part("")
	for _, test := range []struct {
		time  bool
		waits string
		want  int
	}{{true, "", 0}, {false, "it waits", 0}, {true, "it waits", 1}} {
		d.rest, web.Waits.Why = []behavior.Rest{{Time: test.time, Calls: []string{"a"}}}, test.waits
		if got := w.Awaited(); len(got) != test.want || test.want > 0 && got[0] != it.Item {
			t.Errorf("where time will bring something: %t, and what it does is known to wait: %q, %v wait", test.time, test.waits, got)
		}
	}
}

package transition

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/state"
)

// book is a controller that keeps how often it was asked for each request, up to twice, and does something with that.
type book struct {
	asked map[core.Request]int
	// more is what it shows besides.
	more map[string]string
}

// booking returns a controller of two requests that are asked for twice each, with what else it does in a reconcile
// before it counts it, and what its event handlers do. Events are of notes "a" and "b", which it writes for the
// requests of the names.
func booking(reconcile func(b *book, w world, r core.Request), handle func(b *book, w world, e core.Event) []core.Request) *core.System {
	c := controller("c", func() core.Instance {
		b := &book{asked: map[core.Request]int{}, more: map[string]string{}}
		return mind{hand{reconcile: func(w world, r core.Request) core.Result {
			if reconcile != nil {
				reconcile(b, w, r)
			}
			b.asked[r] = min(2, b.asked[r]+1)
			w.put(string(r), strconv.Itoa(b.asked[r]))
			return core.Result{Requeue: b.asked[r] < 2}
		}, handle: func(w world, e core.Event) []core.Request {
			if handle == nil {
				return nil
			}
			return handle(b, w, e)
		}}, func() map[string]string {
			shown := map[string]string{"R.asked": strconv.Itoa(len(b.asked))}
			for r, n := range b.asked {
				shown["R.asked["+string(r)+"]"] = strconv.Itoa(n)
			}
			maps.Copy(shown, b.more)
			return shown
		}}
	})
	c.Initial, c.Watches, c.Sequential = []core.Request{"a", "b"}, []core.Kind{"note"}, true
	return lab([]core.Strategy{c})
}

// TestKeptByRequest has memory be one for each request until requests have something to do with each other in it, in
// whatever way.
func TestKeptByRequest(t *testing.T) {
	other := func(r core.Request) core.Request { return map[core.Request]core.Request{"a": "b", "b": "a"}[r] }
	for _, test := range []struct {
		name       string
		reconcile  func(b *book, w world, r core.Request)
		handle     func(b *book, w world, e core.Event) []core.Request
		conditions Conditions
		whole      bool
	}{
		{name: "it counts", whole: false},
		{name: "it counts, and it is known that this is about all requests", conditions: Conditions{Whole: []string{"c"}}, whole: true},
		{name: "it waits for times", conditions: Conditions{Awaiting: []string{"c"}, Deadlines: 1}, whole: true},
		{name: "events change what is kept for the request that they are about", handle: func(b *book, _ world, e core.Event) []core.Request {
			if r := core.Request(e.Key.Name); b.asked[r] == 1 {
				b.asked[r] = 2
			}
			return nil
		}},
		{name: "events enqueue the request that they are about by what is kept for it", handle: func(b *book, _ world, e core.Event) []core.Request {
			if r := core.Request(e.Key.Name); b.asked[r] == 1 {
				return []core.Request{r}
			}
			return nil
		}},
		{name: "events enqueue a request until something is kept for it", handle: func(b *book, _ world, e core.Event) []core.Request {
			if b.asked["a"] == 0 {
				return []core.Request{"a"}
			}
			return nil
		}},
		{name: "one place is changed for both", reconcile: func(b *book, _ world, r core.Request) { b.more["R.last"] = string(r) }, whole: true},
		{name: "all are counted", reconcile: func(b *book, _ world, _ core.Request) {
			n, _ := strconv.Atoi(b.more["R.all"])
			b.more["R.all"] = strconv.Itoa(min(3, n+1))
		}, whole: true},
		{name: "what is kept for another one is written", reconcile: func(b *book, w world, r core.Request) {
			w.put("of "+string(r), strconv.Itoa(b.asked[other(r)]))
		}, whole: true},
		{name: "what is kept for another one is forgotten", reconcile: func(b *book, _ world, r core.Request) {
			if b.asked[r] == 1 {
				delete(b.asked, other(r))
			}
		}, whole: true},
		{name: "an event is kept, whatever it is about", handle: func(b *book, _ world, e core.Event) []core.Request {
			b.more["R.seen["+e.Key.Name+"]"] = "yes"
			return nil
		}, whole: true},
		{name: "event handlers look", handle: func(_ *book, w world, e core.Event) []core.Request {
			w.get(e.Key.Name)
			return nil
		}, whole: true},
		{name: "an event enqueues another request by what is kept for one", handle: func(b *book, _ world, e core.Event) []core.Request {
			if r := core.Request(e.Key.Name); b.asked[r] == 2 {
				return []core.Request{other(r)}
			}
			return nil
		}, whole: true},
		{name: "an event changes what is kept for a request by what is kept for another one", handle: func(b *book, _ world, e core.Event) []core.Request {
			if b.asked["a"] == 2 && b.asked["b"] == 1 {
				b.asked["b"] = 2
			}
			return nil
		}, whole: true},
		{name: "event handlers take for granted that something is kept", handle: func(b *book, _ world, e core.Event) []core.Request {
			if b.asked[core.Request(e.Key.Name)] == 0 {
				panic("nobody has asked for it")
			}
			return nil
		}, whole: true},
		{name: "a run takes for granted that something is kept for another request", reconcile: func(b *book, _ world, r core.Request) {
			if r == "b" && b.asked["a"] == 0 {
				panic("nobody has asked for a")
			}
		}, whole: true},
	} {
		f := explored(t, booking(test.reconcile, test.handle), test.conditions)
		m := f.learner.Machine
		if len(m.remembering) != 1 {
			t.Errorf("%s: %d memories are put to use", test.name, len(m.remembering))
			continue
		}
		d := m.remembering[0]
		if d.byRequest == test.whole || (len(d.parts) == 1) != test.whole || m.Memories()[0].ByRequest != d.byRequest {
			t.Errorf("%s: it is kept by request: %t, in %d parts", test.name, d.byRequest, len(d.parts))
		}
		for _, incident := range f.learner.Incidents {
			if incident.Kind != core.Panicked || !strings.Contains(test.name, "for granted") {
				t.Errorf("%s: %v", test.name, incident)
			}
		}
		// As one memory it comes to the same.
		test.conditions.Whole = []string{"c"}
		one := explored(t, booking(test.reconcile, test.handle), test.conditions)
		if !slices.Equal(f.rests, one.rests) || len(f.states) != len(one.states) || len(f.learner.Incidents) != len(one.learner.Incidents) {
			t.Errorf("%s: there are %d states that come to %q, and %d to %q with one memory", test.name, len(f.states), f.rests, len(one.states), one.rests)
		}
	}
}

// TestParts has the parts of a memory be known by request, hold what is known to be held from the start on, and each
// memory be held for one request.
func TestParts(t *testing.T) {
	f := explored(t, booking(nil, nil), Conditions{})
	m := f.learner.Machine
	d := m.remembering[0]
	a := m.Actors[0]
	if d.part("a") == d.part("b") || d.part("a") != m.Item(a, "a").part() || d.part("nobody") != nil || len(d.memories) != 5 {
		t.Errorf("there are %d memories in %d parts", len(d.memories), len(d.parts))
	}
	late := m.Item(a, "late").part()
	if late == nil || late.number != 2 || len(m.MemoryCells()) != 3 || m.Vocabulary.Print(late.cell, 4) == m.Vocabulary.Print(d.part("a").cell, 4) {
		t.Errorf("the part of a request that comes later is %+v", late)
	}
	if before, now := (Recollection{1, 2}), NewWalker(m, nil).Recollection(); before.of(late) != 0 || before.of(d.part("b")) != 2 || len(now) != 3 {
		t.Errorf("of the part, %d was remembered before, and now %v", before.of(late), now)
	}
	for value, by := range d.owners[1:] {
		if !slices.Contains(d.owned[by], state.Value(1+value)) || len(d.owned[by]) != 2 {
			t.Errorf("for %s, %v are held", by, d.owned[by])
		}
	}
}

// TestEntries leaves out how many there are of what is told, too.
func TestEntries(t *testing.T) {
	got := entries(map[string]string{"R.seen": "2", "R.seen[a]": "1", "R.list": "1", "R.list[0].of": "1", "R.list[0].of[b]": "yes", "R.n": "1", "R.none": "0"})
	if want := []string{"R.list[0].of[b]", "R.n", "R.none", "R.seen[a]"}; !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("these are told: %v, want %v", got, want)
	}
}

// TestHeed has it be found out which events heed what is kept for which request, with all that may be, and be made use
// of by the next search.
func TestHeed(t *testing.T) {
	f := explored(t, booking(nil, func(b *book, _ world, e core.Event) []core.Request {
		if r := core.Request(e.Key.Name); b.asked[r] == 2 {
			return []core.Request{r}
		}
		return nil
	}), Conditions{})
	m, l := f.learner.Machine, f.learner
	a := m.Actors[0]
	w := NewWalker(m, l)
	forget := func() {
		for _, changes := range m.deliveries {
			for _, d := range changes {
				for i := range *d {
					(*d)[i].heeding = nil
				}
			}
		}
		m.Heeded = 0
	}
	forget()
	m.Searches = 1
	for range 2 { // the second time there is nothing new
		if err := w.Heed(); err != nil {
			t.Fatal(err)
		}
		events := 0
		for _, changes := range m.deliveries {
			for _, d := range changes {
				for i := range *d {
					h := &(*d)[i]
					events++
					for _, p := range a.domain.parts {
						own := p.request == core.Request(h.event.Key.Name)
						if m.Searches = 1; m.heeds(h, p) {
							t.Errorf("an event of %s heeds %s in the search that finds it out", h.event.Key, p.request)
						}
						if m.Searches = 2; m.heeds(h, p) != own {
							t.Errorf("an event of %s heeds %s: %t", h.event.Key, p.request, !own)
						}
						m.Searches = 1
					}
				}
			}
		}
		if m.Heeded != events || events == 0 {
			t.Errorf("%d things are heeded in %d events", m.Heeded, events)
		}
	}
	// Steps depend on what their events heed, besides what they begin with.
	for searches, want := range map[int]int{1: 1, 2: 1} {
		m.Searches = searches
		w.Load(f.rows[0])
		if chosen, err := w.Choose(core.Step{Kind: core.Reconcile, Item: core.Item{Strategy: "c", Request: "a"}}); err != nil || chosen == nil || len(w.Recalled) != want || w.Recalled[0] != a.domain.part("a").cell {
			t.Errorf("in search %d the step depends on %v: %v", searches, w.Recalled, err)
		}
	}
	forget()
	// All events are taken to heed what is kept for the only request, if anything is; and so they are what is too much
	// to be tried.
	d := a.domain
	parts := d.parts
	if d.parts = parts[:1]; w.Heed() != nil || m.Heeded == 0 {
		t.Error("what is kept for the only request is not heeded")
	}
	forget()
	d.parts = parts
	d.owned["a"] = slices.Repeat(d.owned["a"], mostTried)
	if err := w.Heed(); err != nil || m.Heeded == 0 {
		t.Errorf("what is too much to be tried is not heeded: %v", err)
	}
	for _, changes := range m.deliveries {
		for _, d := range changes {
			for i := range *d {
				if h := &(*d)[i]; len(h.heeding) == 0 || h.heeding[a.domain.part("a").index].since == 0 || h.heeding[a.domain.part("a").index].tried > 0 {
					t.Errorf("an event of %s tries too much", h.event.Key)
				}
			}
		}
	}
}

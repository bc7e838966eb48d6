package explore

import (
	"fmt"
	"testing"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
	"github.com/orrery-dev/orrery/core/internal/transition"
	"github.com/orrery-dev/orrery/core/state"
	"github.com/orrery-dev/orrery/core/view"
)

// TestFeed has event handlers get changes by how many of the kind there were: as their view shows them, one after the
// other or all at once, or as they are.
func TestFeed(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	pod, job := view.New(v, "web", "Pod", view.Lag(9)), view.New(v, "web", "Job", view.Relist())
	a := v.Object(core.Key{Kind: "Pod", Name: "a"})
	p := &transition.Process{Name: "web", Views: []*view.View{pod, job}}
	web := &transition.Actor{Description: core.Description{Name: "web", Watches: []core.Kind{"Pod", "Job", "Cron"}}, Process: p}
	p.Members = []*transition.Actor{web, {Description: core.Description{Name: "idle"}, Process: p}}
	m := &transition.Machine{Vocabulary: v, Processes: []*transition.Process{{}, p}, Actors: p.Members}
	w := transition.NewWalker(m, nil)
	w.Load(nil)
	f := newFeed()
	f.now.changes["Pod"], f.now.changes["Job"], f.now.changes["Cron"] = 7, 5, 3
	f.now.shown[pod], f.now.shown[job] = 4, 2
	event := func(kind core.Kind, name string, initial bool) string {
		e := f.event(web, core.Event{Key: core.Key{Kind: kind, Name: name}, Initial: initial}, 0)
		return fmt.Sprint(e.Controller, " ", e.Key(), " ", e.From, "-", e.To, " of ", e.Of)
	}
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("the event is %s, want %s", got, want)
		}
	}
	want(event("Pod", "a", true), "web Pod a 4-4 of 7")
	want(event("Cron", "a", true), "web Cron a 3-3 of 3")
	// Of seven changes two still wait behind the next one.
	backlog := state.Value(0)
	for range 2 {
		backlog = pod.Commit(backlog, view.Change{Cell: a})
	}
	w.Set(pod.Cell(), backlog)
	changes := []view.Change{{Cell: a}}
	f.refreshed(w, pod, 7, changes)
	want(event("Pod", "a", true), "web Pod a 5-5 of 7")
	want(event("Pod", "b", false), "web Pod b 5-5 of 7")
	want(event("Pod", "a", false), "web Pod a 4-5 of 7")
	want(event("Pod", "a", false), "web Pod a 5-5 of 7")
	// A list shows all that has changed at once.
	b := v.Object(core.Key{Kind: "Job", Name: "b"})
	f.refreshed(w, job, 5, []view.Change{{Cell: b}})
	want(event("Job", "b", false), "web Job b 2-5 of 5")
	if len(f.due) > 0 {
		t.Errorf("these are left: %+v", f.due)
	}
	// Two changes are shown at once, to whoever watches them.
	c := v.Object(core.Key{Kind: "Pod", Name: "c"})
	both := []*transition.Actor{{Description: core.Description{Name: "other", Watches: []core.Kind{"Pod"}}, Process: p}, web}
	p.Members = both
	f.refreshed(w, pod, 9, []view.Change{{Cell: a}, {Cell: c}})
	want(event("Pod", "c", false), "web Pod c 6-7 of 7")
	want(event("Pod", "a", false), "web Pod a 5-6 of 7")
	if len(f.due) != 2 || f.due[0].actor != both[0] || f.due[1].actor != both[0] {
		t.Errorf("these are left: %+v", f.due)
	}
	f.due, f.now.shown[pod] = nil, 5
	f.keep()
	f.refreshed(w, pod, 9, nil)
	if f.takeBack(); f.now.shown[pod] != 5 || f.now.changes["Pod"] != 7 {
		t.Errorf("it is not taken back: %+v", f.now)
	}
}

// TestLags counts how far views are behind: as many changes as wait, or, where a list shows all at once, as many as
// there were since.
func TestLags(t *testing.T) {
	v := state.NewVocabulary(func(_ core.Key, versions []core.Content, _ []bool) []core.Content { return versions })
	pod, job := view.New(v, "web", "Pod", view.Lag(9)), view.New(v, "web", "Job", view.Relist())
	a := v.Object(core.Key{Kind: "Pod", Name: "a"})
	p := &transition.Process{Name: "web", Views: []*view.View{pod, job}}
	web := &transition.Actor{Description: core.Description{Name: "web"}, Process: p}
	w := transition.NewWalker(&transition.Machine{Vocabulary: v, Processes: []*transition.Process{p}, Actors: []*transition.Actor{web}}, nil)
	w.Load(nil)
	l := newLags()
	expect := func(when, want string) {
		t.Helper()
		if got := fmt.Sprint(l.of(w, web)); got != want {
			t.Errorf("%s, the views are behind: %s, want %s", when, got, want)
		}
	}
	expect("at the start", "[]")
	l.committed(pod)
	expect("when a change was delivered", "[]")
	w.Set(pod.Cell(), pod.Commit(0, view.Change{Cell: a}))
	l.committed(pod)
	l.committed(job)
	expect("when one waits, and there was one since the list", "[{Pod 1 2} {Job 1 1}]")
	l.keep()
	l.committed(job)
	expect("when there were two", "[{Pod 1 2} {Job 2 2}]")
	l.takeBack()
	expect("when one is taken back", "[{Pod 1 2} {Job 1 1}]")
	l.refreshed(job)
	expect("when it is listed again", "[{Pod 1 2}]")
	l.committed(job)
	expect("behind that", "[{Pod 1 2} {Job 1 2}]")
}

// TestWritesAreDue has a write be due at once to those that keep memory and see the kind as it is: not to those that
// keep none, watch something else, or have a view that may be stale, which get it when that is refreshed.
func TestWritesAreDue(t *testing.T) {
	keeps := func(name string, watches ...core.Kind) hand {
		return hand{core.Description{Name: name, Watches: watches}, func() hired {
			return hired{memory: func() map[string]string { return nil }, reconcile: func(asks, core.Request) core.Result { return core.Result{} }}
		}}
	}
	c := Conditions{Remembering: []string{"fresh", "elsewhere", "stale"}, Staleness: []Staleness{{Controller: "stale", Rule: view.Lag(1)}}}
	l, err := transition.NewLearner(t.Context(), slateWith(nil, keeps("fresh", "Job", "Pod"), keeps("forgets", "Pod"), keeps("elsewhere", "Job"), keeps("stale", "Pod")), c, slateLimits, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed()
	a, b := core.Key{Kind: "Pod", Name: "a"}, core.Key{Kind: "Pod", Name: "b"}
	f.now.changes["Pod"] = 4
	f.wrote(l.Machine, []behavior.Write{{Key: a}, {Key: b}})
	var got []string
	for _, d := range f.due {
		got = append(got, fmt.Sprint(d.actor.Name, " ", d.key.Name, " ", d.from, "-", d.to))
	}
	if want := "[fresh a 4-5 fresh b 5-6]"; fmt.Sprint(got) != want || f.now.changes["Pod"] != 6 || f.now.changes["Job"] != 0 {
		t.Errorf("behind two writes, these are due: %v, want %s; the changes are %v", got, want, f.now.changes)
	}
	// What handlers write themselves comes behind their event, and so does what follows from that.
	fresh, other := l.Machine.Actors[0], l.Machine.Actors[1]
	expect := func(when string, who *transition.Actor, calls, wantOf, wantCalls int) {
		t.Helper()
		if e := f.event(who, core.Event{Key: a, Initial: true}, calls); e.Of != wantOf || e.Calls != wantCalls {
			t.Errorf("%s, handlers get their event behind %d changes and %d calls, want %d and %d", when, e.Of, e.Calls, wantOf, wantCalls)
		}
	}
	write := []behavior.Write{{Key: a}}
	expect("without calls", fresh, 3, 6, 3)
	f.called(fresh, "Pod", 3)
	f.wrote(l.Machine, write)
	f.called(other, "Pod", 4)
	f.wrote(l.Machine, write)
	f.called(fresh, "Pod", 5)
	f.wrote(l.Machine, write)
	expect("within those of another one", other, 6, 7, 4)
	expect("around those of another one", fresh, 6, 6, 3)
	expect("the next time", fresh, 6, 9, 6)
	f.called(fresh, "Pod", 6)
	f.takeBack()
	expect("behind what is taken back", fresh, 0, 0, 0)
}

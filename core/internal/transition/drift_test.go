package transition

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/core/behavior"
)

// phases is a controller that goes from one phase to the next: it begins to take the time in the first, and has taken
// it in the second. In a later one it may heed that.
func phases(heeds int) func() core.Instance {
	return func() core.Instance {
		var began time.Time
		var took time.Duration
		phase := 0
		return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
			switch phase++; {
			case phase == 1:
				began = time.Now()
			case phase == 2:
				took, began = time.Since(began), time.Time{}
			case phase == heeds && took > time.Hour:
				w.put("slow", "yes")
			}
			phase = min(phase, 5)
			return core.Result{Requeue: phase < 5}
		}}, func() map[string]string {
			return map[string]string{"R.phase": fmt.Sprint(phase), "R.began": began.String(), "R.took": took.String()}
		}}
	}
}

// twoWays is a controller that comes to the same memory in two ways, of which one takes the time. Who heeds that is
// known from the other one.
func twoWays(first string) func() *core.System {
	return of(func() *trade {
		c := controller("c", func() core.Instance {
			var began time.Time
			var took time.Duration
			phase := 0
			return mind{hand{reconcile: func(w world, r core.Request) core.Result {
				switch {
				case string(r) == first && phase == 0:
					phase = 2
				case r == "begin" && phase == 0:
					phase, began = 1, time.Now()
					return core.Result{Requeue: true}
				case r == "begin" && phase == 1:
					phase, took, began = 2, time.Since(began), time.Time{}
				case r == "heed" && phase == 2 && took > time.Hour:
					w.put("slow", "yes")
				}
				return core.Result{}
			}}, func() map[string]string {
				return map[string]string{"R.phase": fmt.Sprint(phase), "R.began": began.String(), "R.took": took.String()}
			}}
		})
		c.Initial = []core.Request{"begin", "heed", core.Request(first)}
		return c
	})
}

// window keeps how long it took, and does something if that was some hours.
func window() core.Instance {
	var began time.Time
	var took time.Duration
	return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
		switch {
		case began.IsZero():
			began = time.Now()
			return core.Result{Requeue: true}
		case took == 0:
			took = time.Since(began)
			if took > time.Minute && took < 48*time.Hour {
				w.put("mid", "yes")
			}
		}
		return core.Result{}
	}}, func() map[string]string { return map[string]string{"R.began": began.String(), "R.took": took.String()} }}
}

// illOrDead looks at a note an hour later, and two days later, and puts one thing on another note then, or another one.
func illOrDead(inMemory bool) func() *core.System {
	return of(func() *trade {
		return controller("c", func() core.Instance {
			var at time.Time
			h := hand{reconcile: func(w world, _ core.Request) core.Result {
				if !inMemory {
					var err error
					if at, err = time.Parse(time.RFC3339Nano, w.get("seen")); err != nil {
						w.create("seen", time.Now().Format(time.RFC3339Nano))
						return core.Result{RequeueAfter: time.Hour}
					}
				}
				switch age := time.Since(at); {
				case at.IsZero():
					at = time.Now()
				case age > 2*24*time.Hour:
					w.get("how")
					w.put("dead", "yes")
				case age > time.Hour:
					w.get("how")
					w.put("ill", "yes")
				}
				return core.Result{RequeueAfter: time.Hour}
			}}
			if !inMemory {
				return h
			}
			return mind{h, func() map[string]string { return map[string]string{"R.at": at.String()} }}
		})
	})
}

// asking keeps how long it took, and asks for that in the next run only an hour after it was done. It may do something
// else then if it did not take long.
func asking(tells bool) core.Instance {
	var began, done time.Time
	var took time.Duration
	return mind{hand{reconcile: func(w world, _ core.Request) core.Result {
		switch {
		case began.IsZero():
			began = time.Now()
			return core.Result{Requeue: true}
		case done.IsZero():
			took, done = time.Since(began), time.Now()
			return core.Result{Requeue: true}
		case time.Since(done) > time.Hour && took > time.Hour:
			w.put("slow", "yes")
		case time.Since(done) > time.Hour && tells:
			w.put("done", "yes")
		default:
			return core.Result{RequeueAfter: time.Hour}
		}
		return core.Result{}
	}}, func() map[string]string {
		return map[string]string{"R.began": began.String(), "R.done": done.String(), "R.took": took.String()}
	}}
}

func drifters() []scenario {
	return []scenario{
		{"it looks first at both times", illOrDead(false), Conditions{Deadlines: 1}, `
13 states, 17 steps, 289 runs
rests: dead yes, ill yes, seen 2000-01-01T00:00:01.……001Z
rests: ill yes, seen 2000-01-01T00:00:01.……001Z
rests: seen 2000-01-01T00:00:01.……001Z
awaits: c`},
		{"it looks first at both times that it keeps", illOrDead(true), Conditions{Deadlines: 1}, `
9 states, 11 steps, 223 runs
rests: 
rests: dead yes, ill yes
rests: ill yes
remembers: c
awaits: c
memory of c: 1 [R.at]`},
		{"it looks first at both times that it keeps, and more time passes", illOrDead(true), Conditions{Deadlines: 2}, `
13 states, 17 steps, 390 runs
rests: 
rests: dead yes, ill yes
rests: ill yes
remembers: c
awaits: c
memory of c: 1 [R.at]`},
		{"it heeds much later how long it took", of(func() *trade { return controller("c", func() core.Instance { return asking(true) }) }), Conditions{}, `
4 states, 4 steps, 72 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: asks to be run again in 1h0m0s; later: put done
memory of c: 2 [R.began R.done]`},
		{"it heeds much later that it took long", of(func() *trade { return controller("c", func() core.Instance { return asking(false) }) }), Conditions{}, `
4 states, 4 steps, 200 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps no R.took in memory; later: keeps one and then, reconciling go, put slow where it else asks to be run again in 1h0m0s
memory of c: 2 [R.began R.done]`},
		{"it heeds much later how long it took, and time passes", of(func() *trade { return controller("c", func() core.Instance { return asking(true) }) }), Conditions{Deadlines: 1}, `
6 states, 6 steps, 177 runs
rests: 
rests: done yes
remembers: c
awaits: c
waits: c waits for several times, and those between the first and the last were not searched: reconciling go, now: keeps no R.took in memory; then: keeps one and then, reconciling go, put done where it else asks to be run again in 1h0m0s
memory of c: 2 [R.began R.done]`},
		{"it heeds in the next run how long it took", of(func() *trade { return controller("c", phases(3)) }), Conditions{}, `
6 states, 5 steps, 212 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps no R.took in memory; later: keeps one and then, reconciling go, put slow where it else asks to be run again
memory of c: 5 [R.began R.phase]`},
		{"it heeds two runs later how long it took", of(func() *trade { return controller("c", phases(4)) }), Conditions{}, `
6 states, 5 steps, 220 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: keeps no R.took in memory; later: keeps one and then, reconciling go, put slow where it else asks to be run again
memory of c: 5 [R.began R.phase]`},
		{"it heeds three runs later how long it took", of(func() *trade { return controller("c", phases(5)) }), Conditions{Deadlines: 1}, `
6 states, 5 steps, 68 runs
rests: 
remembers: c
awaits: c
waits: c waits for several times, and those between the first and the last were not searched: reconciling go, now: keeps no R.took in memory; then: keeps one and then, reconciling go, put slow where it else returns
memory of c: 5 [R.began R.phase]`},
		{"it never heeds how long it took", of(func() *trade { return controller("c", phases(9)) }), Conditions{}, `
6 states, 5 steps, 229 runs
rests: 
remembers: c
memory of c: 5 [R.began R.phase]`},
		{"the other way is known before", twoWays("a"), Conditions{}, `
12 states, 20 steps, 158 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling begin, now: keeps no R.took in memory; later: keeps one and then, reconciling heed, put slow where it else returns
memory of c: 2 [R.began R.phase]`},
		{"the other way is known later", twoWays("z"), Conditions{}, `
12 states, 20 steps, 152 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling begin, now: keeps no R.took in memory; later: keeps one and then, reconciling heed, put slow where it else returns
memory of c: 2 [R.began R.phase]`},
		{"it does something for some hours", of(func() *trade { return controller("c", window) }), Conditions{}, `
3 states, 2 steps, 35 runs
rests: 
remembers: c
waits: the behavior of c depends on the clock, and later times were not searched: reconciling go, now: returns; later: put mid
memory of c: 1 [R.began]`},
		{"it does something for some hours, and time passes", of(func() *trade { return controller("c", window) }), Conditions{Deadlines: 1}, `
3 states, 2 steps, 26 runs
rests: 
remembers: c
awaits: c
memory of c: 1 [R.began]`},
	}
}

func TestFindsDrift(t *testing.T)       { finds(t, drifters()) }
func TestDriftInterrupted(t *testing.T) { interruptions(t, drifters(), "drift.go") }

// TestDrifted has drifted memories be taken along with a memory each once, few of those that differ in times only, and
// not for ever: then the controller waits for a time.
func TestDrifted(t *testing.T) {
	m, _ := desk("web")
	l, web := learning(t, m), m.Actors[0]
	d := web.domain
	of := func(text string, minor bool) *drifted {
		return &drifted{text: text, minor: minor, by: web, run: behavior.Run{Activation: behavior.Activation{Request: "r"}}, parting: &behavior.Divergence{Recorded: "keeps", Observed: "changes"}}
	}
	add := func(text string, minor, want bool, known int) {
		t.Helper()
		if got, err := l.add(d, of(text, minor), 0); got != want || err != nil || len(d.drifted[0]) != known {
			t.Errorf("%s is new: %t, and %d are known, want %d, %v", text, got, len(d.drifted[0]), known, err)
		}
	}
	add("a", false, true, 1)
	add("a", false, false, 1)
	add("a", true, false, 1)
	for i := range mostMinor {
		add(fmt.Sprint("minor ", i), true, true, i+2)
	}
	add("one minor too many", true, false, mostMinor+1)
	for i := mostMinor + 1; i < mostDrifted; i++ {
		add(fmt.Sprint(i), false, true, i+1)
	}
	if web.Waits.Why != "" || len(d.drifted[1]) > 0 {
		t.Errorf("it waits: %q", web.Waits.Why)
	}
	add("one too many", false, false, mostDrifted)
	if want := "the behavior of web depends on the clock, and later times were not searched: reconciling r, now: keeps; later: changes"; web.Waits.Why != want {
		t.Errorf("it waits: %q", web.Waits.Why)
	}
	d.drifted[0] = d.drifted[0][:1]
	add("who waits anyway", false, false, 1)
	web.Waits.Why, d.drifted[2] = "", nil
	for i := range mostDrifted {
		d.drifted[2] = append(d.drifted[2], of(fmt.Sprint(i), false))
	}
	if got, err := l.add(d, of("minor", true), 2); got || err != nil || web.Waits.Why != "" {
		t.Errorf("a minor one too many is new: %t, %v, and it waits: %q", got, err, web.Waits.Why)
	}
	// Where it can, the search begins again then.
	l.Searching, m.Conditions.Deadlines, web.Waits.Why = true, 1, ""
	var again *unexpectedDeadline
	if err := l.follows(d, of("one too many of another sort", false), 2); !errors.As(err, &again) {
		t.Errorf("one too many is taken along: %v", err)
	}
	l.Searching, m.Conditions.Deadlines = false, 0
	// A run from a drifted memory is not made of whoever got stuck, or is known to depend on chance.
	v := of("a", false)
	run := begun{web, behavior.Run{Leaf: &behavior.Leaf{Failure: behavior.Deadlock}}}
	tell := func(*drifted) { t.Error("it leaves a memory") }
	if err := l.from(v, run, tell); err != nil || l.Executed > 0 {
		t.Errorf("a run that got stuck is made again: %v", err)
	}
	l.Incidents = []core.Incident{{Kind: core.Nondeterministic, Strategy: "web"}}
	if err := l.from(v, begun{web, behavior.Run{Leaf: &behavior.Leaf{}}}, tell); err != nil || l.Executed > 0 {
		t.Errorf("a run of a controller that depends on chance is made again: %v", err)
	}
	if got, want := clockOf(behavior.Run{Activation: behavior.Activation{Passed: 2 * behavior.Epoch, Clock: 5}}), behavior.Tick+2*behavior.Epoch+5; got != want {
		t.Errorf("the clock is at %s, want %s", got, want)
	}
}

package orrery_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/plain"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// lease is something with times.
type lease struct {
	Ready          bool
	Since, Renewed int64
}

// TestNoDeadlines checks that what controllers wait for is a reason if no time is to pass.
func TestNoDeadlines(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	object := leases.Named("a")
	model := plain.Model{
		Name:       "deadline",
		Properties: properties.Convergent(),
		Initial:    []core.Initial{plain.Start(object.Is(lease{Ready: true}))},
		Controllers: []plain.Controller{{
			Name: "c", Watches: []plain.Watch{{Kind: leases.Kind()}},
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				if time.Now().Year() < 2010 {
					return core.Result{RequeueAfter: time.Hour}
				}
				object.Delete(w)
				return core.Result{}
			},
		}},
	}
	for deadlines, want := range map[int]core.Verdict{0: core.Holds, 1: core.Holds, orrery.NoDeadlines: core.Inconclusive} {
		result := run(t, model, orrery.Options{Deadlines: deadlines})
		r := result.Report
		if r.Verdict != want || (want == core.Holds) != slices.Equal(r.Awaiting, []string{"c"}) {
			t.Errorf("%d: %s %v, awaiting %v, want %s", deadlines, r.Verdict, r.Reasons, r.Awaiting, want)
		}
		if want == core.Inconclusive && !strings.Contains(strings.Join(r.Reasons, ""), "later times were not searched") {
			t.Errorf("it says %q", r.Reasons)
		}
	}
}

// TestHeartbeats checks that who says regularly that he is alive has done so before somebody looks, however much time
// has passed, and that one who stops is found out.
func TestHeartbeats(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	object := leases.Named("a")
	for _, stops := range []bool{false, true} {
		model := plain.Model{
			Name:    "heartbeats",
			Initial: []core.Initial{plain.Start(object.Is(lease{Ready: true}))},
			Controllers: []plain.Controller{
				{
					Name: "holder", Requests: []core.Request{"renew"}, Caches: []core.Kind{leases.Kind()},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						l, there := object.Lookup(w)
						if !there || stops && l.Renewed > 0 {
							return core.Result{}
						}
						l.Renewed = time.Now().Unix()
						object.Set(w, l)
						return core.Result{RequeueAfter: 10 * time.Second}
					},
				},
				{
					Name: "monitor", Watches: []plain.Watch{{Kind: leases.Kind()}},
					Reconcile: func(w *plain.World, _ core.Request) core.Result {
						l, there := object.Lookup(w)
						if !there || l.Renewed == 0 {
							return core.Result{}
						}
						if time.Now().Unix()-l.Renewed > 60 {
							object.Delete(w)
							return core.Result{}
						}
						return core.Result{RequeueAfter: time.Minute}
					},
				},
			},
			Properties: []core.Property{{Name: "never removed", Invariant: func(s core.State) error {
				if _, there := object.Lookup(s); !there {
					return errors.New("the lease is gone")
				}
				return nil
			}}},
		}
		want := core.Inconclusive // nobody knows that the last one is renewed, too
		if stops {
			want = core.Violated
		}
		r := run(t, model, orrery.Options{}).Report
		if r.Verdict != want || (len(r.Findings) > 0) != stops || !slices.Equal(r.Awaiting, []string{"monitor"}) {
			t.Errorf("stops=%t: %s %v, awaiting %v, want %s", stops, r.Verdict, r.Reasons, r.Awaiting, want)
		}
	}
}

// TestClock checks what is said of controllers that write the time, and of those that wait for one.
func TestClock(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	object := leases.Named("a")
	now := func() int64 { return time.Now().Unix() }
	for _, test := range []struct {
		name      string
		reconcile func(*plain.World) core.Result
		verdict   core.Verdict
		says      string
	}{
		{"the time at each reconcile, which wakes it", func(w *plain.World) core.Result {
			l := object.Get(w)
			l.Renewed = now()
			object.Set(w, l)
			return core.Result{}
		}, core.Violated, "never stops changing lease a: Renewed"},
		{"the time every minute", func(w *plain.World) core.Result {
			l := object.Get(w)
			l.Renewed = now()
			object.Set(w, l)
			return core.Result{RequeueAfter: time.Minute}
		}, core.Violated, "never stops changing lease a: Renewed"},
		{"the time of a change", func(w *plain.World) core.Result {
			if l := object.Get(w); !l.Ready {
				object.Set(w, lease{Ready: true, Since: now()})
			}
			return core.Result{}
		}, core.Holds, ""},
		{"the time of a change, kept when it is written again", func(w *plain.World) core.Result {
			l := object.Get(w)
			if !l.Ready {
				l = lease{Ready: true, Since: now()}
			}
			object.Set(w, l)
			return core.Result{RequeueAfter: time.Minute}
		}, core.Holds, ""},
		{"a deadline", func(w *plain.World) core.Result {
			l, there := object.Lookup(w)
			switch {
			case !there:
			case l.Since == 0:
				object.Set(w, lease{Since: now()})
			case now()-l.Since > 60:
				object.Delete(w)
			default:
				return core.Result{RequeueAfter: time.Minute}
			}
			return core.Result{}
		}, core.Holds, ""},
		{"sleeping", func(w *plain.World) core.Result {
			time.Sleep(30 * 24 * time.Hour)
			if l := object.Get(w); !l.Ready {
				object.Set(w, lease{Ready: true, Since: now()})
			}
			return core.Result{}
		}, core.Holds, ""},
	} {
		model := plain.Model{
			Name:       "clock",
			Properties: properties.Convergent(),
			Initial:    []core.Initial{plain.Start(object.Is(lease{}))},
			Controllers: []plain.Controller{{
				Name: "c", Watches: []plain.Watch{{Kind: leases.Kind()}},
				Reconcile: func(w *plain.World, _ core.Request) core.Result { return test.reconcile(w) },
			}},
		}
		result := run(t, model, orrery.Options{})
		text := strings.Join(result.Report.Reasons, "\n")
		for _, f := range result.Report.Findings {
			text += f.Summary + "\n"
		}
		if result.Report.Verdict != test.verdict || !strings.Contains(text, test.says) {
			t.Errorf("%s: %s, want %s with %q; it says:\n%s", test.name, result.Report.Verdict, test.verdict, test.says, text)
		}
	}
}

// errand is what TestTimersThatOutlast has its controller do: one thing after the other, each some time after the one
// before, of which its timer is all that wakes it.
type errand struct {
	waits  []time.Duration // that it sets timers for
	needs  []time.Duration // that are to be over
	wakes  bool            // what it writes wakes it
	merges bool            // its work queue has one entry for each request
}

// comesThrough works out on a clock that goes by itself whether the errand comes to its end.
func (e errand) comesThrough() bool {
	step, since, now := 0, time.Duration(0), time.Duration(0)
	queued, timer := true, time.Duration(-1)
	for queued || timer >= 0 {
		if queued && e.merges {
			timer = -1
		}
		if !queued {
			now, timer = max(now, timer), -1
		}
		queued = false
		now += time.Millisecond
		if step > len(e.needs) || step > 0 && now-since < e.needs[step-1] {
			continue
		}
		step, since, queued = step+1, now, e.wakes
		if step <= len(e.waits) && (timer < 0 || now+e.waits[step-1] < timer) {
			timer = now + e.waits[step-1]
		}
	}
	return step > len(e.needs)
}

// TestTimersThatOutlast checks errands with all kinds of times: no timer fires before its time is over, and where that
// is too soon, the rest is never done.
func TestTimersThatOutlast(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	object := leases.Named("a")
	step := plain.NewVar[int]("step")
	through, stuck := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := errand{wakes: r.IntN(2) == 0, merges: r.IntN(3) == 0}
		for range 1 + r.IntN(2) {
			e.waits = append(e.waits, []time.Duration{time.Minute, 5 * time.Minute, 20 * time.Minute}[r.IntN(3)])
			e.needs = append(e.needs, []time.Duration{30 * time.Second, 3 * time.Minute, 10 * time.Minute}[r.IntN(3)])
		}
		c := plain.Controller{
			Name: "c", Requests: []core.Request{"a"}, Merging: e.merges,
			Reconcile: func(w *plain.World, _ core.Request) core.Result {
				n := step.Get(w)
				if n > len(e.needs) || n > 0 && time.Since(time.Unix(0, object.Get(w).Since)) < e.needs[n-1] {
					return core.Result{}
				}
				step.Set(w, n+1)
				object.Set(w, lease{Since: time.Now().UnixNano(), Ready: n == len(e.needs)})
				if n == len(e.needs) {
					return core.Result{}
				}
				return core.Result{RequeueAfter: e.waits[n]}
			},
		}
		if e.wakes {
			c.Watches = []plain.Watch{{Kind: leases.Kind()}}
		}
		done := properties.Eventually("done", func(s core.State) bool { return object.Get(s).Ready })
		report := run(t, plain.Model{
			Name: "errand", Properties: append(properties.Convergent(), done), Controllers: []plain.Controller{c},
			Initial: []core.Initial{plain.Start(object.Is(lease{}), step.Is(0))},
		}, orrery.Options{}).Report
		want := core.Violated
		if e.comesThrough() {
			want = core.Holds
			through++
		} else {
			stuck++
		}
		if report.Verdict != want {
			t.Errorf("%d: %+v is %s, want %s: %v", seed, e, report.Verdict, want, report.Reasons)
		}
	}
	if t.Logf("%d come to their ends, and %d do not", through, stuck); through < 10 || stuck < 10 {
		t.Error("too few of one kind")
	}
}

// TestRunsBeyondTheLastTime judges what is to happen in the end where a controller tries three times, some time apart:
// after the last time that passes, nothing is known of it. That hides nobody who is stuck beside one who only renews.
func TestRunsBeyondTheLastTime(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	tried, renewed := leases.Named("tried"), leases.Named("renewed")
	tries := plain.NewVar[int]("tries")
	trier := plain.Controller{
		Name: "trier", Requests: []core.Request{"a"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result {
			l, n := tried.Get(w), tries.Get(w)
			switch {
			case l.Ready:
				return core.Result{}
			case n > 0 && time.Since(time.Unix(l.Since, 0)) < 3*time.Minute:
				return core.Result{RequeueAfter: time.Minute}
			case n == 3:
				l.Ready = true
				tried.Set(w, l)
				return core.Result{}
			}
			tries.Set(w, n+1)
			tried.Set(w, lease{Since: time.Now().Unix()})
			return core.Result{RequeueAfter: time.Minute}
		},
	}
	renewer := plain.Controller{
		Name: "renewer", Requests: []core.Request{"a"},
		Reconcile: func(w *plain.World, _ core.Request) core.Result {
			if l := renewed.Get(w); time.Since(time.Unix(l.Since, 0)) > 20*time.Minute {
				renewed.Set(w, lease{Since: time.Now().Unix()})
			}
			return core.Result{RequeueAfter: time.Minute}
		},
	}
	lazy := plain.Controller{Name: "lazy", Requests: []core.Request{"a"}, Reconcile: func(w *plain.World, _ core.Request) core.Result {
		tried.Get(w)
		return core.Result{}
	}}
	ready := properties.Eventually("ready", func(s core.State) bool { return tried.Get(s).Ready })
	for _, test := range []struct {
		name        string
		controllers []plain.Controller
		deadlines   int
		want        core.Verdict
	}{
		{"more tries than times pass", []plain.Controller{trier}, 0, core.Inconclusive},
		{"as many", []plain.Controller{trier}, 3, core.Holds},
		{"nobody does it, and another one renews something", []plain.Controller{lazy, renewer}, 0, core.Violated},
	} {
		report := run(t, plain.Model{
			Name: "tries", Properties: []core.Property{ready}, Controllers: test.controllers,
			Initial: []core.Initial{plain.Start(tried.Is(lease{}), renewed.Is(lease{}), tries.Is(0))},
		}, orrery.Options{Deadlines: test.deadlines}).Report
		if report.Verdict != test.want || (test.want == core.Violated) != (len(report.Findings) > 0) {
			t.Errorf("%s: %s with %d findings, want %s: %v", test.name, report.Verdict, len(report.Findings), test.want, report.Reasons)
		}
	}
}

// TestTimersLongerThanSpans has a controller look once a week, or every minute, at what is new for a minute, then young
// for an hour, and old from then on: it comes to the second only if it looks often enough.
func TestTimersLongerThanSpans(t *testing.T) {
	leases := plain.NewFamily[lease]("lease")
	object := leases.Named("a")
	age := plain.NewVar[string]("age")
	for every, sees := range map[time.Duration]bool{7 * 24 * time.Hour: false, time.Minute: true} {
		model := plain.Model{
			Name: "ages",
			Properties: []core.Property{
				properties.Eventually("old", func(s core.State) bool { return age.Get(s) == "old" }),
				properties.Eventually("was young", func(s core.State) bool { return age.Get(s) == "young" }),
				{Name: "never young", Invariant: func(s core.State) error {
					if age.Get(s) == "young" {
						return errors.New("it is young")
					}
					return nil
				}},
			},
			Initial: []core.Initial{plain.Start(object.Is(lease{}), age.Is("new"))},
			Controllers: []plain.Controller{{
				Name: "c", Requests: []core.Request{"a"},
				Reconcile: func(w *plain.World, _ core.Request) core.Result {
					l := object.Get(w)
					since := time.Since(time.Unix(l.Since, 0))
					switch {
					case l.Since == 0:
						object.Set(w, lease{Since: time.Now().Unix()})
					case since > time.Hour:
						age.Set(w, "old")
						return core.Result{}
					case since > time.Minute:
						age.Set(w, "young")
					}
					return core.Result{RequeueAfter: every}
				},
			}},
		}
		broken := map[string]bool{}
		for _, f := range run(t, model, orrery.Options{}).Report.Findings {
			broken[f.Property] = true
		}
		if broken["old"] || broken["was young"] == sees || broken["never young"] != sees {
			t.Errorf("every %s: broken are %v", every, broken)
		}
	}
}

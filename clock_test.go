package orrery_test

import (
	"errors"
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

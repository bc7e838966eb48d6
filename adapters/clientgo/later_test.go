package clientgo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
)

// recheck registers a second controller whose items come back to the first one, and returns its queue: this is how the
// controller of PodDisruptionBudgets comes back to one.
func recheck(e *clientgo.Environment, p *parts) (*clientgo.Queue[string], error) {
	queue, err := clientgo.NewQueue[string](e)
	if err != nil {
		return nil, err
	}
	sync := func(_ context.Context, key string) error {
		p.queue.AddRateLimited(key)
		return nil
	}
	p.second = func() {
		if p.run {
			clientgo.Run(e, "recheck", p, queue, func(ctx context.Context) error { return work(ctx, queue, sync) })
			return
		}
		clientgo.Sync(e, "recheck", p, queue, sync)
	}
	return queue, nil
}

// TestRecheck wants an item that is looked at again and again by way of a second queue, after a minute each time, to be
// a poll: it comes to rest.
func TestRecheck(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
				queue, err := recheck(e, p)
				p.run = run
				p.sync = func(ctx context.Context, key string) error {
					queue.AddAfter(key, time.Minute)
					return p.label(ctx, strings.TrimPrefix(key, "default/"))
				}
				return err
			})), clientgo.ObjectValues(in("default", "a", nil)))
			if r.Verdict != core.Holds || r.Outcomes != 1 {
				t.Errorf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
			}
		})
	}
}

// TestDeadlineOfRecheck wants who waits for a time by way of a second queue to come to it.
func TestDeadlineOfRecheck(t *testing.T) {
	r := checkAny(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		queue, err := recheck(e, p)
		p.sync = func(ctx context.Context, key string) error {
			name := strings.TrimPrefix(key, "default/")
			c, err := p.configMaps.ConfigMaps("default").Get(name)
			if err != nil {
				return err
			}
			if left := time.Hour - time.Since(c.CreationTimestamp.Time); left > 0 {
				queue.AddAfter(key, left)
				return nil
			}
			return p.label(ctx, name)
		}
		return err
	})), clientgo.ObjectValues(in("default", "a", nil)))
	if r.Verdict != core.Holds || r.Outcomes != 1 {
		t.Fatalf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
	}
	for _, o := range r.OutcomeList[0].Objects {
		if labels, _ := o.Fields.(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any); labels["done"] != "yes" {
			t.Errorf("it ends with labels %v", labels)
		}
	}
}

// others are for each item another one.
var others = map[string]string{"a": "b", "b": "a"}

// TestLaterItems wants an item of the same queue that is added for later to wait until nothing else can happen, and one
// that is added for now besides to come twice.
func TestLaterItems(t *testing.T) {
	for name, test := range map[string]struct {
		sync    func(p *parts, key string)
		verdict core.Verdict
		states  int
	}{
		// One of them is queued; the other one is waited for; it is queued; and the first one is waited for.
		"another one":           {func(p *parts, key string) { p.queue.AddAfter(others[key], time.Minute) }, core.Holds, 4},
		"another one at once":   {func(p *parts, key string) { p.queue.AddAfter(others[key], 0) }, core.Violated, 2},
		"another one as a rest": {func(p *parts, key string) { p.queue.AddRateLimited(others[key]) }, core.Violated, 2},
		// It is queued; waited for and queued again, for ever.
		"itself, and at once": {func(p *parts, key string) { p.queue.AddAfter(key, time.Minute); p.queue.Add(key) }, core.Violated, 2},
	} {
		for driver, run := range drivers {
			t.Run(name+" "+driver, func(t *testing.T) {
				r := check(t, orrery.Options{Reduction: orrery.NoReduction}, clientgo.Setup(setupOf(func(_ *clientgo.Environment, p *parts) error {
					p.deaf, p.run = true, run
					p.sync = func(_ context.Context, key string) error {
						test.sync(p, key)
						return nil
					}
					p.queue.Add("a")
					return nil
				})), clientgo.ObjectValues(in("default", "a", nil)))
				if r.Verdict != test.verdict || r.States != test.states {
					t.Errorf("%s with %d states, want %s with %d: %v %v", r.Verdict, r.States, test.verdict, test.states, r.Reasons, summaries(r))
				}
			})
		}
	}
}

// TestHandlersThatWait wants what event handlers have wait to be waited for, unless it is so short that it only brings
// changes together.
func TestHandlersThatWait(t *testing.T) {
	for name, test := range map[string]struct {
		after  time.Duration
		states int
	}{
		// It is waited for; queued; labelled, and waited for; queued; and done with.
		"a minute": {time.Minute, 5},
		// It is queued; labelled, and queued; and done with.
		"a second": {time.Second, 3},
	} {
		for driver, run := range drivers {
			t.Run(name+" "+driver, func(t *testing.T) {
				r := check(t, orrery.Options{Reduction: orrery.NoReduction}, clientgo.Setup(setupOf(func(_ *clientgo.Environment, p *parts) error {
					p.deaf, p.run = true, run
					p.change = func(object any) { p.queue.AddAfter(object.(metav1.Object).GetName(), test.after) }
					p.sync = p.label
					return nil
				})), clientgo.ObjectValues(in("default", "a", nil)))
				if r.Verdict != core.Holds || r.States != test.states {
					t.Errorf("%s with %d states, want %d: %v %v", r.Verdict, r.States, test.states, r.Reasons, summaries(r))
				}
			})
		}
	}
}

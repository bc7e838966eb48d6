package clientgo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

func sabotaged(run bool, sabotage func(*mirror, *corev1.ConfigMap) error) clientgo.Option {
	return mirrored(run, func(m *mirror) { m.sabotage = sabotage })
}

// finding returns the finding of a property, and ends the test if there is none.
func finding(t *testing.T, r *core.Report, property string) core.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Property == property {
			return f
		}
	}
	t.Fatalf("%s is not violated: %s %v %v", property, r.Verdict, r.Reasons, summaries(r))
	return core.Finding{}
}

// TestListersLend wants a change of what a lister has returned to be found, and a change of a copy not to be.
func TestListersLend(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, sabotaged(run, func(_ *mirror, c *corev1.ConfigMap) error {
				c.Data["value"] = "2"
				return nil
			}), clientgo.ObjectValues(configMap("a", "1")))
			want := `mirror, reconciling default/a: changed an object in its cache: ConfigMap default/a: data.value: "1" → "2"`
			if f := finding(t, r, "no cache mutation"); f.Summary != want {
				t.Errorf("%s\nwant\n%s", f.Summary, want)
			}
			r = check(t, orrery.Options{}, sabotaged(run, func(_ *mirror, c *corev1.ConfigMap) error {
				c.DeepCopy().Data["value"] = "2"
				return nil
			}), clientgo.ObjectValues(configMap("a", "1")))
			if r.Verdict != core.Holds {
				t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
			}
		})
	}
}

// TestHandlersAreLent wants a change that an event handler makes to be found.
func TestHandlersAreLent(t *testing.T) {
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		p.change = func(object any) { object.(*corev1.ConfigMap).Labels = map[string]string{"seen": "yes"} }
		return nil
	})), clientgo.ObjectValues(configMap("a", "1")))
	if f := finding(t, r, "no cache mutation"); !strings.Contains(f.Summary, "ConfigMap default/a: metadata.labels") {
		t.Error(f.Summary)
	}
}

// TestWorkerPanics wants a panic of a worker to be a finding that says where it was, and not to end the program.
func TestWorkerPanics(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, sabotaged(run, func(*mirror, *corev1.ConfigMap) error { panic("out of ideas") }), clientgo.ObjectValues(configMap("a", "1")))
			if f := finding(t, r, "no panic"); !strings.Contains(f.Summary, "out of ideas (at github.com/orrery-dev/orrery/adapters/clientgo_test.TestWorkerPanics") {
				t.Error(f.Summary)
			}
		})
	}
}

// TestWorkerNeverDone wants a worker that keeps its item to be found.
func TestWorkerNeverDone(t *testing.T) {
	r := checkAny(t, orrery.Options{}, sabotaged(true, func(*mirror, *corev1.ConfigMap) error { select {} }), clientgo.ObjectValues(configMap("a", "1")))
	finding(t, r, "no stuck reconcile")
}

// TestErrorsAreRetried wants an item that fails for ever to be a livelock for both drivers: an error of the sync, and
// AddRateLimited.
func TestErrorsAreRetried(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, sabotaged(run, func(*mirror, *corev1.ConfigMap) error { return errors.New("never") }), clientgo.ObjectValues(configMap("a", "1")))
			finding(t, r, "stable convergence")
		})
	}
}

// TestMemoryIsState wants a count that a controller keeps to be part of the state: two ConfigMaps, of which it mirrors
// the first that it sees only.
func TestMemoryIsState(t *testing.T) {
	r := check(t, orrery.Options{}, mirrored(true, func(m *mirror) {
		m.sabotage = func(m *mirror, c *corev1.ConfigMap) error {
			if m.first == "" {
				m.first = c.Name
			}
			if m.first != c.Name {
				return errIgnored
			}
			return nil
		}
	}), clientgo.ObjectValues(configMap("a", "1"), configMap("b", "1")))
	if len(r.Memory) != 1 || r.Memory[0].Fields[0] != "mirror.first" || r.Outcomes != 2 {
		t.Errorf("%s with %d outcomes, memory %v: %v %v", r.Verdict, r.Outcomes, r.Memory, r.Reasons, summaries(r))
	}
}

// TestConditions checks a mirror where its caches are stale, are listed anew, and where it crashes and calls fail. It
// comes to the same end in all of them.
func TestConditions(t *testing.T) {
	for name, run := range drivers {
		for condition, options := range map[string]orrery.Options{
			"lag": {Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}, "relist": {Stale: []orrery.Staleness{{Rule: orrery.Relist}}}, "crash": {Crashes: 1}, "failure": {Failures: 1},
			"all orders": {Reduction: orrery.NoReduction}, "calls": {Granularity: orrery.PerCall},
		} {
			t.Run(name+" "+condition, func(t *testing.T) {
				r := check(t, options, mirrored(run, nil), clientgo.ObjectValues(configMap("a", "1")), clientgo.Scenario(
					scenario.Change("change the ConfigMap", configMap("a", ""), func(c *corev1.ConfigMap) { c.Data["value"] = "2" })))
				if r.Verdict != core.Holds {
					t.Errorf("%s with %d states: %v %v", r.Verdict, r.States, r.Reasons, summaries(r))
				}
			})
		}
	}
}

// TestMissedDeletions wants handlers to be told of a deletion that the informer did not see, as client-go tells them.
func TestMissedDeletions(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Relist}}}, mirrored(run, nil), clientgo.ObjectValues(configMap("a", "1")),
				clientgo.Scenario(scenario.Delete(configMap("a", ""))))
			if r.Verdict != core.Holds {
				t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
			}
		})
	}
}

// TestAdding wants an item that is added from within the sync of another to be enqueued, whatever the reduction: each
// of two ConfigMaps labels the other.
func TestAdding(t *testing.T) {
	other := map[string]string{"a": "b", "b": "a"}
	system := func(run bool) []clientgo.Option {
		return []clientgo.Option{clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
			p.deaf = true
			p.run = run
			p.sync = func(ctx context.Context, key string) error {
				namespace, name, _ := strings.Cut(key, "/")
				c, err := p.configMaps.ConfigMaps(namespace).Get(name)
				if err != nil || c.Labels["done"] != "" {
					return err
				}
				c = c.DeepCopy()
				c.Labels = map[string]string{"done": "yes"}
				if _, err := p.client.CoreV1().ConfigMaps(namespace).Update(ctx, c, metav1.UpdateOptions{}); err != nil {
					return err
				}
				p.queue.AddAfter(namespace+"/"+other[name], time.Minute)
				return nil
			}
			p.queue.Add("default/a")
			return nil
		})), clientgo.ObjectValues(configMap("a", "1"), configMap("b", "1"))}
	}
	for name, run := range drivers {
		for _, reduction := range []orrery.Reduction{orrery.NoReduction, orrery.ByPartialOrder} {
			t.Run(name+" "+string(reduction), func(t *testing.T) {
				r := check(t, orrery.Options{Reduction: reduction}, system(run)...)
				// a is queued; a is labelled and b waited for; b is queued; b is labelled and a waited for; a is
				// queued; a has nothing to do.
				if r.Verdict != core.Holds || r.States != 6 || r.Outcomes != 1 {
					t.Errorf("%s with %d states and %d outcomes, want holds with 6 and 1: %v %v", r.Verdict, r.States, r.Outcomes, r.Reasons, summaries(r))
				}
			})
		}
	}
}

// TestAddAfter wants an item that its own sync adds for later to be a timer.
func TestAddAfter(t *testing.T) {
	for name, run := range drivers {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, sabotaged(run, func(m *mirror, c *corev1.ConfigMap) error {
				m.queue.AddAfter(c.Namespace+"/"+c.Name, time.Minute)
				return nil
			}), clientgo.ObjectValues(configMap("a", "1")))
			if r.Verdict != core.Holds {
				t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
			}
		})
	}
}

// TestOutcomesOfWhoWritesTheTime checks a controller that notes in a Lease which ConfigMap was first, and whenever it
// runs, the time. The time is a matter of the fixpoint: it does not hide that there are two outcomes.
func TestOutcomesOfWhoWritesTheTime(t *testing.T) {
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		p.sync = func(ctx context.Context, key string) error {
			leases := p.client.CoordinationV1().Leases("default")
			lease, err := leases.Get(ctx, "first", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if lease.Spec.HolderIdentity == nil {
				lease.Spec.HolderIdentity = &key
			}
			lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
			_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
			return err
		}
		return nil
	})), clientgo.ObjectValues(in("default", "a", nil), in("default", "b", nil), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}}))
	if f := finding(t, r, "fixpoint"); !strings.Contains(f.Summary, "spec.renewTime") || !strings.Contains(strings.Join(f.Details, ""), "its reconcile is not idempotent. A time") {
		t.Error(f.Summary, f.Details)
	}
	if f := finding(t, r, "same outcome"); !strings.Contains(f.Summary, "2 different outcomes") || !strings.Contains(f.Summary, "spec.holderIdentity") || r.Outcomes != 2 {
		t.Errorf("%s, with %d outcomes", f.Summary, r.Outcomes)
	}
}

// TestTickers wants what a Run method has going on besides its worker to be a reason as soon as it asks for something
// between items, and no sooner.
func TestTickers(t *testing.T) {
	for name, test := range map[string]struct {
		tick func(context.Context, *parts)
		want string
	}{
		"it does nothing": {func(context.Context, *parts) {}, ""},
		"it writes": {func(ctx context.Context, p *parts) {
			_, _ = p.client.CoreV1().ConfigMaps("default").Create(ctx, in("default", "ticked", nil), metav1.CreateOptions{})
		}, `what the Run method of parts has started, and does between items: "create ConfigMap default/ticked"`},
		"it adds an item":      {func(_ context.Context, p *parts) { p.queue.Add("default/a") }, "what the Run method of parts has started, and does between items: "},
		"it adds another item": {func(_ context.Context, p *parts) { p.queue.AddAfter("default/b", time.Minute) }, "what the Run method of parts has started, and does between items: "},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAny(t, orrery.Options{}, clientgo.Setup(setupOf(func(_ *clientgo.Environment, p *parts) error {
				p.run = true
				p.beside = func(ctx context.Context) {
					ticker := time.NewTicker(30 * time.Second)
					defer ticker.Stop()
					for {
						select {
						case <-ctx.Done():
							return
						case <-ticker.C:
							test.tick(ctx, p)
						}
					}
				}
				return nil
			})), clientgo.ObjectValues(in("default", "a", nil)))
			reasons := strings.Join(r.Reasons, "\n")
			if test.want == "" && r.Verdict != core.Holds || test.want != "" && (r.Verdict != core.Inconclusive || !strings.Contains(reasons, test.want)) {
				t.Errorf("%s: %s", r.Verdict, reasons)
			}
		})
	}
}

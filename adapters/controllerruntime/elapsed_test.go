package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// stopwatch is a controller that makes Widgets ready once a ConfigMap is there, and keeps in memory how long that took.
type stopwatch struct {
	client.Client
	// took, total, and buckets say how long Widgets took to become ready.
	took    map[string]time.Duration
	total   float64
	buckets [4]int
	// began is when a Widget was seen first, and ended when it was seen last.
	began, ended map[string]time.Time
	// bare tells that it keeps nothing but when it saw Widgets.
	bare bool
	// slow is what it does about a Widget that took long, nil if nothing.
	slow func(s *stopwatch, name string) bool
}

// Reconcile implements [reconcile.Reconciler].
func (s *stopwatch) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	w := &Widget{}
	if err := s.Get(ctx, r.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if _, seen := s.began[r.Name]; !seen {
		s.began[r.Name] = time.Now()
	}
	switch {
	case w.Status.Ready == 1:
		if s.slow != nil && s.slow(s, r.Name) {
			return ctrl.Result{}, create(ctx, s.Client, "slow-"+r.Name)
		}
		return ctrl.Result{}, nil
	case !exists(ctx, s.Client, "needed"):
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	}
	s.ended[r.Name] = time.Now()
	if !s.bare {
		s.keep(r.Name, time.Since(s.began[r.Name]))
	}
	w.Status.Ready = 1
	return ctrl.Result{}, s.Status().Update(ctx, w)
}

// exists reports whether a ConfigMap can be read.
func exists(ctx context.Context, c client.Client, name string) bool {
	return c.Get(ctx, client.ObjectKeyFromObject(configMap(name, nil)), &corev1.ConfigMap{}) == nil
}

// keep keeps how long a Widget took.
func (s *stopwatch) keep(name string, took time.Duration) {
	s.took[name] = took
	s.total += took.Seconds()
	switch {
	case took < time.Minute:
		s.buckets[0]++
	case took < time.Hour:
		s.buckets[1]++
	case took < 24*time.Hour:
		s.buckets[2]++
	default:
		s.buckets[3]++
	}
}

// limited is a controller that makes a ConfigMap for each Widget, as often as a token bucket lets it.
type limited struct {
	client.Client
	limiter flowcontrol.RateLimiter
	// refused is what it does when it has no token.
	refused ctrl.Result
	// logs tells that it asks for a token to say something.
	logs bool
}

// Reconcile implements [reconcile.Reconciler].
func (l *limited) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	if err := l.Get(ctx, r.NamespacedName, &Widget{}); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !l.limiter.TryAccept() && !l.logs {
		return l.refused, nil
	}
	return ctrl.Result{}, create(ctx, l.Client, r.Name)
}

// TestTimesInMemory checks what is said of controllers that keep numbers which follow from the clock: as long as they
// decide nothing, they do not count.
func TestTimesInMemory(t *testing.T) {
	long(t)
	watches := func(bare bool, slow func(s *stopwatch, name string) bool) func(c client.Client) reconcile.Reconciler {
		return func(c client.Client) reconcile.Reconciler {
			return &stopwatch{Client: c, took: map[string]time.Duration{}, began: map[string]time.Time{}, ended: map[string]time.Time{}, bare: bare, slow: slow}
		}
	}
	limits := func(rate float32, refused ctrl.Result, logs bool) func(c client.Client) reconcile.Reconciler {
		return func(c client.Client) reconcile.Reconciler {
			return &limited{c, flowcontrol.NewTokenBucketRateLimiter(rate, 1), refused, logs}
		}
	}
	for _, test := range []struct {
		name    string
		make    func(c client.Client) reconcile.Reconciler
		verdict core.Verdict
		says    string
	}{
		{"durations", watches(false, nil), core.Holds, ""},
		{"times", watches(true, nil), core.Holds, ""},
		{"a duration that decides", watches(false, func(s *stopwatch, name string) bool { return s.took[name] > time.Hour }), core.Violated, "outcome"},
		{"a bucket that decides", watches(false, func(s *stopwatch, _ string) bool { return s.buckets[2] > 0 }), core.Inconclusive, "several times"},
		{"a total that decides", watches(false, func(s *stopwatch, _ string) bool { return s.total > 3600 }), core.Violated, "outcome"},
		{"two times that decide", watches(true, func(s *stopwatch, name string) bool { return s.ended[name].Sub(s.began[name]) > time.Hour }), core.Violated, "outcome"},
		{"a token bucket", limits(10, ctrl.Result{RequeueAfter: time.Second}, false), core.Holds, ""},
		{"a token bucket, and nobody looks again", limits(10, ctrl.Result{}, false), core.Violated, "outcome"},
		{"a token bucket that fills slowly", limits(0.001, ctrl.Result{RequeueAfter: time.Minute}, false), core.Holds, ""},
		{"a token bucket for what it says", limits(10, ctrl.Result{}, true), core.Holds, ""},
		{"a token bucket that fills slowly, for what it says", limits(0.001, ctrl.Result{}, true), core.Holds, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1), widget("b", 1)),
				controllerruntime.Scenario(controllerruntime.Create(configMap("needed", nil))),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(test.make(mgr.GetClient()))
				}))
			system.Properties = properties.Convergent()
			judged(t, system, orrery.Options{}, test.verdict, test.says)
		})
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// byHand registers a function as the reconciler of ConfigMaps, called "probe".
func byHand(reconciler func(context.Context, client.Client, reconcile.Request) (reconcile.Result, error)) controllerruntime.Option {
	return controllerruntime.Reconciler("probe", func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			return reconciler(ctx, c, request)
		})
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

func TestResults(t *testing.T) {
	failure := errors.New("failure")
	for _, test := range []struct {
		name   string
		result reconcile.Result
		err    error
		want   core.Result
	}{
		{name: "done"},
		{name: "requeue", result: reconcile.Result{Requeue: true}, want: core.Result{Requeue: true}},
		{name: "requeue later", result: reconcile.Result{RequeueAfter: time.Second}, want: core.Result{RequeueAfter: time.Second}},
		{name: "later goes before now", result: reconcile.Result{Requeue: true, RequeueAfter: time.Second}, want: core.Result{RequeueAfter: time.Second}},
		{name: "error", err: failure, want: core.Result{Err: failure}},
		{name: "error goes before requeue", result: reconcile.Result{RequeueAfter: time.Second}, err: failure, want: core.Result{Err: failure}},
		{name: "terminal error", err: fmt.Errorf("wrapped: %w", reconcile.TerminalError(failure))},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, byHand(func(context.Context, client.Client, reconcile.Request) (reconcile.Result, error) {
				return test.result, test.err
			}))
			if got := w.reconcile("probe", "default/a"); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestRequestsAreWrittenAsNames(t *testing.T) {
	var seen []string
	w := newWorld(t, byHand(func(_ context.Context, _ client.Client, request reconcile.Request) (reconcile.Result, error) {
		seen = append(seen, fmt.Sprintf("%q %q", request.Namespace, request.Name))
		return reconcile.Result{}, nil
	}))
	w.reconcile("probe", "default/a")
	w.reconcile("probe", "node-1")
	equal(t, "requests", seen, []string{`"default" "a"`, `"" "node-1"`})
}

func TestPanicsReachTheEngine(t *testing.T) {
	recovers := true
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).
			For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{RecoverPanic: &recovers}).
			Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				panic("boom")
			}))
	}))
	defer func() {
		if value := recover(); value != "boom" {
			t.Errorf("recovered %v, want the panic of the reconciler", value)
		}
	}()
	w.reconcile("configmap", "default/a")
}

// aborted never answers.
type aborted struct{}

func (aborted) Do(core.Call) core.Response {
	runtime.Goexit()
	return nil
}

func TestRunsUnwindWhenACallIsNotAnswered(t *testing.T) {
	deferred := false
	w := newWorld(t, byHand(func(ctx context.Context, c client.Client, request reconcile.Request) (reconcile.Result, error) {
		defer func() { deferred = true }()
		return reconcile.Result{}, c.Update(ctx, configMap("a", nil))
	}))
	instance := w.instance("probe")
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		instance.Reconcile(aborted{}, "default/a")
		returned = true
	}()
	<-done
	if returned || !deferred {
		t.Errorf("returned: %v, deferred call made: %v; want an unwound run", returned, deferred)
	}
}

func TestInstancesLeaveNoGoroutineBehind(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(setupWidgets), controllerruntime.ObjectValues(widget("a", 1)))
	synctest.Test(t, func(*testing.T) {
		key := core.Key{Kind: "Widget.example.org", Namespace: "default", Name: "a"}
		w.instance("widget").Handle(w, core.Event{Key: key, New: w.Get(key)})
		if result := w.reconcile("widget", "default/a"); result.Err != nil {
			t.Error(result.Err)
		}
	})
	instance := w.instance("widget") // made outside of the bubble in which it runs
	synctest.Test(t, func(*testing.T) {
		if result := instance.Reconcile(w, "default/a"); result.Err != nil {
			t.Error(result.Err)
		}
	})
}

func TestDeadlinesAreOnTheVirtualClock(t *testing.T) {
	w := newWorld(t, byHand(func(ctx context.Context, c client.Client, request reconcile.Request) (reconcile.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		time.Sleep(time.Hour)
		return reconcile.Result{}, c.Create(ctx, configMap("late", nil))
	}))
	synctest.Test(t, func(*testing.T) {
		result := w.reconcile("probe", "default/a")
		if !errors.Is(result.Err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", result.Err, context.DeadlineExceeded)
		}
	})
	if len(w.calls) > 0 {
		t.Errorf("calls after the deadline:%s", lines(w.said()))
	}
}

func TestSetupThatChanges(t *testing.T) {
	runs := 0
	w := newWorld(t, controllerruntime.Setup(func(mgr ctrl.Manager) error {
		runs++
		return ctrl.NewControllerManagedBy(mgr).Named(fmt.Sprint("number-", runs)).
			For(&corev1.ConfigMap{}).Complete(reconcile.Func(nil))
	}))
	_, err := w.strategy("number-1").New()
	if err == nil || !strings.Contains(err.Error(), "registers other controllers than the first time") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkInstance(b *testing.B) {
	system := controllerruntime.ForTest(b, newScheme(),
		controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(setupWidgets))
	for b.Loop() {
		if _, err := system.Strategies[0].New(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	w := newWorld(b, controllerruntime.Setup(setupWidgets), controllerruntime.ObjectValues(widget("a", 2)))
	w.settle()
	for b.Loop() {
		if result := w.reconcile("widget", "default/a"); result.Err != nil {
			b.Fatal(result.Err)
		}
		w.calls = nil
	}
}

// TestSharedClients checks a controller whose set-up keeps its client where all instances find it, as programs do in
// variables of packages. The client is then that of whichever instance was set up last; what it is asked belongs to the
// instance whose code asks.
func TestSharedClients(t *testing.T) {
	for name, made := range map[string]func(ctrl.Manager) (client.Client, error){
		"cached": func(mgr ctrl.Manager) (client.Client, error) { return mgr.GetClient(), nil },
		"live": func(mgr ctrl.Manager) (client.Client, error) {
			return client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var shared client.Client
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("v", 1), widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					own, err := made(mgr)
					if err != nil {
						return err
					}
					shared = own
					return ctrl.NewControllerManagedBy(mgr).Named("shares").For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						w := &Widget{}
						if err := shared.Get(ctx, request.NamespacedName, w); err != nil || w.Status.Ready == 2 {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						w.Status.Ready++
						return reconcile.Result{}, shared.Status().Update(ctx, w)
					}))
				}))
			// In single calls, runs of several instances are under way at once.
			for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
				result, err := orrery.Run(t.Context(), system, orrery.Options{Granularity: granularity, Crashes: 1, Failures: 1})
				if err != nil {
					t.Fatal(err)
				}
				if result.Report.Verdict != core.Holds {
					t.Errorf("%s: %s %v %v", granularity, result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
				}
			}
		})
	}
}

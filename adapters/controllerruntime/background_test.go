package controllerruntime_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// office is a controller of ConfigMaps whose labels are not written by its reconciles, but by what works in the
// background.
type office struct {
	client.Client
	mu sync.Mutex
	// todo are the names of those that are to be labeled, in the order in which they came, and bell rings when one
	// comes.
	todo   []string
	bell   chan struct{}
	events chan event.GenericEvent
}

func newOffice(mgr ctrl.Manager) *office {
	return &office{Client: mgr.GetClient(), bell: make(chan struct{}, 1), events: make(chan event.GenericEvent, 8)}
}

// label labels a ConfigMap, and counts how often it was.
func (o *office) label(ctx context.Context, name string) error {
	var found corev1.ConfigMap
	if err := o.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &found); err != nil {
		return client.IgnoreNotFound(err)
	}
	if found.Labels["done"] == "yes" {
		return nil
	}
	found.Labels = map[string]string{"done": "yes"}
	return o.Update(ctx, &found)
}

// take takes what is to be done next, empty if there is nothing.
func (o *office) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.todo) == 0 {
		return ""
	}
	next := o.todo[0]
	o.todo = slices.Delete(o.todo, 0, 1)
	return next
}

// leave leaves a ConfigMap to the background.
func (o *office) leave(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.todo, name) {
		o.todo = append(o.todo, name)
	}
	select {
	case o.bell <- struct{}{}:
	default:
	}
}

// onEach does something with each ConfigMap that is left to an office, whenever it is woken.
func onEach[T any](ctx context.Context, o *office, woken <-chan T, do func(name string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		}
		for next := o.take(); next != ""; next = o.take() {
			do(next)
		}
	}
}

// work labels what it is left, as a runnable.
func (o *office) work(ctx context.Context) error {
	onEach(ctx, o, o.bell, func(name string) {
		if err := o.label(ctx, name); err != nil {
			time.AfterFunc(time.Second, func() { o.leave(name) })
		}
	})
	return nil
}

// poll sends events for what it is left, each minute, as a runnable.
func (o *office) poll(ctx context.Context) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	onEach(ctx, o, ticker.C, o.notify)
	return nil
}

// notify sends an event for a ConfigMap.
func (o *office) notify(name string) { o.events <- event.GenericEvent{Object: configMap(name, nil)} }

// labeler is the controller that labels what its source tells it.
func (o *office) labeler(mgr ctrl.Manager, s source.Source) error {
	return ctrl.NewControllerManagedBy(mgr).Named("labeler").WatchesRawSource(s).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, o.label(ctx, request.Name)
		}))
}

// clerk is a reconciler that leaves what it is to do to its office.
type clerk struct {
	*office
	leave func(o *office, name string)
}

// Reconcile implements [reconcile.Reconciler].
func (c *clerk) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	c.leave(c.office, request.Name)
	return reconcile.Result{}, nil
}

// runnable is what works for an office.
type runnable struct {
	*office
	run func(o *office, ctx context.Context) error
}

// Start implements [manager.Runnable].
func (r *runnable) Start(ctx context.Context) error { return r.run(r.office, ctx) }

// ringing is a source that is rung for.
type ringing struct{ *office }

// Start implements [source.Source].
func (r *ringing) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	go onEach(ctx, r.office, r.bell, func(name string) { queue.Add(request(name)) })
	return nil
}

// staffed returns the set-up of a clerk that leaves what it is to do in a way, and of what else there is in the office.
func staffed(leave func(o *office, name string), rest ...func(*office, ctrl.Manager) error) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		o := newOffice(mgr)
		errs := []error{ctrl.NewControllerManagedBy(mgr).Named("clerk").For(&corev1.ConfigMap{}).Complete(&clerk{o, leave})}
		for _, add := range rest {
			errs = append(errs, add(o, mgr))
		}
		return errors.Join(errs...)
	}
}

// running adds a runnable to an office.
func running(run func(o *office, ctx context.Context) error) func(*office, ctrl.Manager) error {
	return func(o *office, mgr ctrl.Manager) error { return mgr.Add(&runnable{o, run}) }
}

// listening adds a controller to an office that is told by events what to label.
func listening(o *office, mgr ctrl.Manager) error {
	return o.labeler(mgr, source.Channel(o.events, &handler.EnqueueRequestForObject{}))
}

// background are the set-ups of controllers that leave all they have to do to the background.
func background() map[string]func(ctrl.Manager) error {
	return map[string]func(ctrl.Manager) error{
		"a runnable with a queue": staffed((*office).leave, running((*office).work)),
		"a channel":               staffed((*office).notify, listening),
		"a poll and a channel":    staffed((*office).leave, running((*office).poll), listening),
		"a source of one's own":   staffed((*office).leave, func(o *office, mgr ctrl.Manager) error { return o.labeler(mgr, &ringing{o}) }),
		"a function after a time": staffed(func(o *office, name string) {
			time.AfterFunc(time.Minute, func() { _ = o.label(context.Background(), name) })
		}),
		"a goroutine": staffed(func(o *office, name string) {
			go func() {
				time.Sleep(time.Second)
				_ = o.label(context.Background(), name)
			}()
		}),
	}
}

// allLabeled says that all ConfigMaps are labeled in the end.
func allLabeled() core.Property {
	return properties.EventuallyAlways("all are labeled", func(s core.State) bool {
		return !slices.ContainsFunc(s.List("ConfigMap", ""), func(o core.Object) bool { return !strings.Contains(o.Content.Canonical(), `"done":"yes"`) })
	})
}

// TestBackgroundIsRun checks that what is left to the background is done, in all ways in which it can be left, with old
// caches and crashes too.
func TestBackgroundIsRun(t *testing.T) {
	for name, setup := range background() {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.Setup(setup), controllerruntime.ObjectValues(configMap("a", nil), configMap("b", nil)),
				controllerruntime.Properties(allLabeled(), properties.StableConvergence()))
			states := 0
			stale := []orrery.Staleness{{Rule: orrery.Lag(1)}}
			ways := []orrery.Options{{}, {Workers: 2, Crashes: 1, Stale: stale}}
			if !testing.Short() {
				ways = append(ways, orrery.Options{Reduction: orrery.NoReduction})
			}
			for _, options := range ways {
				result, err := orrery.Run(t.Context(), system, options)
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if report.Verdict != core.Holds {
					t.Fatalf("%s: %q, %+v", report.Verdict, report.Reasons, report.Findings)
				}
				if len(report.Memory) == 0 || !report.Memory[0].Background {
					t.Errorf("nothing is in the background: %+v", report.Memory)
				}
				states += report.States
			}
			t.Logf("%d states", states)
		})
	}
}

// forgetful is a reconciler that writes down what it leaves to its office, before it does so, and never leaves it
// twice.
type forgetful struct{ *office }

// Reconcile implements [reconcile.Reconciler].
func (f *forgetful) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var found corev1.ConfigMap
	if err := f.Get(ctx, request.NamespacedName, &found); err != nil || found.Annotations["left"] != "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	found.Annotations = map[string]string{"left": "yes"}
	if err := f.Update(ctx, &found); err != nil {
		return reconcile.Result{}, err
	}
	f.leave(request.Name)
	return reconcile.Result{}, nil
}

// TestBackgroundIsForgotten checks that what is only in the background is lost with a crash, if nothing brings it back.
func TestBackgroundIsForgotten(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(allLabeled()),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			o := newOffice(mgr)
			if err := ctrl.NewControllerManagedBy(mgr).Named("clerk").For(&corev1.ConfigMap{}).Complete(&forgetful{o}); err != nil {
				return err
			}
			return mgr.Add(&runnable{o, (*office).work})
		}))
	for crashes, want := range []core.Verdict{core.Holds, core.Violated} {
		result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: crashes})
		if err != nil {
			t.Fatal(err)
		}
		if result.Report.Verdict != want || len(result.Report.Reasons) > 0 {
			t.Errorf("%d crashes: %s, %q, want %s", crashes, result.Report.Verdict, result.Report.Reasons, want)
		}
	}
}

// TestBackgroundThatFails checks that what goes wrong in the background is found, or a reason, and that what is left
// out does not go wrong.
func TestBackgroundThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		run     func(*office, context.Context) error
		without bool
		verdict core.Verdict
		says    string
	}{
		"a panic": {run: func(*office, context.Context) error { panic("no luck") }, verdict: core.Violated, says: "no luck"},
		"a panic later": {run: func(o *office, ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-o.bell:
				panic("no luck")
			}
			return nil
		}, verdict: core.Violated, says: "no luck"},
		"a panic in a minute": {run: func(o *office, ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
				panic("no luck")
			}
			return nil
		}, verdict: core.Violated, says: "no luck"},
		"an error later": {run: func(o *office, ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-o.bell:
				return errTwice
			}
			return nil
		}, verdict: core.Inconclusive, says: "a runnable that fails ends its manager"},
		"an endless loop of calls": {run: func(o *office, ctx context.Context) error {
			for ctx.Err() == nil {
				_ = o.label(ctx, "nobody")
			}
			return nil
		}, verdict: core.Violated, says: "calls without returning"},
		"what is left out": {run: func(*office, context.Context) error { panic("no luck") }, without: true, verdict: core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			options := []controllerruntime.Option{controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Setup(staffed((*office).leave, running(test.run)))}
			if test.without {
				options = append(options, controllerruntime.WithoutRunnables("*controllerruntime_test.runnable"))
			}
			result, err := orrery.Run(t.Context(), controllerruntime.ForTest(t, newScheme(), options...), orrery.Options{MaxCalls: 50})
			if err != nil {
				if test.says == "" || !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v, want %q", err, test.says)
				}
				return
			}
			report := result.Report
			said := strings.Join(report.Reasons, "\n")
			for _, f := range report.Findings {
				said += "\n" + f.Summary
			}
			if report.Verdict != test.verdict || !strings.Contains(said, test.says) {
				t.Errorf("%s: %s, want %s and %q", report.Verdict, said, test.verdict, test.says)
			}
		})
	}
}

// TestTicking checks that what ticks in vain does not keep a check from its end, that what comes within two hours is
// found beside it, and that it is said that nothing later is.
func TestTicking(t *testing.T) {
	tick := func(_ *office, ctx context.Context) error {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}
	for _, test := range []struct {
		after time.Duration
		ticks bool
		found bool
	}{
		{100 * time.Minute, true, true},
		{24 * time.Hour, true, false},
		{24 * time.Hour, false, true},
	} {
		rest := []func(*office, ctrl.Manager) error{}
		if test.ticks {
			rest = append(rest, running(tick))
		}
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(allLabeled()),
			controllerruntime.Setup(staffed(func(o *office, name string) {
				time.AfterFunc(test.after, func() { _ = o.label(context.Background(), name) })
			}, rest...)))
		for workers := 1; workers <= 2; workers++ {
			result, err := orrery.Run(t.Context(), system, orrery.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			report := result.Report
			said := slices.ContainsFunc(report.Assumptions, func(a string) bool { return strings.Contains(a, "more than two hours") })
			if found := report.Verdict == core.Holds; found != test.found || said != test.ticks || len(report.Reasons) > 0 {
				t.Errorf("%+v: %s, %q, %q", test, report.Verdict, report.Reasons, report.Assumptions)
			}
		}
	}
}

// tidy keeps what it is told until it clears itself, as caches in memory do, and stops that when nobody refers to it
// any more.
type tidy struct{ *shelf }

type shelf struct {
	kept sync.Map
	stop chan bool
}

func newTidy() *tidy {
	s := &shelf{stop: make(chan bool)}
	go func() {
		ticker := time.NewTicker(time.Minute)
		for {
			select {
			case <-ticker.C:
				s.kept.Clear()
			case <-s.stop:
				ticker.Stop()
				return
			}
		}
	}()
	t := &tidy{s}
	runtime.SetFinalizer(t, func(t *tidy) { t.stop <- true })
	return t
}

// TestCachesThatStopThemselves has what a process leaves in its bubble, with a finalizer that would end this process,
// not do so.
func TestCachesThatStopThemselves(t *testing.T) {
	neverEnds(t)
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(allLabeled()),
		controllerruntime.Setup(staffed(func(o *office, name string) {
			runtime.GC()
			_ = o.label(context.Background(), name)
		}, func(_ *office, mgr ctrl.Manager) error {
			cache := newTidy()
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				cache.kept.Store("started", true)
				<-ctx.Done()
				return nil
			}))
		})))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		runtime.GC()
	}
	if r := result.Report; r.Verdict != core.Holds {
		t.Errorf("%s: %v", r.Verdict, r.Reasons)
	}
}

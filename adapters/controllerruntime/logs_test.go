package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/text"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// talker flips a value for ever, and logs before it reads, between, and after it has written.
type talker struct {
	client.Client
	mgr                   ctrl.Manager
	before, between, done func(context.Context, *talker)
}

func (t *talker) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	say := func(what func(context.Context, *talker)) {
		if what != nil {
			what(ctx, t)
		}
	}
	say(t.before)
	var c corev1.ConfigMap
	if err := t.Get(ctx, request.NamespacedName, &c); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	say(t.between)
	c.Data = map[string]string{"on": map[string]string{"yes": "no"}[c.Data["on"]]}
	if c.Data["on"] == "" {
		c.Data["on"] = "yes"
	}
	err := t.Update(ctx, &c)
	say(t.done)
	return reconcile.Result{}, err
}

// talk checks the controller, and returns the story of how it never settles.
func talk(t *testing.T, made talker, options orrery.Options) (*core.Report, core.Finding) {
	t.Helper()
	setup := controllerruntime.Setup(func(mgr ctrl.Manager) error {
		r := made
		r.Client, r.mgr = mgr.GetClient(), mgr
		return ctrl.NewControllerManagedBy(mgr).Named("talker").For(&corev1.ConfigMap{}).Complete(&r)
	})
	system := controllerruntime.ForTest(t, newScheme(), setup, controllerruntime.ObjectValues(configMap("c", nil)))
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Report.Findings) == 0 {
		t.Fatalf("%s: %v", result.Report.Verdict, result.Report.Reasons)
	}
	return &result.Report, result.Report.Findings[0]
}

// said returns the lines of a step as the text has them, with how many calls came before.
func said(step core.TraceStep) []string {
	var lines []string
	for _, l := range step.Logs {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s", l.Calls, l.String(), l.By())))
	}
	if step.MissingLogs != "" {
		lines = append(lines, "left out: "+step.MissingLogs)
	}
	return lines
}

// panicking has a text that cannot be had.
type panicking struct{ at *int }

func (p panicking) String() string { return fmt.Sprint(*p.at) }

// TestLogsOfSteps checks what is shown of lines that controllers log in many ways, and that all is the same when it is
// done again.
func TestLogsOfSteps(t *testing.T) {
	global := ctrllog.Log.WithName("package")
	secret := &corev1.Secret{Data: map[string][]byte{"password": []byte("hush")}}
	secret.Namespace, secret.Name = "default", "s"
	for name, test := range map[string]struct {
		talker talker
		want   []string
	}{
		"silent": {},
		"context": {talker{
			before: func(ctx context.Context, _ *talker) { ctrllog.FromContext(ctx).Info("looking", "at", "the map") },
			between: func(ctx context.Context, _ *talker) {
				l := ctrllog.FromContext(ctx).WithName("flip").WithValues("n", 1)
				l.V(1).Info("found", "none", nil)
				l.V(4).Info("closely")
				l.V(5).Info("too closely")
			},
			done: func(ctx context.Context, _ *talker) { ctrllog.FromContext(ctx).Error(errors.New("gone"), "lost") },
		}, []string{`0 info looking at="the map"`, "1 debug flip: found n=1 none=<nil>", "1 V(4) flip: closely n=1", "2 error lost error=gone"}},
		"manager and globals": {talker{
			between: func(_ context.Context, r *talker) {
				r.mgr.GetLogger().Info("of the manager")
				ctrl.Log.Info("of the package")
				global.Info("named")
				slog.New(logr.ToSlogHandler(ctrl.Log)).Warn("structured", "k", "v")
				klog.InfoS("of klog", "at", klog.KRef("default", "c"))
			},
		}, []string{"1 info of the manager", "1 info of the package", "1 info package: named", "1 info structured k=v", "1 info of klog at=default/c"}},
		"values": {talker{
			before: func(ctx context.Context, r *talker) {
				ctrllog.FromContext(ctx).Info("all\nof it", "odd", map[string]int{"b": 2, "a": 1}, "secret", secret, "bad", panicking{}, "far", make(chan int),
					"at", fmt.Sprintf("%p", r), "time", time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), "long", strings.Repeat("x", 300), "alone")
			},
		}, []string{"0 info all\nof it " + `odd="{\"a\":1,\"b\":2}" secret=default/s bad="(the text of a controllerruntime_test.panicking panics)" far="(a chan int)" at=0x… time=2001-02-03T04:05:06Z long=` +
			strings.Repeat("x", 200) + "… alone=(missing)"}},
		"goroutines": {talker{
			between: func(ctx context.Context, _ *talker) {
				var all sync.WaitGroup
				for _, name := range []string{"b", "a", "c"} {
					all.Go(func() {
						ctrllog.FromContext(ctx).Info("begins", "in", name)
						ctrl.Log.Info("ends", "in", name)
					})
				}
				ctrllog.FromContext(ctx).Info("waits")
				all.Wait()
			},
		}, []string{
			"1 info waits", "1 info begins in=a in another goroutine", "1 info ends in=a in another goroutine", "1 info begins in=b in another goroutine", "1 info ends in=b in another goroutine",
			"1 info begins in=c in another goroutine", "1 info ends in=c in another goroutine",
		}},
		"chance": {talker{
			before: func(ctx context.Context, _ *talker) {
				ctrllog.FromContext(ctx).Info("rolls", "number", rand.Uint64(), "of", "many")
			},
			between: func(ctx context.Context, _ *talker) {
				for _, i := range rand.Perm(4) { // a map of four has one order in five runs of eight
					ctrllog.FromContext(ctx).Info("visits " + "abcd"[i:i+1])
				}
			},
			done: func(ctx context.Context, _ *talker) {
				ctrllog.FromContext(ctx).Info(fmt.Sprint("drew ", rand.Uint64()))
			},
		}, []string{
			"0 info rolls number=(varies) of=many", "1 info visits a", "1 info visits b", "1 info visits c", "1 info visits d",
			"left out: the order of some lines, which is another one each time; lines that are others each time",
		}},
		"behaves otherwise": {talker{
			between: func(ctx context.Context, r *talker) {
				if l := ctrllog.FromContext(ctx); l.Enabled() {
					_ = r.List(ctx, &corev1.ConfigMapList{})
					l.Info("there are some")
				}
			},
		}, []string{"left out: all lines of talker, which does something else when its loggers are enabled"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := orrery.Options{Logs: true}
			_, finding := talk(t, test.talker, options)
			first := finding.Trace.Steps[0]
			if got := said(first); !slices.Equal(got, test.want) {
				t.Errorf("it logged\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			var one, other strings.Builder
			for _, to := range []*strings.Builder{&one, &other} {
				_, finding := talk(t, test.talker, options)
				if err := text.Story(to, finding, text.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if one.String() != other.String() {
				t.Errorf("the story was\n%s\nand is\n%s", &one, &other)
			}
			plain, without := talk(t, test.talker, orrery.Options{})
			logged, with := talk(t, test.talker, options)
			if plain.States != logged.States || plain.ReconcilesExecuted != logged.ReconcilesExecuted || plain.Verdict != logged.Verdict || without.Summary != with.Summary {
				t.Errorf("with lines there are %d states, %d reconciles, %s, %s; without %d, %d, %s, %s", logged.States, logged.ReconcilesExecuted, logged.Verdict, with.Summary,
					plain.States, plain.ReconcilesExecuted, plain.Verdict, without.Summary)
			}
			for _, step := range without.Trace.Steps {
				if got := said(step); len(got) > 0 {
					t.Errorf("nobody asked for lines, and there are %q", got)
				}
			}
		})
	}
}

// TestManyLogs checks that code which logs a million lines is listened to no longer than is of use.
func TestManyLogs(t *testing.T) {
	long(t)
	_, finding := talk(t, talker{before: func(ctx context.Context, _ *talker) {
		logger := ctrllog.FromContext(ctx)
		for range 1_000_000 {
			logger.Info("counts")
		}
	}}, orrery.Options{Logs: true})
	step := finding.Trace.Steps[0]
	if got, want := len(step.Logs), 100; got != want {
		t.Errorf("%d lines are kept, want %d", got, want)
	}
	if want := "9900 lines after the first 100; all lines after the first 10000"; step.MissingLogs != want {
		t.Errorf("left out are %q, want %q", step.MissingLogs, want)
	}
}

// says logs a message through the logger of the context.
func says(message string) func(context.Context, *talker) {
	return func(ctx context.Context, _ *talker) { ctrllog.FromContext(ctx).Info(message) }
}

// TestLogsOfCalls checks that a line is told once, with the call behind which it was logged, where each call is a step
// of its own: what comes before the first call is told with that.
func TestLogsOfCalls(t *testing.T) {
	_, finding := talk(t, talker{before: says("before"), between: says("between"), done: says("done")}, orrery.Options{Logs: true, Granularity: orrery.PerCall})
	var told []string
	for _, step := range finding.Trace.Steps[:finding.Trace.CycleStart] {
		told = append(told, fmt.Sprintf("%d calls %q", len(step.Calls), said(step)))
	}
	want := []string{`0 calls []`, `1 calls ["0 info before" "1 info between"]`, `1 calls ["1 info done"]`, `0 calls []`}
	if !slices.Equal(told, want) {
		t.Errorf("the steps of the first reconcile have\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// pairer creates two objects, the second of them only if it has created the first.
type pairer struct{ client.Client }

func (p *pairer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	logger := ctrllog.FromContext(ctx)
	for _, name := range []string{"first", "second"} {
		logger.Info("creating", "name", name)
		c := configMap(name, nil)
		c.SetResourceVersion("")
		if err := p.Create(ctx, c); err != nil {
			return reconcile.Result{}, client.IgnoreAlreadyExists(err)
		}
		logger.Info("created", "name", name)
	}
	return reconcile.Result{}, nil
}

// TestLogsBeforeCrash checks that a step in which a controller crashes has the lines up to the call that it no longer
// makes, and none that it would have logged behind that.
func TestLogsBeforeCrash(t *testing.T) {
	want := []string{"0 info creating name=first", "1 info created name=first", "1 info creating name=second"}
	for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
		setup := controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("pairer").For(&corev1.ConfigMap{}).Complete(&pairer{mgr.GetClient()})
		})
		system := controllerruntime.ForTest(t, newScheme(), setup, controllerruntime.ObjectValues(configMap("c", nil)))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{Logs: true, Crashes: 1, Granularity: granularity})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(result.Report.Findings, func(f core.Finding) bool { return f.Property == properties.CrashSafety().Name })
		if i < 0 {
			t.Fatalf("%s: the crash was not found: %v", granularity, result.Report.Findings)
		}
		var lines []string
		for _, step := range result.Report.Findings[i].Trace.Steps {
			crashes := step.Crashes || step.Kind == core.Restart.Name()
			if !crashes || granularity == orrery.PerReconcile {
				lines = append(lines, said(step)...)
			} else if got := said(step); len(got) > 0 {
				t.Errorf("%s: the crash itself logs %q", granularity, got)
			}
			if crashes {
				break
			}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s: up to the crash, there are %q, want %q", granularity, lines, want)
		}
	}
}

// TestErrorsThatNobodyHandles has a controller hand errors to client-go that nobody handles: who does so must not sleep
// until the last such error is a while ago, which was on another clock.
func TestErrorsThatNobodyHandles(t *testing.T) {
	r := marked(t, marking(func(ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		return func(ctx context.Context, _ *corev1.ConfigMap) error {
			start := time.Now()
			for range 3 {
				utilruntime.HandleErrorWithContext(ctx, errors.New("nobody handles it"), "of a test")
			}
			if slept := time.Since(start); slept > 0 {
				return fmt.Errorf("it slept for %s", slept)
			}
			return nil
		}
	}))
	if r.Verdict != core.Holds {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, r.Findings)
	}
}

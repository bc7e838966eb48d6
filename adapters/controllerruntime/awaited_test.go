package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestUsersActAfterTheLastLongTime checks what is said of controllers that wait for a time which begins with an action
// of a user: a long time passes behind each of these. One that forgets to look again is found, as it waits for nothing.
// One that tries again and again until a user acts does the same again each time.
func TestUsersActAfterTheLastLongTime(t *testing.T) {
	const finalizer = "example.org/drain"
	drains := func(waits ctrl.Result) func(context.Context, client.Client, *Widget) (ctrl.Result, error) {
		return func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.DeletionTimestamp == nil {
				return ctrl.Result{}, nil
			}
			if time.Since(w.DeletionTimestamp.Time) < 5*time.Minute {
				return waits, nil
			}
			controllerutil.RemoveFinalizer(w, finalizer)
			return ctrl.Result{}, client.IgnoreNotFound(c.Update(ctx, w))
		}
	}
	old := widget("a", 1)
	old.Finalizers = []string{finalizer}
	for _, test := range []struct {
		name      string
		reconcile func(context.Context, client.Client, *Widget) (ctrl.Result, error)
		action    controllerruntime.Action
		verdict   core.Verdict
		says      string
	}{
		{"a period of grace", drains(ctrl.Result{RequeueAfter: time.Minute}), controllerruntime.Delete(old), core.Holds, "Users do not act after the last of these times"},
		{"a period of grace, and nobody looks again", drains(ctrl.Result{}), controllerruntime.Delete(old), core.Violated, "stays forever"},
		{"another try, some time after the last", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			next, err := time.Parse(time.RFC3339, w.Annotations["next"])
			switch {
			case w.Status.Ready == 1:
				return ctrl.Result{}, nil
			case err == nil && time.Now().Before(next):
				return ctrl.Result{RequeueAfter: time.Until(next)}, nil
			case c.Get(ctx, client.ObjectKeyFromObject(configMap("needed", nil)), &corev1.ConfigMap{}) != nil:
				w.Annotations = map[string]string{"next": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
				return ctrl.Result{}, c.Update(ctx, w)
			case len(w.Annotations) > 0:
				w.Annotations = nil
				return ctrl.Result{}, c.Update(ctx, w)
			}
			w.Status.Ready = 1
			return ctrl.Result{}, c.Status().Update(ctx, w)
		}, controllerruntime.Create(configMap("needed", nil)), core.Holds, "would come to nothing new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(old.DeepCopyObject().(*Widget)), controllerruntime.Scenario(test.action),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
						w := &Widget{}
						if err := c.Get(ctx, r.NamespacedName, w); err != nil {
							return ctrl.Result{}, client.IgnoreNotFound(err)
						}
						return test.reconcile(ctx, c, w)
					}))
				}))
			system.Properties = append(properties.Convergent(), properties.DeletionCompletes())
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(slices.Concat(result.Report.Reasons, result.Report.Assumptions), "\n")
			for _, f := range result.Report.Findings {
				text += f.Summary + "\n"
			}
			if result.Report.Verdict != test.verdict || !strings.Contains(text, test.says) {
				t.Errorf("%s, want %s with %q; it says:\n%s", result.Report.Verdict, test.verdict, test.says, text)
			}
		})
	}
}

// TestSeveralTimesAfterUsers checks a controller that waits for a time after a user has acted, and then looks whether
// another one takes too long, which it does not, whenever the user acts. Where it takes two more times until it is
// done, a user may act after all but the last, however many times pass, so that the check is inconclusive, and says so.
func TestSeveralTimesAfterUsers(t *testing.T) {
	long(t)
	const asked, since, begun, pauses = "asked", "since", "begun", "pauses"
	note := func(w *Widget, name string) {
		w.Annotations[name] = time.Now().UTC().Format(time.RFC3339)
	}
	left := func(w *Widget, name string, of time.Duration) time.Duration {
		at, err := time.Parse(time.RFC3339, w.Annotations[name])
		if err != nil {
			return of
		}
		return time.Until(at.Add(of))
	}
	promote := func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
		_, waits := w.Annotations[since]
		_, begins := w.Annotations[begun]
		switch pause, deadline := left(w, since, 10*time.Second), left(w, begun, 10*time.Minute); {
		case w.Annotations[asked] == "" || w.Status.Ready == 1:
			return ctrl.Result{}, nil
		case !waits:
			note(w, since)
		case !begins && pause > 0:
			return ctrl.Result{RequeueAfter: pause}, nil
		case !begins && w.Annotations[pauses] == "two":
			w.Annotations[pauses] = "one"
			note(w, since)
		case !begins:
			note(w, begun)
		case deadline > 0:
			return ctrl.Result{RequeueAfter: deadline}, nil
		default:
			note(w, "failed")
		}
		return ctrl.Result{}, c.Update(ctx, w)
	}
	follow := func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
		if w.Annotations[begun] == "" || w.Status.Ready == 1 {
			return ctrl.Result{}, nil
		}
		w.Status.Ready = 1
		return ctrl.Result{}, c.Status().Update(ctx, w)
	}
	controls := func(name string, does func(context.Context, client.Client, *Widget) (ctrl.Result, error)) controllerruntime.Option {
		return controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				w := &Widget{}
				if err := c.Get(ctx, r.NamespacedName, w); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				return does(ctx, c, w)
			}))
		})
	}
	before, twice, after := widget("a", 1), widget("a", 1), widget("a", 1)
	twice.Annotations = map[string]string{pauses: "two"}
	after.Annotations = map[string]string{asked: "yes"}
	for name, test := range map[string]struct {
		begin     *Widget
		acts      bool
		deadlines int
		verdict   core.Verdict
	}{
		"he may act later":                         {before, true, 0, core.Holds},
		"he may act later, with more times":        {before, true, 5, core.Holds},
		"he may act later, twice":                  {twice, true, 0, core.Inconclusive},
		"he may act later, twice, with more times": {twice, true, 5, core.Inconclusive},
		"he has acted":                             {after, false, 0, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			options := []controllerruntime.Option{controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(test.begin.DeepCopyObject().(*Widget))}
			if test.acts {
				options = append(options, controllerruntime.Scenario(controllerruntime.Change("ask", test.begin, func(w *Widget) { metav1.SetMetaDataAnnotation(&w.ObjectMeta, asked, "yes") })))
			}
			system := controllerruntime.ForTest(t, newScheme(), append(options, controls("promoter", promote), controls("follower", follow))...)
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{Deadlines: test.deadlines})
			if err != nil {
				t.Fatal(err)
			}
			reasons := strings.Join(result.Report.Reasons, "\n")
			if result.Report.Verdict != test.verdict || (test.verdict == core.Inconclusive) != strings.Contains(reasons, "begin with objects as he leaves them") {
				t.Errorf("%s, want %s: %v, %v", result.Report.Verdict, test.verdict, result.Report.Reasons, result.Report.Findings)
			}
		})
	}
}

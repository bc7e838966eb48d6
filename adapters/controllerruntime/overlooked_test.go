package controllerruntime_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestOverlookedTimes has a controller delete an object once it is an hour old, or mark it, or note that it has looked:
// if it returns when to run again, it does; if it does not, nothing makes it.
func TestOverlookedTimes(t *testing.T) {
	deletes := func(ctx context.Context, c client.Client, object *corev1.ConfigMap) error {
		return c.Delete(ctx, object)
	}
	looks := func(ctx context.Context, c client.Client, object *corev1.ConfigMap) error {
		object.Annotations = map[string]string{"looked": time.Now().UTC().Format(time.RFC3339)}
		return c.Update(ctx, object)
	}
	none := func(context.Context, client.Client, *corev1.ConfigMap) error { return nil }
	for about, test := range map[string]struct {
		late    func(context.Context, client.Client, *corev1.ConfigMap) error
		returns bool
		says    string
		verdict core.Verdict
	}{
		"it returns":                  {deletes, true, "", core.Holds},
		"it forgets to":               {deletes, false, "ager would do something later that nothing makes it do: reconciling default/a after a long time would delete ConfigMap default/a", core.Inconclusive},
		"it does nothing later":       {none, false, "", core.Holds},
		"it forgets to note the time": {looks, false, "ager would do something later that nothing makes it do: reconciling default/a after a long time would change ConfigMap default/a", core.Inconclusive},
	} {
		t.Run(about, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("ager").Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					object := &corev1.ConfigMap{}
					if err := c.Get(ctx, req.NamespacedName, object); err != nil {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					left := time.Hour - time.Since(object.CreationTimestamp.Time)
					switch {
					case left <= 0 && object.Annotations == nil:
						return ctrl.Result{}, test.late(ctx, c, object)
					case left > 0 && test.returns:
						return ctrl.Result{RequeueAfter: left}, nil
					}
					return ctrl.Result{}, nil
				}))
			}), controllerruntime.ObjectValues(object))
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(result.Report.Reasons, func(text string) bool { return strings.HasPrefix(text, test.says) })
			if result.Report.Verdict != test.verdict || test.says != "" && !said {
				t.Errorf("%s: %q\n%v", result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
			}
		})
	}
}

// TestNamedByTheTime has a controller make one backup that it names by the time, and note its name: where it is cut off
// before it has noted that, it makes another one.
func TestNamedByTheTime(t *testing.T) {
	for about, test := range map[string]struct {
		name    func(*corev1.ConfigMap) string
		options orrery.Options
		want    core.Verdict
	}{
		"by the time":                        {func(*corev1.ConfigMap) string { return strconv.FormatInt(time.Now().Unix(), 10) }, orrery.Options{}, core.Holds},
		"by the time, and it crashes":        {func(*corev1.ConfigMap) string { return strconv.FormatInt(time.Now().Unix(), 10) }, orrery.Options{Crashes: 1}, core.Violated},
		"by the time, and a call fails":      {func(*corev1.ConfigMap) string { return time.Now().UTC().Format("20060102150405") }, orrery.Options{Failures: 1}, core.Violated},
		"by when it was created, it crashes": {func(o *corev1.ConfigMap) string { return strconv.FormatInt(o.CreationTimestamp.Unix(), 10) }, orrery.Options{Crashes: 1}, core.Holds},
	} {
		t.Run(about, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("keeper").Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					object := &corev1.ConfigMap{}
					if err := c.Get(ctx, req.NamespacedName, object); err != nil || object.Annotations["backup"] != "" {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					backup := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: "a-" + test.name(object)}}
					if err := c.Create(ctx, backup); client.IgnoreAlreadyExists(err) != nil {
						return ctrl.Result{}, err
					}
					object.Annotations = map[string]string{"backup": backup.Name}
					return ctrl.Result{}, c.Update(ctx, object)
				}))
			}), controllerruntime.ObjectValues(object))
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if result.Report.Verdict != test.want {
				t.Errorf("%s: %q\n%v", result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
			}
		})
	}
}

// striker deletes an object that it has seen three times in a row.
type striker struct {
	client.Client
	seen    map[string]int
	returns bool
}

func (r *striker) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.seen[req.Name]++; r.seen[req.Name] >= 3 {
		delete(r.seen, req.Name)
		return ctrl.Result{}, client.IgnoreNotFound(r.Delete(ctx, object))
	}
	if r.returns {
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	}
	return ctrl.Result{}, nil
}

// TestOverlookedRuns has a controller count in memory how often it has run, and do something the third time: if it asks
// to be run again, it does; if it does not, nothing makes it.
func TestOverlookedRuns(t *testing.T) {
	for _, returns := range []bool{true, false} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("striker").Complete(&striker{mgr.GetClient(), map[string]int{}, returns})
		}), controllerruntime.ObjectValues(object))
		if err != nil {
			t.Fatal(err)
		}
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(result.Report.Reasons, func(text string) bool {
			return strings.HasPrefix(text, "striker would do something later that nothing makes it do: reconciling default/a 2 times in a row would delete ConfigMap default/a")
		})
		if said == returns || (result.Report.Verdict == core.Holds) != returns {
			t.Errorf("it asks to be run again: %t: %s: %q\n%v", returns, result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
		}
	}
}

// TestOverlookedFailures wants what a controller has given up, and would do at once if it ran again, not to be said to
// wait for a time.
func TestOverlookedFailures(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(properties.StableConvergence()),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			c := mgr.GetClient()
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("ager").Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				object := &corev1.ConfigMap{}
				if err := c.Get(ctx, req.NamespacedName, object); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				if object.Labels == nil {
					object.Labels = map[string]string{"seen": "yes"}
					_ = c.Update(ctx, object)
					return ctrl.Result{}, nil
				}
				if left := time.Hour - time.Since(object.CreationTimestamp.Time); left > 0 {
					return ctrl.Result{RequeueAfter: left}, nil
				}
				return ctrl.Result{}, c.Delete(ctx, object)
			}))
		}))
	result, err := orrery.Run(t.Context(), system, orrery.Options{Failures: 1})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ager would do something later that nothing makes it do: reconciling default/a once more would change ConfigMap default/a"
	if r := result.Report; r.Verdict != core.Inconclusive || !slices.ContainsFunc(r.Reasons, func(reason string) bool {
		return strings.HasPrefix(reason, want) && strings.HasSuffix(reason, "return an error, or Requeue, where it has not done all")
	}) {
		t.Errorf("%s: %q\n%v", r.Verdict, r.Reasons, r.Findings)
	}
}

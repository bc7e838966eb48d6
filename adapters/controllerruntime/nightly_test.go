package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// startsNightly starts a run a day, whose name has the time in nanoseconds, and notes when the next one is due.
func startsNightly(ctx context.Context, c client.Client, request reconcile.Request) (reconcile.Result, error) {
	var owner corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &owner); err != nil || owner.Labels["run"] != "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	now := time.Now()
	next, err := time.Parse(time.RFC3339, owner.Annotations["next"])
	switch {
	case err == nil && next.After(now):
		return reconcile.Result{RequeueAfter: next.Sub(now)}, nil
	case err == nil:
		run := configMap(fmt.Sprintf("%s-%d", owner.Name, now.UnixNano()), nil)
		run.Labels = map[string]string{"run": "yes"}
		if err := c.Create(ctx, run); err != nil {
			return reconcile.Result{}, err
		}
	}
	owner.Annotations = map[string]string{"next": now.Add(24 * time.Hour).Format(time.RFC3339)}
	return reconcile.Result{RequeueAfter: 24 * time.Hour}, c.Update(ctx, &owner)
}

// TestNamesOfTheTime wants a controller that names objects by the time not to be said to retry forever where no more
// time passes: a nanosecond later, the name is another one. It waits for one time, whatever it names then.
func TestNamesOfTheTime(t *testing.T) {
	for crashes := range 2 {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("app", nil)), controllerruntime.Properties(properties.Convergent()...),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("nightly").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					return startsNightly(ctx, mgr.GetClient(), request)
				}))
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: crashes})
		if err != nil {
			t.Fatal(err)
		}
		report := result.Report
		if crashes > 0 { // behind the crash, it starts another one
			if report.Verdict != core.Violated || len(report.Findings) != 1 || report.Findings[0].Property != "crash safety" {
				t.Errorf("%s, %q, %v", report.Verdict, report.Reasons, report.Findings)
			}
			continue
		}
		if report.Verdict != core.Inconclusive || len(report.Reasons) != 1 || !strings.Contains(report.Reasons[0], "after the last of the times that passed") {
			t.Errorf("%d crashes: %s, %q, %v", crashes, report.Verdict, report.Reasons, report.Findings)
		}
	}
}

// TestHeartbeats wants what is done again and again, ten minutes after the last time, to be no reason against a verdict
// if it does nothing but renew a time, and one if it comes to another thing each time.
func TestHeartbeats(t *testing.T) {
	long(t)
	const every = 10 * time.Minute
	for name, test := range map[string]struct {
		more  func(data map[string]string, now time.Time)
		holds bool
	}{
		"it renews a time":     {func(map[string]string, time.Time) {}, true},
		"it writes one thing":  {func(data map[string]string, _ time.Time) { data["state"] = "refreshed" }, true},
		"it writes a deadline": {func(data map[string]string, now time.Time) { data["next"] = now.Add(every).Format(time.RFC3339) }, true},
		"it toggles": {func(data map[string]string, _ time.Time) {
			data["on"] = map[bool]string{true: "no", false: "yes"}[data["on"] == "yes"]
		}, false},
		"it counts": {func(data map[string]string, _ time.Time) { data["count"] += "x" }, false},
		"it keeps the last two": {func(data map[string]string, now time.Time) {
			data["before"], data["then"] = data["then"], now.Format(time.RFC3339)
		}, false},
		"it ends in 2050": {func(data map[string]string, now time.Time) {
			if now.Year() >= 2050 {
				data["state"] = "ended"
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("app", nil)), controllerruntime.Properties(properties.Convergent()...),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					return ctrl.NewControllerManagedBy(mgr).Named("beats").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var app corev1.ConfigMap
						if err := mgr.GetClient().Get(ctx, request.NamespacedName, &app); err != nil {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						last, err := time.Parse(time.RFC3339, app.Data["last"])
						if left := time.Until(last.Add(every)); err == nil && left > 0 {
							return reconcile.Result{RequeueAfter: left}, nil
						}
						if app.Data == nil {
							app.Data = map[string]string{}
						}
						now := time.Now().UTC()
						test.more(app.Data, now)
						app.Data["last"] = now.Format(time.RFC3339)
						return reconcile.Result{RequeueAfter: every}, mgr.GetClient().Update(ctx, &app)
					}))
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			switch report := result.Report; {
			case test.holds && (report.Verdict != core.Holds || !strings.Contains(strings.Join(report.Assumptions, " "), "would come to nothing new")):
				t.Errorf("it is %s: %q, with the assumptions %q", report.Verdict, report.Reasons, report.Assumptions)
			case !test.holds && (report.Verdict != core.Inconclusive || len(report.Reasons) != 1 || !strings.Contains(report.Reasons[0], "after the last of the times that passed")):
				t.Errorf("it is %s: %q", report.Verdict, report.Reasons)
			}
		})
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestTickAtDeadline checks a poll whose last tick comes at the moment at which it is given up: either may be the
// first, and both are searched.
func TestTickAtDeadline(t *testing.T) {
	for timeout, want := range map[time.Duration]core.Verdict{5500 * time.Millisecond: core.Holds, 5 * time.Second: core.Holds} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
			controllerruntime.Scenario(controllerruntime.Create(configMap("needed", nil))),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
					err := wait.PollUntilContextTimeout(ctx, time.Second, timeout, true, func(ctx context.Context) (bool, error) {
						return exists(ctx, c, "needed"), nil
					})
					if wait.Interrupted(err) {
						return ctrl.Result{RequeueAfter: time.Minute}, nil
					}
					return ctrl.Result{}, create(ctx, c, "done")
				}))
			}))
		system.Properties = properties.Convergent()
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(result.Report.Reasons, "\n")
		if result.Report.Verdict != want {
			t.Errorf("with a timeout of %s: %s, want %s; it says:\n%s", timeout, result.Report.Verdict, want, text)
		}
	}
}

// TestTimesOfDay wants a controller that looks again after a while, and does something only at a certain time of the
// day or of the week, to be seen to do it.
func TestTimesOfDay(t *testing.T) {
	for name, test := range map[string]struct {
		every time.Duration
		acts  func(now time.Time) bool
		want  core.Verdict
	}{
		"between two and four":            {30 * time.Minute, func(now time.Time) bool { return now.Hour() >= 2 && now.Hour() < 4 }, core.Violated},
		"on Tuesdays":                     {30 * time.Minute, func(now time.Time) bool { return now.Weekday() == time.Tuesday }, core.Violated},
		"on workdays, from nine to five":  {10 * time.Minute, func(now time.Time) bool { return now.Weekday()%6 != 0 && now.Hour() >= 9 && now.Hour() < 17 }, core.Violated},
		"at three, every five hours":      {5 * time.Hour, func(now time.Time) bool { return now.Hour() == 3 }, core.Violated},
		"on Wednesdays, every day":        {24 * time.Hour, func(now time.Time) bool { return now.Weekday() == time.Wednesday }, core.Violated},
		"at three, every day at midnight": {24 * time.Hour, func(now time.Time) bool { return now.Hour() == 3 }, core.Holds},
		"never":                           {30 * time.Minute, func(now time.Time) bool { return now.Hour() == 24 }, core.Holds},
		"by day, and nobody looks again":  {0, func(now time.Time) bool { return now.Hour() >= 9 && now.Hour() < 17 }, core.Inconclusive},
		"never, and nobody looks again":   {0, func(now time.Time) bool { return now.Hour() == 24 }, core.Holds},
		// A month is too short, and a year too long.
		"between two and three months": {24 * time.Hour, func(now time.Time) bool { return now.YearDay() > 60 && now.YearDay() <= 90 && now.Year() == 2000 }, core.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("app", nil)), controllerruntime.Properties(properties.Convergent()...),
				controllerruntime.Properties(core.Property{Name: "it stays", Invariant: func(s core.State) error {
					if s.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: "app"}) == nil {
						return errors.New("it is gone")
					}
					return nil
				}}),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("cleans").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var app corev1.ConfigMap
						if err := c.Get(ctx, request.NamespacedName, &app); err != nil {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						if test.acts(time.Now().UTC()) {
							return reconcile.Result{}, c.Delete(ctx, &app)
						}
						return reconcile.Result{RequeueAfter: test.every}, nil
					}))
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report := result.Report; report.Verdict != test.want {
				t.Errorf("%s, %q, %v", report.Verdict, report.Reasons, report.Findings)
			}
		})
	}
}

package controllerruntime_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// patient leaves a Widget alone until some minutes after its set-up. Then it labels it, most times of the check.
type patient struct {
	ctrl.Manager

	started time.Time
	seconds int64 // in place of a time
	most    int
}

// Reconcile implements [reconcile.Reconciler].
func (p *patient) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	const grace = 5 * time.Minute
	started := p.started
	if p.seconds > 0 {
		started = time.Unix(p.seconds, 0)
	}
	if left := grace - time.Since(started); left > 0 {
		return reconcile.Result{RequeueAfter: min(left, grace)}, nil
	}
	w := &Widget{}
	if err := p.GetClient().Get(ctx, r.NamespacedName, w); err != nil {
		return reconcile.Result{}, err
	}
	times, err := strconv.Atoi(w.Labels["times"])
	if err == nil && times >= p.most {
		return reconcile.Result{}, nil
	}
	w.Labels = map[string]string{"times": strconv.Itoa((times + 1) % 2)}
	return reconcile.Result{}, p.GetClient().Update(ctx, w)
}

// TestGracePeriods checks controllers that leave everything alone for a time after their set-up: its clock is that of
// the runs, so that the time passes.
func TestGracePeriods(t *testing.T) {
	for name, test := range map[string]struct {
		make func(ctrl.Manager) *patient
		want core.Verdict
	}{
		"once":                 {func(m ctrl.Manager) *patient { return &patient{m, time.Now(), 0, 1} }, core.Holds},
		"for ever":             {func(m ctrl.Manager) *patient { return &patient{m, time.Now(), 0, 2} }, core.Violated},
		"for ever, by seconds": {func(m ctrl.Manager) *patient { return &patient{m, time.Time{}, time.Now().Unix(), 2} }, core.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(test.make(mgr))
				}))
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != test.want || !slices.Equal(r.Awaiting, []string{"widget"}) {
				t.Errorf("%s with %d states, %v waits: %v", r.Verdict, r.States, r.Awaiting, r.Reasons)
			}
		})
	}
}

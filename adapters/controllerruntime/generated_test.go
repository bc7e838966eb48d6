package controllerruntime_test

import (
	"context"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// setUpItems registers a keeper, which makes an item with a generated name where there is none and counts them, and a
// culler, which deletes by its name what its cache shows as old: the first item is.
func setUpItems(mgr ctrl.Manager) error {
	want := types.NamespacedName{Namespace: "default", Name: "want"}
	items := client.MatchingLabels{"item": "yes"}
	live := mgr.GetAPIReader()
	keeper := reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		var all corev1.ConfigMapList
		var counted corev1.ConfigMap
		if err := live.List(ctx, &all, items); err != nil || len(all.Items) > 0 {
			return reconcile.Result{}, err
		}
		if err := live.Get(ctx, want, &counted); err != nil {
			return reconcile.Result{}, err
		}
		made, _ := strconv.Atoi(counted.Data["made"])
		counted.Data = map[string]string{"made": strconv.Itoa(made + 1)}
		if err := mgr.GetClient().Update(ctx, &counted); err != nil {
			return reconcile.Result{}, err
		}
		item := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "item-", Labels: map[string]string{"item": "yes"}}}
		if made == 0 {
			item.Data = map[string]string{"old": "yes"}
		}
		return reconcile.Result{}, mgr.GetClient().Create(ctx, item)
	})
	culler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var item corev1.ConfigMap
		err := mgr.GetClient().Get(ctx, request.NamespacedName, &item)
		if err != nil || item.Data["old"] == "" {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		doomed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: item.Namespace, Name: item.Name}}
		return reconcile.Result{Requeue: true}, client.IgnoreNotFound(mgr.GetClient().Delete(ctx, doomed))
	})
	toWant := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: want}}
	})
	if err := ctrl.NewControllerManagedBy(mgr).Named("keeper").Watches(&corev1.ConfigMap{}, toWant).Complete(keeper); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("culler").For(&corev1.ConfigMap{}).Complete(culler)
}

// TestGeneratedNamesOfTheGone has a controller delete by its name what is gone already, as far as its stale cache goes:
// no other object has got the name since.
func TestGeneratedNamesOfTheGone(t *testing.T) {
	system := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.Setup(setUpItems),
		controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "want"}}),
		controllerruntime.Properties(properties.SameOutcome(), properties.StalenessSafety()),
	)
	const behind = 3
	result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(behind)}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds {
		t.Errorf("%s with %d outcomes in %d states: %v", r.Verdict, r.Outcomes, r.States, r.Reasons)
		for _, f := range r.Findings {
			t.Error(f.Summary)
		}
	}
}

package replay_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/kube/standin"
	"github.com/orrery-dev/orrery/adapters/observe"
)

// gatherer reads several objects at once.
func gatherer(also bool, runs *atomic.Int64) setup {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("gatherer").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				defer runs.Add(1)
				var wait sync.WaitGroup
				names := []string{"p", "q", "r"}
				found := make([]bool, len(names))
				for i, name := range names {
					wait.Go(func() {
						found[i] = mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &corev1.ConfigMap{}) == nil
					})
				}
				wait.Wait()
				if also {
					return ctrl.Result{}, mgr.GetClient().Delete(ctx, configMap("p"))
				}
				return ctrl.Result{Requeue: found[0] && !found[1]}, nil
			}))
	}
}

func TestConcurrentCallsAreAnsweredInTheirOrder(t *testing.T) {
	var runs atomic.Int64
	folder := record(t, observe.Options{}, gatherer(false, &runs), func(_ *standin.Cluster, c client.Client) {
		for _, name := range []string{"q", "p"} {
			if err := c.Create(context.Background(), configMap(name)); err != nil {
				t.Fatal(err)
			}
		}
		for runs.Load() < 2 {
			time.Sleep(5 * time.Millisecond)
		}
		settle()
	})
	if report := replayed(t, folder, gatherer(false, &runs)); report.Same != report.Reconciles || report.Same < 2 {
		t.Errorf("%s", textOf(report))
	}
	report := replayed(t, folder, gatherer(true, &runs))
	if report.Parted != report.Reconciles || report.Partings[0].Step != 4 || report.Partings[0].Now != "delete ConfigMap default/p" || report.Partings[0].Hint == "" {
		t.Errorf("%s", textOf(report))
	}
}

// chancy asks for another run after a time that is drawn by chance.
func chancy(runs *atomic.Int64) setup {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("chancy").Complete(
			reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
				defer runs.Add(1)
				return ctrl.Result{RequeueAfter: time.Hour + rand.N(time.Hour)}, nil
			}))
	}
}

func TestChanceIsNoParting(t *testing.T) {
	var runs atomic.Int64
	folder := record(t, observe.Options{}, chancy(&runs), func(_ *standin.Cluster, c client.Client) {
		if err := c.Create(context.Background(), configMap("a")); err != nil {
			t.Fatal(err)
		}
		for runs.Load() < 1 {
			time.Sleep(5 * time.Millisecond)
		}
		settle()
	})
	report := replayed(t, folder, chancy(&runs))
	if report.Parted != 0 || report.MissedReconciles() != 1 || !strings.Contains(textOf(report), "chance") {
		t.Errorf("%s", textOf(report))
	}
}

func TestReportsAreData(t *testing.T) {
	report := replayed(t, recordWorker(t, observe.Options{KeepSecrets: true}), worker(variant{"no", "worker"}))
	text, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(text), `"partings":[{"process":"test/0","controller":"worker"`) {
		t.Errorf("%s %v", text, err)
	}
}

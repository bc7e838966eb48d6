package observe_test

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/record/live/analysis"
)

// counter counts its reconciles in a ConfigMap, without the optimistic lock: where the cache is stale, a count is lost.
func counter(runs *atomic.Int64) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("counter").Complete(
			reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				if runs.Add(1) > 2 {
					return ctrl.Result{}, nil
				}
				cm := &corev1.ConfigMap{}
				if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
					return ctrl.Result{}, err
				}
				count, _ := strconv.Atoi(cm.Data["count"])
				cm.Data = map[string]string{"count": strconv.Itoa(count + 1)}
				cm.ResourceVersion = ""
				return ctrl.Result{RequeueAfter: time.Millisecond}, c.Update(ctx, cm)
			}))
	}
}

// TestLostUpdate finds a race in a recording: the read that was stale, and what the lost update came from.
func TestLostUpdate(t *testing.T) {
	var files []*file
	var runs atomic.Int64
	c, _, stop := running(t, newLaggingServer(t, 200*time.Millisecond), inMemory(&files), counter(&runs))
	if err := c.Create(t.Context(), configMap("web")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has counted, and seen that", func() bool { return runs.Load() >= 4 })
	stop()
	got := configMap("web")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil || got.Data["count"] != "1" {
		t.Fatalf("the race did not happen: %v, %v", got.Data, err)
	}
	recording := []analysis.Source{{Name: "recording", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[0].Bytes())), nil }}}
	var found []analysis.StaleRead
	notes, err := analysis.Stale(recording, func(s analysis.StaleRead) error {
		found = append(found, s)
		return nil
	})
	if err != nil || len(notes.Said) > 0 || len(found) != 1 {
		t.Fatalf("stale reads %+v, notes %+v, %v", found, notes, err)
	}
	s := found[0]
	if s.Read.String() != "ConfigMap default/web@1" || s.Held != "2" || s.Behind != 1 || s.For <= 0 || len(s.Writes) != 1 || s.Writes[0].Answer[0].ResourceVersion != "3" {
		t.Errorf("%+v", s)
	}
	why, _, err := analysis.Why(recording, "configmap/default/web")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	why.Text(&out)
	for _, want := range []string{
		"ConfigMap default/web@3", "written by update in the reconcile of counter default/web", "which began because the last reconcile asked for it",
		"added ConfigMap default/web@1",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
}

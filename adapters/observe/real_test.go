//go:build unix

package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
	"github.com/orrery-dev/orrery/adapters/observe"
	"github.com/orrery-dev/orrery/record/live"
)

// realServer starts a real API server, if there is one that need not be built first.
func realServer(t testing.TB) *rest.Config {
	t.Helper()
	ctrl.SetLogger(logr.Discard()) // which the manager would miss, at length
	binaries, err := controlplane.Present()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no kube-apiserver yet: set KUBEBUILDER_ASSETS, or let orrery confirm build one")
	}
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(context.Background(), binaries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane.Config()
}

// realManager returns a manager with everything as it is by default.
func realManager(t testing.TB, configuration *rest.Config) ctrl.Manager {
	t.Helper()
	anyName := true
	mgr, err := ctrl.NewManager(configuration, ctrl.Options{
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &anyName},
		MapperProvider: func(c *rest.Config, h *http.Client) (meta.RESTMapper, error) {
			return apiutil.NewDynamicRESTMapper(c, h)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// copying keeps a Secret and an annotation for each ConfigMap of a namespace: a cached read, a live one, a create and
// an update.
func copying(mgr ctrl.Manager, namespace string, finished *atomic.Int64) error {
	c, past := mgr.GetClient(), mgr.GetAPIReader()
	inNamespace := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetNamespace() == namespace && strings.HasPrefix(o.GetName(), "cm-")
	})
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("copying").WithEventFilter(inNamespace).Complete(
		reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			cm := &corev1.ConfigMap{}
			if err := c.Get(ctx, r.NamespacedName, cm); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if cm.Annotations["copied"] != "" {
				finished.Add(1)
				return ctrl.Result{}, nil
			}
			if err := past.Get(ctx, r.NamespacedName, &corev1.Secret{}); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, err
			}
			secret := &corev1.Secret{StringData: map[string]string{"password": "hunter2"}}
			secret.Namespace, secret.Name = r.Namespace, r.Name
			if err := c.Create(ctx, secret); err != nil {
				return ctrl.Result{}, err
			}
			cm.Annotations = map[string]string{"copied": "yes"}
			return ctrl.Result{}, c.Update(ctx, cm)
		}))
}

// reconciled makes ConfigMaps in a namespace of their own, and returns what it takes a manager to reconcile all of
// them.
func reconciled(t testing.TB, mgr ctrl.Manager, namespace string, objects int) cost {
	t.Helper()
	past, err := client.New(mgr.GetConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{}
	ns.Name = namespace
	if err := past.Create(context.Background(), ns); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		cm := configMap(fmt.Sprintf("cm-%d", i))
		cm.Namespace = namespace
		cm.Data = map[string]string{"text": strings.Repeat("some text ", 100)}
		if err := past.Create(context.Background(), cm); err != nil {
			t.Fatal(err)
		}
	}
	var finished atomic.Int64
	if err := copying(mgr, namespace, &finished); err != nil {
		t.Fatal(err)
	}
	defer func() { // so that the next manager has nothing to do with them
		for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			if err := past.DeleteAllOf(context.Background(), o, client.InNamespace(namespace)); err != nil {
				t.Error(err)
			}
		}
	}()
	return measured(t, func() time.Duration {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		started := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		for finished.Load() < int64(objects) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(started)
		if ctx.Err() != nil {
			t.Fatalf("%d of %d objects after a minute", finished.Load(), objects)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		return took
	})
}

// TestRealServer records a controller on a real API server, whose clients speak protobuf.
func TestRealServer(t *testing.T) {
	configuration := realServer(t)
	var files []*file
	const objects = 20
	mgr := observe.Manager(realManager(t, configuration), inMemory(&files))
	reconciled(t, mgr, "real", objects)
	entries := entriesOf(t, files[0].Bytes())
	if gaps := the[live.Gap](entries); len(gaps) > 0 {
		t.Errorf("gaps %+v", gaps)
	}
	calls := map[string]int{}
	for _, call := range the[live.Call](entries) {
		if call.Object.Namespace != "real" || !strings.HasPrefix(call.Object.Name, "cm-") || call.Reconcile == 0 {
			t.Errorf("call %+v", call)
		}
		calls[fmt.Sprintf("%s %s cached=%v", call.Verb, call.Object.Kind, call.Cached)]++
	}
	for what, atLeast := range map[string]int{
		"get ConfigMap cached=true": 2 * objects, "get Secret cached=false": objects, "create Secret cached=false": objects, "update ConfigMap cached=false": objects,
	} {
		if calls[what] < atLeast {
			t.Errorf("%d of %s, want %d at least: %v", calls[what], what, atLeast, calls)
		}
	}
	for _, begin := range the[live.Begin](entries) {
		if len(begin.Causes) == 0 {
			t.Errorf("there is no cause for %+v", begin)
		}
	}
	for _, o := range the[live.Object](entries) {
		if strings.Contains(string(o.Value), "hunter2") || strings.Contains(string(o.Value), "aHVudGVyMg") {
			t.Error("a secret is in the recording")
		}
	}
}

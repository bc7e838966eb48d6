package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
)

// TestCacheOptions checks that options which are not modelled are refused by their names, and that mistakes are told.
func TestCacheOptions(t *testing.T) {
	by := func(object client.Object, its cache.ByObject) cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{object: its}}
	}
	some := map[string]cache.Config{"default": {}}
	for name, test := range map[string]struct {
		options ctrl.Options
		cache   cache.Options
		// want is what the error says, empty if there is none.
		want string
	}{
		"nothing":                  {},
		"a namespace":              {cache: cache.Options{DefaultNamespaces: some}},
		"a kind that is selected":  {cache: by(&corev1.Secret{}, cache.ByObject{EnableWatchBookmarks: ptr.To(true), Label: labels.Everything(), Field: fields.Everything()})},
		"a kind that is not known": {cache: by(&ownSecret{}, cache.ByObject{}), want: "the ByObject of the manager's cache options has a *controllerruntime_test.ownSecret"},
		"a kind twice": {cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {}, &corev1.Secret{Immutable: ptr.To(true)}: {}}},
			want: "has /v1, Kind=Secret twice"},
		"namespaces of what has none": {cache: by(&corev1.Namespace{}, cache.ByObject{Namespaces: some}), want: "has Namespaces for *v1.Namespace, which has none"},
		"a field that nobody selects by": {cache: by(&Widget{}, cache.ByObject{Field: fields.OneTermEqualSelector("spec.nonsense", "a")}),
			want: `with the field selector "spec.nonsense=a" never has its objects, as the API server refuses it (field label not supported: spec.nonsense)`},
		"missing informers":         {cache: cache.Options{ReaderFailOnMissingInformer: true}, want: "ReaderFailOnMissingInformer of the manager's cache"},
		"informers of one's own":    {cache: cache.Options{NewInformer: toolscache.NewSharedIndexInformer}, want: "NewInformer of the manager's cache"},
		"a context of one's own":    {options: ctrl.Options{BaseContext: context.Background}},
		"no context":                {options: ctrl.Options{BaseContext: func() context.Context { return nil }}, want: "the BaseContext of the manager options: it returns nil"},
		"a context that has ended":  {options: ctrl.Options{BaseContext: ended}, want: "the BaseContext of the manager options: its context has ended"},
		"a context that panics":     {options: ctrl.Options{BaseContext: func() context.Context { panic("no flags") }}, want: "it panicked: no flags"},
		"a cache that is not known": {options: ctrl.Options{NewCache: cache.New}, want: "leave NewCache out"},
	} {
		t.Run(name, func(t *testing.T) {
			options := test.options
			options.Cache = test.cache
			_, err := controllerruntime.New(newScheme(), controllerruntime.ManagerOptions(options), controllerruntime.CRDs("testdata/crds"), controllerruntime.Setup(setupWidgets))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want it to contain %q", err, test.want)
			}
		})
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// ownSecret is of a type that no scheme has.
type ownSecret struct{ corev1.Secret }

// TestKindsThatAreLent checks for which kinds a cache hands out what it holds: what one read changes, the next one
// sees.
func TestKindsThatAreLent(t *testing.T) {
	by := func(lends bool) map[client.Object]cache.ByObject {
		return map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {UnsafeDisableDeepCopy: ptr.To(lends)}}
	}
	other := map[client.Object]cache.ByObject{&corev1.Secret{}: {UnsafeDisableDeepCopy: ptr.To(true)}}
	for name, test := range map[string]struct {
		options cache.Options
		want    bool
	}{
		"by default copied":      {cache.Options{}, false},
		"lent":                   {cache.Options{DefaultUnsafeDisableDeepCopy: ptr.To(true)}, true},
		"a kind":                 {cache.Options{ByObject: by(true)}, true},
		"another kind":           {cache.Options{ByObject: other}, false},
		"all but a kind":         {cache.Options{DefaultUnsafeDisableDeepCopy: ptr.To(true), ByObject: by(false)}, false},
		"all, and another kind":  {cache.Options{DefaultUnsafeDisableDeepCopy: ptr.To(true), ByObject: other}, true},
		"a kind without its own": {cache.Options{DefaultUnsafeDisableDeepCopy: ptr.To(true), ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, using(func(ctx context.Context, mgr ctrl.Manager) error {
				var first, second corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, keyA, &first); err != nil {
					return err
				}
				first.Labels["changed"] = "yes"
				if err := mgr.GetClient().Get(ctx, keyA, &second); err != nil {
					return err
				}
				if lent := second.Labels["changed"] == "yes"; lent != test.want {
					return fmt.Errorf("lent: %t, want %t", lent, test.want)
				}
				return nil
			}), controllerruntime.ManagerOptions(ctrl.Options{Cache: test.options}), controllerruntime.ObjectValues(configMap("a", map[string]string{"k": "v"})))
			if err := use(w); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSyncPeriod has resyncs that do not happen be among the assumptions.
func TestSyncPeriod(t *testing.T) {
	for _, period := range []*time.Duration{nil, ptr.To(30 * time.Second)} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ManagerOptions(ctrl.Options{Cache: cache.Options{SyncPeriod: period}}), controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }))
		}))
		said := slices.ContainsFunc(system.Assumptions, func(a string) bool { return strings.Contains(a, "is not resynced each 30s") })
		if said != (period != nil) {
			t.Errorf("with a period of %v it says %q", period, system.Assumptions)
		}
	}
}

package remote_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/remote"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// config is a ConfigMap, and secret a Secret.
func config(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// bridging is a system with a controller of ConfigMaps that has a client of each of two clusters.
func bridging(t *testing.T, west *remote.Cluster, do func(ctx context.Context, here, there client.Client, config *corev1.ConfigMap) error, options ...controllerruntime.Option) *core.System {
	return controllerruntime.ForTest(t, scheme.Scheme, append(options, controllerruntime.External(west),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			here := mgr.GetClient()
			there, err := west.Client(mgr.GetConfig())
			if err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("bridge").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				found := &corev1.ConfigMap{}
				if err := here.Get(ctx, r.NamespacedName, found); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				return ctrl.Result{}, do(ctx, here, there, found)
			}))
		}))...)
}

// TestUIDsOfTwoClusters has controllers take what is in one cluster for what is in the other.
func TestUIDsOfTwoClusters(t *testing.T) {
	collecting := remote.Players(func(server *kube.Server) (core.Strategy, error) {
		return players.GarbageCollector(server, "ConfigMap", "Secret")
	})
	for name, test := range map[string]struct {
		do         func(ctx context.Context, here, there client.Client, c *corev1.ConfigMap) error
		properties []core.Property
		want       string
	}{
		"an owner in the other cluster": {func(ctx context.Context, _, there client.Client, c *corev1.ConfigMap) error {
			owned := secret("owned")
			if err := controllerutil.SetControllerReference(c, owned, scheme.Scheme); err != nil {
				return err
			}
			return client.IgnoreAlreadyExists(there.Create(ctx, owned))
		}, []core.Property{properties.EventuallyAlways("it stays", func(s core.State) bool {
			return s.Get(core.Key{Kind: "Secret@west", Namespace: "default", Name: "owned"}) != nil
		})}, "it stays"},
		"an owner in its own cluster": {func(ctx context.Context, _, there client.Client, c *corev1.ConfigMap) error {
			own := &corev1.ConfigMap{}
			if err := there.Get(ctx, client.ObjectKeyFromObject(c), own); err != nil {
				return err
			}
			owned := secret("owned")
			if err := controllerutil.SetControllerReference(own, owned, scheme.Scheme); err != nil {
				return err
			}
			return client.IgnoreAlreadyExists(there.Create(ctx, owned))
		}, []core.Property{properties.NoOrphans()}, ""},
		"a version of the other cluster": {func(ctx context.Context, _, there client.Client, c *corev1.ConfigMap) error {
			if c.Labels["done"] != "" {
				return nil
			}
			copied := config(c.Name)
			copied.ResourceVersion = c.ResourceVersion
			metav1.SetMetaDataLabel(&copied.ObjectMeta, "done", "yes")
			return there.Update(ctx, copied)
		}, nil, "stable convergence"},
		"a uid of the other cluster": {func(ctx context.Context, _, there client.Client, c *corev1.ConfigMap) error {
			err := there.Delete(ctx, config(c.Name), client.Preconditions{UID: &c.UID})
			return client.IgnoreNotFound(err)
		}, nil, "stable convergence"},
	} {
		t.Run(name, func(t *testing.T) {
			west, err := remote.New("west", scheme.Scheme, remote.Objects(config("a")), collecting)
			if err != nil {
				t.Fatal(err)
			}
			if test.properties == nil {
				test.properties = properties.Convergent()
			}
			r := check(t, bridging(t, west, test.do, controllerruntime.ObjectValues(config("a")), controllerruntime.Properties(test.properties...)), orrery.Options{})
			if test.want == "" && r.Verdict != core.Holds || test.want != "" && (len(r.Findings) == 0 || !strings.Contains(r.Findings[0].Property, test.want)) {
				t.Errorf("%s %v %v, want %q", r.Verdict, r.Reasons, r.Findings, test.want)
			}
		})
	}
}

// TestUIDsNotedBeside has the uid, or the generated name, of an object be noted in the other cluster when the object is
// gone and made again: the new one has another.
func TestUIDsNotedBeside(t *testing.T) {
	for name, note := range map[string]func(*corev1.ConfigMap) string{
		"a uid":                func(c *corev1.ConfigMap) string { return string(c.UID) },
		"the beginning of one": func(c *corev1.ConfigMap) string { return string(c.UID)[:8] },
	} {
		for there := range 2 {
			west, err := remote.New("west", scheme.Scheme)
			if err != nil {
				t.Fatal(err)
			}
			kind := core.Kind("Secret")
			if there == 1 {
				kind = west.Kind("Secret")
			}
			system := bridging(t, west, func(ctx context.Context, here, other client.Client, c *corev1.ConfigMap) error {
				err := []client.Client{here, other}[there].Create(ctx, secret("of-"+note(c)))
				if apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			}, controllerruntime.ObjectValues(config("a")), controllerruntime.Properties(properties.AtMost(1, kind)),
				controllerruntime.InOrder(controllerruntime.Delete(config("a")).OnceSettled(), controllerruntime.Create(config("a")).OnceSettled()))
			if r := check(t, system, orrery.Options{}); r.Verdict != core.Violated {
				t.Errorf("%s is noted in %s: %s %v, want two of them", name, kind, r.Verdict, r.Reasons)
			}
		}
	}
}

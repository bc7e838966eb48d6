package controllerruntime_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// sealed makes a ConfigMap with a random token, may read it back, and makes another one with a checksum of that and of
// a token of its own. Where the checksum is wrong, which it never is, it writes so.
func sealed(back bool) func(context.Context, client.Client, reconcile.Request) (reconcile.Result, error) {
	token := func() string {
		bytes := make([]byte, 32)
		_, _ = rand.Read(bytes)
		return hex.EncodeToString(bytes)
	}
	sum := func(one, other string) string {
		digest := sha256.Sum256([]byte(one + other))
		return hex.EncodeToString(digest[:])
	}
	return func(ctx context.Context, c client.Client, _ reconcile.Request) (reconcile.Result, error) {
		root, leaf := configMap("root", nil), configMap("leaf", nil)
		err := c.Get(ctx, client.ObjectKeyFromObject(root), root)
		if apierrors.IsNotFound(err) {
			root = configMap("root", map[string]string{"token": token()})
			if err = c.Create(ctx, root); err == nil && back {
				err = c.Get(ctx, client.ObjectKeyFromObject(root), root)
			}
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		switch err := c.Get(ctx, client.ObjectKeyFromObject(leaf), leaf); {
		case apierrors.IsNotFound(err):
			own := token()
			return reconcile.Result{RequeueAfter: time.Second}, c.Create(ctx, configMap("leaf", map[string]string{"token": own, "sum": sum(root.Data["token"], own)}))
		case err != nil:
			return reconcile.Result{}, err
		case leaf.Data["sum"] != sum(root.Data["token"], leaf.Data["token"]):
			leaf.Data["sum"] = "wrong"
			return reconcile.Result{}, c.Update(ctx, leaf)
		}
		return reconcile.Result{}, nil
	}
}

// TestWhatIsReadBack wants a run that draws other values to be answered with what it wrote itself, whether or not it
// reads that back: what follows from both is what it would be.
func TestWhatIsReadBack(t *testing.T) {
	for _, back := range []bool{false, true} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				does := sealed(back)
				return ctrl.NewControllerManagedBy(mgr).Named("seals").For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
					return does(ctx, mgr.GetClient(), request)
				}))
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Crashes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if report := result.Report; report.Verdict != core.Holds {
			t.Errorf("read back: %t: %s, %v, %v", back, report.Verdict, report.Reasons, report.Findings)
		}
	}
}

// TestReadsBackThroughItsCache wants what comes of a cache that has not yet received what a reconcile has just written
// to be held against what comes of one that has.
func TestReadsBackThroughItsCache(t *testing.T) {
	for name, test := range map[string]struct {
		// gives tells that it gives up for good where it does not find what it has made.
		gives bool
		want  string
	}{
		"it gives up":    {true, "caches miss the latest change"},
		"it comes to it": {false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("makes").For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var w Widget
						if err := c.Get(ctx, request.NamespacedName, &w); err != nil || w.Status.Ready != 0 {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						made := configMap(w.Name, nil)
						if err := controllerutil.SetControllerReference(&w, made, mgr.GetScheme()); err != nil {
							return reconcile.Result{}, err
						}
						if err := client.IgnoreAlreadyExists(c.Create(ctx, made)); err != nil {
							return reconcile.Result{}, err
						}
						w.Status.Ready = 1
						err := c.Get(ctx, request.NamespacedName, &corev1.ConfigMap{})
						switch {
						case apierrors.IsNotFound(err) && test.gives:
							w.Status.Ready = -1
						case err != nil:
							return reconcile.Result{}, err
						}
						return reconcile.Result{}, c.Status().Update(ctx, &w)
					}))
				}))
			ladder, err := orrery.Climb(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := foundOn(ladder); found != test.want {
				t.Errorf("it was found where %q, want %q:\n%s", found, test.want, ladder)
			}
		})
	}
}

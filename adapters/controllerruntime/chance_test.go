package controllerruntime_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/x509"
	"math/rand"
	newrand "math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestChance checks what is said of controllers that draw values at random: how long they wait decides nothing, wherever it is drawn, nor do UUIDs and keys. What
// decides something, or cannot be set, is a reason, which says what to do.
func TestChance(t *testing.T) {
	const remedy = "let the set-up give the controller a function without chance"
	awaits := func(pause func() time.Duration) func(context.Context, client.Client, *Widget) (ctrl.Result, error) {
		return func(ctx context.Context, c client.Client, _ *Widget) (ctrl.Result, error) {
			if !exists(ctx, c, "needed") {
				return ctrl.Result{RequeueAfter: pause()}, nil
			}
			return ctrl.Result{}, create(ctx, c, "done")
		}
	}
	keeps := func(key func() ([]byte, error)) func(context.Context, client.Client, *Widget) (ctrl.Result, error) {
		return func(ctx context.Context, c client.Client, _ *Widget) (ctrl.Result, error) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "key"}}
			if c.Get(ctx, client.ObjectKeyFromObject(secret), secret) == nil {
				return ctrl.Result{}, nil
			}
			made, err := key()
			if err != nil {
				return ctrl.Result{}, err
			}
			secret.Data = map[string][]byte{"key": made}
			return ctrl.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, secret))
		}
	}
	for _, test := range []struct {
		name      string
		reconcile func(context.Context, client.Client, *Widget) (ctrl.Result, error)
		verdict   core.Verdict
		says      string
	}{
		{"a random while", awaits(func() time.Duration { return time.Minute + time.Duration(rand.Intn(1000))*time.Millisecond }), core.Holds, ""},
		{"jitter", awaits(func() time.Duration { return wait.Jitter(time.Minute, 0.5) }), core.Holds, ""},
		{"a coin", func(ctx context.Context, c client.Client, _ *Widget) (ctrl.Result, error) {
			if rand.Intn(2) == 0 {
				return ctrl.Result{}, create(ctx, c, "done")
			}
			return ctrl.Result{RequeueAfter: time.Minute}, nil
		}, core.Inconclusive, "depends on random numbers"},
		{"a UUID", func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
			if w.Annotations["id"] != "" {
				return ctrl.Result{}, nil
			}
			return ctrl.Result{}, annotate(ctx, c, w, "id", string(uuid.NewUUID()))
		}, core.Holds, ""},
		{"a key", keeps(func() ([]byte, error) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
			if err != nil {
				return nil, err
			}
			return x509.MarshalECPrivateKey(key)
		}), core.Holds, ""},
		{"a password that cannot be set", keeps(func() ([]byte, error) { return []byte("password-" + strconv.FormatUint(newrand.Uint64(), 36)), nil }), core.Inconclusive, remedy},
		{"a key of the set-up", keeps(func() ([]byte, error) { return []byte("key"), nil }), core.Holds, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.Scenario(controllerruntime.Create(configMap("needed", nil))),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					handlers := handler.Funcs{CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
						q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)}, time.Duration(1+rand.Intn(1000))*time.Millisecond)
					}}
					return ctrl.NewControllerManagedBy(mgr).Named("random").Watches(&Widget{}, handlers).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
						w := &Widget{}
						if err := c.Get(ctx, r.NamespacedName, w); err != nil {
							return ctrl.Result{}, client.IgnoreNotFound(err)
						}
						return test.reconcile(ctx, c, w)
					}))
				}))
			system.Properties = properties.Convergent()
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(result.Report.Reasons, "\n"); result.Report.Verdict != test.verdict || !strings.Contains(text, test.says) {
				t.Errorf("%s, want %s with %q; it says:\n%s", result.Report.Verdict, test.verdict, test.says, text)
			}
		})
	}
}

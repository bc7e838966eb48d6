package controllerruntime_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// passwords draws one for each of some users, in the order of a map.
func passwords(users ...string) map[string][]byte {
	drawn := map[string][]byte{}
	for _, user := range users {
		drawn[user] = nil
	}
	for user := range drawn {
		drawn[user] = password(16)
	}
	return drawn
}

// TestPasswordsInTheOrderOfAMap has controllers draw several values in the order of a map. Which of them is for what
// makes no difference, as long as nothing else follows from the order.
func TestPasswordsInTheOrderOfAMap(t *testing.T) {
	long(t)
	users := []string{"root", "reader", "writer"}
	all := append(users, "backup", "monitor", "replication")
	read := func(ctx context.Context, c client.Client, w *Widget, users ...string) (map[string][]byte, error) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
		err := c.Get(ctx, client.ObjectKeyFromObject(w), secret)
		if apierrors.IsNotFound(err) {
			secret.Data = passwords(users...)
			err = c.Create(ctx, secret)
		}
		return secret.Data, err
	}
	for _, test := range []struct {
		name      string
		reconcile func(context.Context, client.Client, *Widget) error
		options   orrery.Options
		verdict   core.Verdict
		says      string
	}{
		{"a Secret", func(ctx context.Context, c client.Client, w *Widget) error {
			_, err := read(ctx, c, w, users...)
			return err
		}, orrery.Options{Crashes: 1}, core.Holds, ""},
		{"many of them", func(ctx context.Context, c client.Client, w *Widget) error {
			_, err := read(ctx, c, w, all...)
			return err
		}, orrery.Options{}, core.Holds, ""},
		{"with a checksum of one of them", func(ctx context.Context, c client.Client, w *Widget) error {
			data, err := read(ctx, c, w, users...)
			if err != nil {
				return err
			}
			return client.IgnoreAlreadyExists(makeMap(ctx, c, w, "sum", map[string]string{"sha256": fmt.Sprintf("%x", sha256.Sum256(data["root"]))}))
		}, orrery.Options{Crashes: 1, Failures: 1}, core.Holds, ""},
		{"anew each time that there is none", func(ctx context.Context, c client.Client, w *Widget) error {
			data, err := read(ctx, c, w, users...)
			if err != nil || w.Spec.Config != "" {
				return err
			}
			if err := c.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}); err != nil {
				return err
			}
			w.Spec.Config = fmt.Sprintf("%x", sha256.Sum256(data["root"]))
			return c.Update(ctx, w)
		}, orrery.Options{}, core.Holds, ""},
		{"and then it never settles", func(ctx context.Context, c client.Client, w *Widget) error {
			data, err := read(ctx, c, w, users...)
			if err != nil {
				return err
			}
			if w.Spec.Config = string(data["root"]) + w.Spec.Config; len(w.Spec.Config) > 40 {
				w.Spec.Config = ""
			}
			return c.Update(ctx, w)
		}, orrery.Options{}, core.Violated, "never stops changing"},
		{"and the first of them is written besides", func(ctx context.Context, c client.Client, w *Widget) error {
			users := map[string]string{"root": "", "reader": "", "writer": ""}
			first := ""
			for user := range users {
				users[user] = string(password(16))
				if first == "" {
					first = user
				}
			}
			return client.IgnoreAlreadyExists(makeMap(ctx, c, w, "users", map[string]string{"first": first, "password": users[first]}))
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
		{"and one of two that were there is written by chance", func(ctx context.Context, c client.Client, w *Widget) error {
			data, err := read(ctx, c, w, "root", "reader")
			if err != nil {
				return err
			}
			for _, secret := range data {
				password(16)
				return client.IgnoreAlreadyExists(makeMap(ctx, c, w, "one", map[string]string{"password": string(secret)}))
			}
			return nil
		}, orrery.Options{}, core.Inconclusive, "not deterministic"},
	} {
		t.Run(test.name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("keeper").For(&Widget{}).Owns(&corev1.Secret{}).Complete(reconcileWidget(c, func(ctx context.Context, c client.Client, w *Widget) (ctrl.Result, error) {
						return ctrl.Result{}, test.reconcile(ctx, c, w)
					}))
				}))
			system.Properties = properties.Convergent()
			if result := judged(t, system, test.options, test.verdict, test.says); result.Report.Verdict == core.Violated {
				happensAgain(t, system, test.options, &result.Report)
			}
		})
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// Each retry of a reconcile that fails may leave one more object behind.
func TestRetriesLeaveMoreAndMoreBehind(t *testing.T) {
	long(t)
	failed := errors.New("a later step fails")
	another := func(ctx context.Context, c client.Client, owner *Widget) error {
		secret := &corev1.Secret{StringData: map[string]string{"for": owner.Name}}
		secret.Namespace, secret.GenerateName, secret.Labels = owner.Namespace, owner.Name+"-", map[string]string{"app": owner.Name}
		if err := controllerutil.SetControllerReference(owner, secret, c.Scheme()); err != nil {
			return err
		}
		return c.Create(ctx, secret)
	}
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, c client.Client, w *Widget) error
		want core.Verdict
		// warned tells that growth is only warned of.
		warned bool
	}{
		{"without a look", func(ctx context.Context, c client.Client, w *Widget) error {
			return errors.Join(another(ctx, c, w), failed)
		}, core.Violated, false},
		{"with a look for other labels", func(ctx context.Context, c client.Client, w *Widget) error {
			made := &corev1.SecretList{}
			if err := c.List(ctx, made, client.InNamespace(w.Namespace), client.MatchingLabels{"name": w.Name}); err != nil || len(made.Items) > 0 {
				return err
			}
			return errors.Join(another(ctx, c, w), failed)
		}, core.Violated, false},
		{"with a look that comes to nothing", func(ctx context.Context, c client.Client, w *Widget) error {
			made := &corev1.SecretList{}
			if err := c.List(ctx, made, client.InNamespace(w.Namespace)); err != nil {
				return err
			}
			for _, secret := range made.Items {
				if secret.Annotations["ready"] == "true" {
					return nil
				}
			}
			return errors.Join(another(ctx, c, w), failed)
		}, core.Inconclusive, true},
		{"more and more annotations", func(ctx context.Context, c client.Client, w *Widget) error {
			if w.Annotations == nil {
				w.Annotations = map[string]string{}
			}
			w.Annotations[fmt.Sprintf("try-%d", len(w.Annotations))] = "failed"
			return errors.Join(c.Update(ctx, w), failed)
		}, core.Inconclusive, true},
		{"its own version", func(ctx context.Context, c client.Client, w *Widget) error {
			if w.Annotations["seen"] == w.ResourceVersion {
				return nil
			}
			w.Annotations = map[string]string{"seen": w.ResourceVersion}
			return c.Update(ctx, w)
		}, core.Violated, false},
		{"its own generation", func(ctx context.Context, c client.Client, w *Widget) error {
			generation := fmt.Sprint(w.Generation)
			if w.Annotations["seen"] == generation {
				return nil
			}
			w.Annotations = map[string]string{"seen": generation}
			return c.Update(ctx, w)
		}, core.Holds, false},
		{"as many as there are to be", func(ctx context.Context, c client.Client, w *Widget) error {
			made := &corev1.SecretList{}
			if err := c.List(ctx, made, client.InNamespace(w.Namespace), client.MatchingLabels{"app": w.Name}); err != nil || len(made.Items) > 4 {
				return err
			}
			return errors.Join(another(ctx, c, w), failed)
		}, core.Holds, false},
	} {
		ways := []orrery.Options{{}, {Reduction: orrery.NoReduction, Workers: 2, Search: orrery.DepthFirst}}
		if test.warned {
			ways = ways[:1] // the run is followed far
		}
		for _, options := range ways {
			t.Run(fmt.Sprint(test.name, options.Workers), func(t *testing.T) {
				system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("w", 1)),
					controllerruntime.Setup(func(mgr ctrl.Manager) error {
						return ctrl.NewControllerManagedBy(mgr).Named("makes").For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
							w := &Widget{}
							if err := mgr.GetClient().Get(ctx, r.NamespacedName, w); err != nil {
								return reconcile.Result{}, client.IgnoreNotFound(err)
							}
							return reconcile.Result{}, test.do(ctx, mgr.GetClient(), w)
						}))
					}))
				options.MaxStates = 150
				result, err := orrery.Run(context.Background(), system, options)
				if err != nil {
					t.Fatal(err)
				}
				report := result.Report
				if report.Verdict != test.want {
					t.Errorf("the verdict is %s, want %s: %q", report.Verdict, test.want, report.Reasons)
				}
				grows := 0
				for _, finding := range report.Findings {
					if finding.Property != "no endless growth" {
						continue
					}
					grows++
					t.Log(finding.Summary, finding.Details)
					if finding.Warning != test.warned {
						t.Errorf("that it is a warning is told: %t", finding.Warning)
					}
					again, err := options.Again(&report)
					if err != nil {
						t.Fatal(err)
					}
					if deviation, err := orrery.Replay(context.Background(), system, finding.Trace, again); err != nil || deviation != nil {
						t.Errorf("replayed, it is different: %v, %v", deviation, err)
					}
				}
				if want := test.want == core.Violated || test.warned; (grows == 1) != want {
					t.Errorf("growth is told %d times", grows)
				}
			})
		}
	}
}

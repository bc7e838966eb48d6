package controllerruntime_test

import (
	"context"
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

// both registers two controllers, "one" and "other", that do the same in their own names.
func both(do func(ctx context.Context, c client.Client, self string) error) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		for _, self := range []string{"one", "other"} {
			err := ctrl.NewControllerManagedBy(mgr).Named(self).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, do(ctx, mgr.GetClient(), self)
			}))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// changing changes an object that is there, if there is something to change.
func changing[T client.Object](empty func() T, key client.ObjectKey, change func(object T, self string)) func(context.Context, client.Client, string) error {
	return func(ctx context.Context, c client.Client, self string) error {
		object := empty()
		if err := c.Get(ctx, key, object); err != nil {
			return err
		}
		before := object.DeepCopyObject()
		change(object, self)
		if fmt.Sprint(before) == fmt.Sprint(object) {
			return nil
		}
		return c.Update(ctx, object)
	}
}

// What runs end with is compared as the API means it: what the order of steps cannot decide is no difference, and what
// it decides is one.
func TestEndsAreComparedByMeaning(t *testing.T) {
	node := &corev1.Node{}
	node.Name = "n"
	configMaps := func() *corev1.ConfigMap { return &corev1.ConfigMap{} }
	firstWins := func(name string) func(*corev1.ConfigMap, string) {
		return func(m *corev1.ConfigMap, self string) {
			if m.Data == nil {
				m.Data = map[string]string{name: map[string]string{"one": "2024-03-03T10:00:00Z", "other": "2025-03-03T10:00:00Z"}[self]}
			}
		}
	}
	for _, test := range []struct {
		name string
		do   func(context.Context, client.Client, string) error
		want core.Verdict
	}{
		{"finalizers", changing(configMaps, keyA, func(m *corev1.ConfigMap, self string) {
			controllerutil.AddFinalizer(m, "example.org/"+self)
		}), core.Holds},
		{"taints", changing(func() *corev1.Node { return &corev1.Node{} }, client.ObjectKey{Name: "n"}, func(n *corev1.Node, self string) {
			for _, taint := range n.Spec.Taints {
				if taint.Key == self {
					return
				}
			}
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: self, Effect: corev1.TaintEffectNoSchedule})
		}), core.Holds},
		{"generated names", func(ctx context.Context, c client.Client, self string) error {
			made := &corev1.ConfigMapList{}
			if err := c.List(ctx, made, client.InNamespace("default"), client.MatchingLabels{"by": self}); err != nil {
				return err
			}
			if len(made.Items) > 0 {
				return nil
			}
			m := &corev1.ConfigMap{Data: map[string]string{"by": self}}
			m.Namespace, m.GenerateName, m.Labels = "default", "made-", map[string]string{"by": self}
			if err := c.Create(ctx, m); err != nil {
				return err
			}
			note := &corev1.ConfigMap{Data: map[string]string{"made": m.Name}}
			note.Namespace, note.Name = "default", self
			return c.Create(ctx, note)
		}, core.Holds},
		{"a name that a user chose for a time", changing(configMaps, keyA, firstWins("startTime")), core.Violated},
		{"a name that a user chose for a generation", changing(configMaps, keyA, firstWins("observedGeneration")), core.Violated},
	} {
		for _, reduction := range []orrery.Reduction{orrery.ByPartialOrder, orrery.NoReduction} {
			t.Run(test.name+" "+string(reduction), func(t *testing.T) {
				system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), both(test.do),
					controllerruntime.ObjectValues(widget("w", 1), configMap("a", nil), node))
				result, err := orrery.Run(context.Background(), system, orrery.Options{Reduction: reduction})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range result.Report.Properties {
					if p.Name == "same outcome" && p.Verdict != test.want {
						t.Errorf("%s: %s, want %s (%d outcomes, %v)", p.Name, p.Verdict, test.want, result.Report.Outcomes, result.Report.Reasons)
					}
				}
			})
		}
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// slow is a controller that has a widget ready once it has looked at it often enough, from time to time.
type slow struct {
	client.Client
	looks int
}

func (s *slow) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	w := &Widget{}
	if err := s.Get(ctx, r.NamespacedName, w); err != nil || w.Name != "a" || w.Status.Ready == s.looks {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w.Status.Ready++
	return ctrl.Result{RequeueAfter: 10 * time.Second}, s.Status().Update(ctx, w)
}

// eager is a controller that fails, or asks to be run again, until the widget "a" is ready.
type eager struct {
	client.Client
	looks  int
	result ctrl.Result
	err    error
}

func (e *eager) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	a, b := &Widget{}, &Widget{}
	if err := errors.Join(e.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: "a"}, a), e.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: "b"}, b)); err != nil {
		return ctrl.Result{}, err
	}
	if a.Status.Ready < e.looks {
		return e.result, e.err
	}
	if b.Status.Ready == e.looks {
		return ctrl.Result{}, nil
	}
	b.Status.Ready = e.looks
	return ctrl.Result{}, e.Status().Update(ctx, b)
}

// TestRetriesWait checks a controller that fails until another one has done its work, which looks at it from time to
// time: a queue waits the longer the more often a run has failed, so that time passes. The one that waits for what
// never comes is found all the same.
func TestRetriesWait(t *testing.T) {
	long(t)
	requeue := ctrl.Result{Requeue: true}
	for _, test := range []struct {
		name  string
		eager eager
		want  core.Verdict
	}{
		{"fails", eager{looks: 2, err: errors.New("a is not ready")}, core.Holds},
		{"asks to be run again", eager{looks: 2, result: requeue}, core.Holds},
		{"fails for ever", eager{looks: 3, err: errors.New("a is not ready")}, core.Violated},
		{"asks for ever", eager{looks: 3, result: requeue}, core.Violated},
	} {
		for _, granularity := range []orrery.Granularity{orrery.PerReconcile, orrery.PerCall} {
			t.Run(fmt.Sprintf("%s, per %s", test.name, granularity), func(t *testing.T) {
				system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1), widget("b", 1)),
					controllerruntime.Setup(func(mgr ctrl.Manager) error {
						waiting := test.eager
						waiting.Client = mgr.GetClient()
						return errors.Join(ctrl.NewControllerManagedBy(mgr).Named("slow").For(&Widget{}).Complete(&slow{mgr.GetClient(), 2}),
							ctrl.NewControllerManagedBy(mgr).Named("eager").For(&Widget{}).Complete(&waiting))
					}))
				system.Properties = properties.Convergent()
				result, err := orrery.Run(t.Context(), system, orrery.Options{Granularity: granularity})
				if err != nil {
					t.Fatal(err)
				}
				if r := result.Report; r.Verdict != test.want {
					t.Errorf("%s: %v %v, want %s", r.Verdict, r.Reasons, r.Findings, test.want)
				}
			})
		}
	}
}

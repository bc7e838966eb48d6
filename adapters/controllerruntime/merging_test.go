package controllerruntime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestTimersInQueues has a controller note that it waits, which is an event for itself, and ask to be run again in a
// minute. In a queue with priorities, it is run for the event in place of that; it asks for nothing then, and what it
// waits for, which another controller makes, comes later.
func TestTimersInQueues(t *testing.T) {
	for about, test := range map[string]struct {
		options controller.Options
		// again tells that it asks to be run again as long as it waits.
		again bool
		want  core.Verdict
	}{
		"with priorities":                  {controller.Options{UsePriorityQueue: ptr.To(true)}, false, core.Violated},
		"without":                          {controller.Options{UsePriorityQueue: ptr.To(false)}, false, core.Holds},
		"with priorities, and it asks":     {controller.Options{UsePriorityQueue: ptr.To(true)}, true, core.Holds},
		"with a limit of the rate its own": {controller.Options{RateLimiter: workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()}, false, core.Holds},
	} {
		t.Run(about, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			secret := &corev1.Secret{ObjectMeta: object.ObjectMeta}
			system, err := controllerruntime.New(scheme.Scheme, controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c, live := mgr.GetClient(), mgr.GetAPIReader()
				if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("maker").Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					object := &corev1.ConfigMap{}
					if err := c.Get(ctx, req.NamespacedName, object); err != nil || object.Annotations["waits"] == "" {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					return ctrl.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, secret.DeepCopy()))
				})); err != nil {
					return err
				}
				return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("waiter").WithOptions(test.options).Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					object := &corev1.ConfigMap{}
					if err := c.Get(ctx, req.NamespacedName, object); err != nil || object.Data["done"] != "" {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					if object.Annotations["waits"] == "" {
						object.Annotations = map[string]string{"waits": "yes"}
						return ctrl.Result{RequeueAfter: time.Minute}, c.Update(ctx, object)
					}
					if err := live.Get(ctx, req.NamespacedName, &corev1.Secret{}); err != nil {
						if test.again {
							return ctrl.Result{RequeueAfter: time.Minute}, client.IgnoreNotFound(err)
						}
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					object.Data = map[string]string{"done": "yes"}
					return ctrl.Result{}, c.Update(ctx, object)
				}))
			}), controllerruntime.ObjectValues(object))
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = []core.Property{properties.Fixpoint(), properties.StableConvergence()}
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Report.Verdict != test.want {
				t.Errorf("%s: %q\n%v", result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
			}
			if test.want == core.Violated && !strings.Contains(result.Report.Findings[0].Summary, "becomes quiescent too early") {
				t.Errorf("%v", result.Report.Findings)
			}
		})
	}
}

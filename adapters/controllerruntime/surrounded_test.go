package controllerruntime_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestSurrounded has a controller make one object for each Widget that companions run, and a user delete the Widget and
// create it again. What the companions come to while the old object is still being deleted is not the controller's.
func TestSurrounded(t *testing.T) {
	long(t)
	labels := map[string]string{"app": "a"}
	pods := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x"}}}}
	once := pods
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	selector, meta := &metav1.LabelSelector{MatchLabels: labels}, metav1.ObjectMeta{Name: "a", Namespace: "default"}
	for name, test := range map[string]struct {
		made client.Object
		run  []companions.Companion
	}{
		"Job":         {&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: once}}, []companions.Companion{companions.Jobs(), companions.Pods()}},
		"StatefulSet": {&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: pods}}, []companions.Companion{companions.StatefulSets(), companions.VolumeClaims(), companions.Pods()}},
		"Deployment":  {&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: pods}}, []companions.Companion{companions.Deployments(), companions.ReplicaSets(), companions.Pods()}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := newScheme()
			if err := batchv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			system := controllerruntime.ForTest(t, scheme, controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)),
				controllerruntime.GarbageCollection(), controllerruntime.Companions(test.run...), controllerruntime.Properties(properties.Convergent()...),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					c := mgr.GetClient()
					return ctrl.NewControllerManagedBy(mgr).Named("maker").For(&Widget{}).Owns(test.made).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
						var w Widget
						if err := c.Get(ctx, request.NamespacedName, &w); err != nil {
							return reconcile.Result{}, client.IgnoreNotFound(err)
						}
						made := test.made.DeepCopyObject().(client.Object)
						if err := controllerutil.SetControllerReference(&w, made, mgr.GetScheme()); err != nil {
							return reconcile.Result{}, err
						}
						return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, made))
					}))
				}))
			system.Scenario = system.Implied[0]
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report := result.Report; report.Verdict != core.Holds {
				t.Errorf("%s: %q, %v", report.Verdict, report.Reasons, report.Findings)
			}
		})
	}
}

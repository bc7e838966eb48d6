package autoscaler

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operator runs an app for each ConfigMap: a Deployment of its name, with the image that the ConfigMap says. It is made with controller-runtime.
type Operator struct {
	client.Client
	// OnlyAtFirst says that how many replicas there are is decided only as the Deployment is created, and is up to others from then on.
	OnlyAtFirst bool
}

// firstReplicas is how many replicas an app begins with.
const firstReplicas = 1

// Reconcile creates the Deployment, or brings it up to date.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var app corev1.ConfigMap
	if err := o.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var current appsv1.Deployment
	err := o.Get(ctx, request.NamespacedName, &current)
	if apierrors.IsNotFound(err) {
		created := deployment(&app)
		if err := ctrl.SetControllerReference(&app, created, o.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, o.Create(ctx, created)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	replicas := ptr.To[int32](firstReplicas)
	if o.OnlyAtFirst {
		replicas = current.Spec.Replicas
	}
	container := &current.Spec.Template.Spec.Containers[0]
	if container.Image == app.Data["image"] && *current.Spec.Replicas == *replicas {
		return ctrl.Result{}, nil
	}
	container.Image, current.Spec.Replicas = app.Data["image"], replicas
	return ctrl.Result{}, o.Update(ctx, &current)
}

// deployment is that of a new app.
func deployment(app *corev1.ConfigMap) *appsv1.Deployment {
	labels := map[string]string{"app": app.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](firstReplicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: app.Data["image"]}}},
			},
		},
	}
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("operator").
		For(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Complete(o)
}

package tenants

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// quotaName is what the quota of every tenant is called.
const quotaName = "tenant"

// Space makes room for tenants: a Namespace for each, with a quota in it.
type Space struct{ client.Client }

// Reconcile creates what is missing.
func (s *Space) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var tenant Tenant
	if err := s.Get(ctx, request.NamespacedName, &tenant); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant.Name}}
	if err := s.ensure(ctx, &tenant, namespace); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.ensure(ctx, &tenant, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant.Name, Name: quotaName},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourcePods: *resource.NewQuantity(int64(tenant.Spec.Pods), resource.DecimalSI),
		}},
	})
}

// ensure creates an object of a tenant, unless it is there.
func (s *Space) ensure(ctx context.Context, tenant *Tenant, object client.Object) error {
	present := object.DeepCopyObject().(client.Object)
	err := s.Get(ctx, client.ObjectKeyFromObject(object), present)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := ctrl.SetControllerReference(tenant, object, s.Scheme()); err != nil {
		return err
	}
	return s.Create(ctx, object)
}

// SetupWithManager registers the controller.
func (s *Space) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("space").
		For(&Tenant{}).
		Owns(&corev1.Namespace{}).
		Owns(&corev1.ResourceQuota{}).
		Complete(s)
}

// Readiness tells tenants when they can begin.
type Readiness struct{ client.Client }

// Reconcile reports whether the tenant has what it needs.
func (r *Readiness) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var tenant Tenant
	if err := r.Get(ctx, request.NamespacedName, &tenant); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var quota corev1.ResourceQuota
	err := r.Get(ctx, types.NamespacedName{Namespace: tenant.Name, Name: quotaName}, &quota)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	ready := err == nil
	if tenant.Status.Ready == ready {
		return ctrl.Result{}, nil
	}
	tenant.Status.Ready = ready
	return ctrl.Result{}, r.Status().Update(ctx, &tenant)
}

// SetupWithManager registers the controller.
func (r *Readiness) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("readiness").
		For(&Tenant{}).
		Owns(&corev1.ResourceQuota{}).
		Complete(r)
}

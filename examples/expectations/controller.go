package expectations

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ReplicaSets sees to it that ReplicaSets have their Pods. The names of Pods are generated, so that the API server takes any number of them. The
// controller counts them in its cache, and waits until the cache has those that it created last.
type ReplicaSets struct {
	client.Client
	Defect   Defect
	expected *Expectations
}

// Reconcile creates the Pods that are missing.
func (r *ReplicaSets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var set appsv1.ReplicaSet
	if err := r.Get(ctx, request.NamespacedName, &set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.expected.Met(request.NamespacedName) {
		return ctrl.Result{}, nil // the last of the Pods brings the ReplicaSet back here
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(set.Namespace), client.MatchingLabels(set.Spec.Selector.MatchLabels)); err != nil {
		return ctrl.Result{}, err
	}
	missing := int(*set.Spec.Replicas) - len(pods.Items)
	if missing <= 0 {
		return ctrl.Result{}, nil
	}
	if r.Defect != ExpectsNothing {
		r.expected.Expect(request.NamespacedName, missing)
	}
	if r.Defect == ForgetsAtEnd {
		defer r.expected.Forget(request.NamespacedName)
	}
	if r.Defect == ExpectsTooMuch {
		missing = 1
	}
	for created := range missing {
		if err := r.create(ctx, &set); err != nil {
			r.expected.Lower(request.NamespacedName, missing-created)
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// create makes a Pod of a ReplicaSet.
func (r *ReplicaSets) create(ctx context.Context, set *appsv1.ReplicaSet) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, GenerateName: set.Name + "-", Labels: set.Spec.Template.Labels},
		Spec:       set.Spec.Template.Spec,
	}
	if err := ctrl.SetControllerReference(set, pod, r.Scheme()); err != nil {
		return err
	}
	return r.Create(ctx, pod)
}

// SetupWithManager registers the controller.
func (r *ReplicaSets) SetupWithManager(mgr ctrl.Manager) error {
	r.expected = NewExpectations()
	owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &appsv1.ReplicaSet{}, handler.OnlyControllerOwner())
	return ctrl.NewControllerManagedBy(mgr).Named("replicasets").
		For(&appsv1.ReplicaSet{}).
		Watches(&corev1.Pod{}, &podHandler{EventHandler: owner, expected: r.expected, all: r.Defect == ForgetsAtFirst}).
		Complete(r)
}

// podHandler lowers the expectations when a Pod is seen for the first time, before its ReplicaSet is reconciled.
type podHandler struct {
	handler.EventHandler
	expected *Expectations
	all      bool
}

// Create implements [handler.EventHandler].
func (h *podHandler) Create(ctx context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if owner := metav1.GetControllerOf(e.Object); owner != nil {
		set := types.NamespacedName{Namespace: e.Object.GetNamespace(), Name: owner.Name}
		if h.all {
			h.expected.Forget(set)
		} else {
			h.expected.Lower(set, 1)
		}
	}
	h.EventHandler.Create(ctx, e, queue)
}

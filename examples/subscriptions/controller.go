package subscriptions

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// annotation has the id of the subscription of a ConfigMap.
const annotation = "example.orrery.dev/subscription"

// Subscriber subscribes to the topic that a ConfigMap names.
type Subscriber struct {
	client.Client
	API *API
	// Names makes it choose the id of a subscription, in place of the service.
	Names bool
}

// Reconcile subscribes, and notes the id.
func (s *Subscriber) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := s.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if config.Annotations[annotation] != "" {
		return ctrl.Result{}, nil
	}
	id, err := s.subscribe(ctx, &config)
	if err != nil {
		return ctrl.Result{}, err
	}
	if config.Annotations == nil {
		config.Annotations = map[string]string{}
	}
	config.Annotations[annotation] = id
	return ctrl.Result{}, s.Update(ctx, &config)
}

// subscribe returns the id of a subscription.
func (s *Subscriber) subscribe(ctx context.Context, config *corev1.ConfigMap) (string, error) {
	if s.Names {
		return string(config.UID), s.API.Ensure(ctx, string(config.UID), config.Data["topic"])
	}
	return s.API.Create(ctx, config.Data["topic"])
}

// SetupWithManager registers the controller.
func (s *Subscriber) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("subscriber").For(&corev1.ConfigMap{}).Complete(s)
}

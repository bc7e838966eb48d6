package missedwatch

import (
	"bytes"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// Source is the annotation of a ConfigMap that names the Secret, in the same
	// namespace, whose certificate it publishes.
	Source = "example.orrery.dev/certificate-from"
	// Expired is the annotation that asks for a new certificate.
	Expired = "example.orrery.dev/expired"
	// Certificate is the entry of the Secret and of the ConfigMap that holds it.
	Certificate = "ca.crt"
)

// Publisher publishes the certificates of Secrets, which few may read, in
// ConfigMaps, which all may read.
type Publisher struct {
	client.Client
	// WatchesSecrets makes it run whenever a Secret changes.
	WatchesSecrets bool
}

// Reconcile copies the certificate.
func (p *Publisher) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var published corev1.ConfigMap
	if err := p.Get(ctx, request.NamespacedName, &published); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var source corev1.Secret
	name := types.NamespacedName{Namespace: published.Namespace, Name: published.Annotations[Source]}
	if err := p.Get(ctx, name, &source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	certificate := string(source.Data[Certificate])
	if published.Data[Certificate] == certificate {
		return ctrl.Result{}, nil
	}
	published.Data = map[string]string{Certificate: certificate}
	return ctrl.Result{}, p.Update(ctx, &published)
}

// SetupWithManager registers the controller.
func (p *Publisher) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("publisher").For(&corev1.ConfigMap{})
	if p.WatchesSecrets {
		b = b.Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(p.publishedFrom))
	}
	return b.Complete(p)
}

// publishedFrom returns the ConfigMaps that publish the certificate of a Secret.
func (p *Publisher) publishedFrom(ctx context.Context, secret client.Object) []reconcile.Request {
	var all corev1.ConfigMapList
	if err := p.List(ctx, &all, client.InNamespace(secret.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range all.Items {
		if all.Items[i].Annotations[Source] == secret.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
	}
	return requests
}

// Rotation renews expired certificates.
type Rotation struct{ client.Client }

// Reconcile replaces an expired certificate.
func (r *Rotation) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var secret corev1.Secret
	if err := r.Get(ctx, request.NamespacedName, &secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if _, expired := secret.Annotations[Expired]; !expired {
		return ctrl.Result{}, nil
	}
	delete(secret.Annotations, Expired)
	secret.Data[Certificate] = bytes.Replace(secret.Data[Certificate], []byte("2025"), []byte("2026"), 1)
	return ctrl.Result{}, r.Update(ctx, &secret)
}

// SetupWithManager registers the controller.
func (r *Rotation) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("rotation").For(&corev1.Secret{}).Complete(r)
}

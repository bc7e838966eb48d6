package cryostat

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// label is on the link to a Service, with the name of the Service.
	label = "example.orrery.dev/link-to"
	// linked is the annotation of a Service that has a link.
	linked = "example.orrery.dev/linked"
)

// Operator makes links to Services, for the console to show. A link is a ConfigMap.
type Operator struct {
	client.Client
	// NamesLinks makes it choose the names of links, in place of the API server.
	NamesLinks bool
}

// Reconcile makes sure of the link to a Service, and says in the Service that it is there.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var service corev1.Service
	if err := o.Get(ctx, request.NamespacedName, &service); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := o.ensureLink(ctx, &service); err != nil {
		return ctrl.Result{}, err
	}
	if _, done := service.Annotations[linked]; done {
		return ctrl.Result{}, nil
	}
	metav1.SetMetaDataAnnotation(&service.ObjectMeta, linked, "true")
	return ctrl.Result{}, o.Update(ctx, &service)
}

// ensureLink creates the link to a Service, unless there is one.
func (o *Operator) ensureLink(ctx context.Context, service *corev1.Service) error {
	var links corev1.ConfigMapList
	if err := o.List(ctx, &links, client.InNamespace(service.Namespace), client.MatchingLabels{label: service.Name}); err != nil {
		return err
	}
	if len(links.Items) > 0 {
		return nil
	}
	link := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Labels: map[string]string{label: service.Name}},
		Data:       map[string]string{"url": "https://" + service.Name + ".example.org"},
	}
	if err := ctrl.SetControllerReference(service, link, o.Scheme()); err != nil {
		return err
	}
	if o.NamesLinks {
		link.Name = service.Name + "-link"
		return client.IgnoreAlreadyExists(o.Create(ctx, link))
	}
	link.GenerateName = service.Name + "-link-"
	return o.Create(ctx, link)
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("cryostat").
		For(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Complete(o)
}

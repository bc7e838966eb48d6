package capa

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// instance is the entry of a machine that says which instance it is.
const instance = "instance"

// Operator makes an instance in the cloud for each machine. A machine is a ConfigMap, and
// an instance a Pod, which it does not watch: nobody can watch a cloud.
type Operator struct {
	client.Client
	// Tokens makes it create instances with a token, by which the cloud knows one that
	// it has made already.
	Tokens bool
}

// Reconcile creates the instance of a machine, and writes down which one it is.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var machine corev1.ConfigMap
	if err := o.Get(ctx, request.NamespacedName, &machine); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if machine.Data[instance] != "" {
		return ctrl.Result{}, nil
	}
	name, err := o.run(ctx, &machine)
	if err != nil {
		return ctrl.Result{}, err
	}
	machine.Data = map[string]string{instance: name}
	return ctrl.Result{}, o.Update(ctx, &machine)
}

// run makes an instance, and returns its name. A token is a name that is chosen in
// advance.
func (o *Operator) run(ctx context.Context, machine *corev1.ConfigMap) (string, error) {
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: machine.Namespace, Labels: map[string]string{"machine": machine.Name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "instance", Image: "instance"}}},
	}
	if o.Tokens {
		made.Name = machine.Name
		return made.Name, client.IgnoreAlreadyExists(o.Create(ctx, made))
	}
	made.GenerateName = machine.Name + "-"
	err := o.Create(ctx, made)
	return made.Name, err
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("machine").For(&corev1.ConfigMap{}).Complete(o)
}

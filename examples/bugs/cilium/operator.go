package cilium

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespace is where the operator keeps its own objects.
const namespace = "kube-system"

// Operator gives each Node a block of addresses of its own, for its Pods.
type Operator struct {
	client.Client
	// Live reads from the API server itself.
	Live client.Reader
	// Reserves makes it reserve a block before it gives it away.
	Reserves bool
}

// Reconcile gives a Node a block, unless it has one.
func (o *Operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var node corev1.Node
	if err := o.Get(ctx, request.NamespacedName, &node); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if node.Spec.PodCIDR != "" {
		return ctrl.Result{}, nil
	}
	find := o.free
	if o.Reserves {
		find = o.reserve
	}
	number, err := find(ctx, node.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	node.Spec.PodCIDR = block(number)
	node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	return ctrl.Result{}, o.Update(ctx, &node)
}

// block returns a block by its number.
func block(number int) string { return fmt.Sprintf("10.0.%d.0/24", number) }

// free returns the first block that no Node has.
func (o *Operator) free(ctx context.Context, _ string) (int, error) {
	var nodes corev1.NodeList
	if err := o.List(ctx, &nodes); err != nil {
		return 0, err
	}
	taken := map[string]bool{}
	for i := range nodes.Items {
		taken[nodes.Items[i].Spec.PodCIDR] = true
	}
	number := 0
	for taken[block(number)] {
		number++
	}
	return number, nil
}

// reserve returns the first block that is reserved for the Node, or for nobody. The API
// server decides who gets it: of all who create a reservation of that name one succeeds.
func (o *Operator) reserve(ctx context.Context, node string) (int, error) {
	for number := 0; ; number++ {
		reservation := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("block-%d", number)},
			Data:       map[string]string{"node": node},
		}
		err := o.Create(ctx, reservation)
		if apierrors.IsAlreadyExists(err) {
			err = o.Live.Get(ctx, client.ObjectKeyFromObject(reservation), reservation)
		}
		if err != nil || reservation.Data["node"] == node {
			return number, err
		}
	}
}

// SetupWithManager registers the controller.
func (o *Operator) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("cilium").For(&corev1.Node{}).Complete(o)
}

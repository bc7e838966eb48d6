// Package rabbitmq is a miniature of the cluster operator for RabbitMQ, with two
// defects that were found in it: what it does in several writes is not taken up again
// after a crash, and what it refuses depends on which states it happens to see.
package rabbitmq

import (
	_ "embed"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed cluster.yaml
var definition []byte

//go:embed growing.yaml
var growing []byte

// Catalog returns the examples for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{
		{
			Name: "bug/rabbitmq-758",
			Doc:  "The operator refuses to scale down, unless it never saw the larger size.",
			Params: []catalog.Param{
				{Name: "fixed", Doc: "1: the API server refuses it", Default: 0, Min: 0, Max: 1},
			},
			Build: func(v catalog.Values) (*core.System, error) { return Rescaled(v["fixed"] == 1) },
		},
		{
			Name: "bug/rabbitmq-782",
			Doc:  "An operator that crashes while it enlarges volumes leaves them small.",
			Params: []catalog.Param{
				{Name: "fixed", Doc: "1: the operator looks at the volumes themselves", Default: 0, Min: 0, Max: 1},
			},
			Build: func(v catalog.Values) (*core.System, error) { return Enlarged(v["fixed"] == 1) },
		},
	}
}

// Rescaled returns the operator with a cluster of one server, which a user scales up to
// three and then down to two. With the fix, the API server knows that clusters cannot
// shrink.
func Rescaled(fixed bool) (*core.System, error) {
	served := definition
	if fixed {
		served = growing
	}
	return system("bug/rabbitmq-758", served, &Operator{},
		controllerruntime.Scale(newCluster(), 3),
		controllerruntime.Scale(newCluster(), 2),
	)
}

// Enlarged returns the operator with a cluster for which a user asks for larger volumes.
func Enlarged(fixed bool) (*core.System, error) {
	return system("bug/rabbitmq-782", definition, &Operator{GrowsClaimsFirst: fixed},
		controllerruntime.Change("ask for 15Gi in RabbitmqCluster default/mq", newCluster(), func(cluster *RabbitmqCluster) {
			cluster.Spec.Storage = resource.MustParse("15Gi")
		}),
	)
}

func newCluster() *RabbitmqCluster {
	return &RabbitmqCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mq"},
		Spec:       RabbitmqClusterSpec{Replicas: 1, Storage: resource.MustParse("10Gi")},
	}
}

// system returns an operator like the one given, a cluster that is new, and the class of its volumes.
func system(name string, definition []byte, like *Operator, actions ...controllerruntime.Action) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name(name),
		controllerruntime.CRDBytes(definition),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			operator := *like
			operator.Client = mgr.GetClient()
			return operator.SetupWithManager(mgr)
		}),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return (&StatefulSets{mgr.GetClient()}).SetupWithManager(mgr) }),
		controllerruntime.ObjectValues(newCluster(), newStorageClass()),
		controllerruntime.InOrder(actions...),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

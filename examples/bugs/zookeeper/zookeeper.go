// Package zookeeper is a miniature of the operator for ZooKeeper of the Pravega project,
// with two defects that were found in it: an operator that starts again on a stale view
// of the cluster deletes volumes that are in use.
package zookeeper

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed cluster.yaml
var definition []byte

// Catalog returns the examples for the command.
func Catalog() []catalog.Entry {
	fixed := []catalog.Param{{Name: "fixed", Doc: "1: the operator asks the API server for the cluster", Default: 0, Min: 0, Max: 1}}
	return []catalog.Entry{
		{
			Name:   "bug/zookeeper-312",
			Doc:    "A deletion that is seen again takes the volumes of the new cluster of that name.",
			Params: fixed,
			Build:  func(v catalog.Values) (*core.System, error) { return Recreated(v["fixed"] == 1) },
		},
		{
			Name:   "bug/zookeeper-314",
			Doc:    "A cluster that is seen small again loses the volume of a server.",
			Params: fixed,
			Build:  func(v catalog.Values) (*core.System, error) { return Rescaled(v["fixed"] == 1) },
		},
	}
}

// Recreated returns the operator with a cluster that a user deletes, and creates again.
func Recreated(fixed bool) (*core.System, error) {
	return system("bug/zookeeper-312", fixed, 1,
		controllerruntime.Delete(newCluster(1)),
		controllerruntime.Create(newCluster(1)),
	)
}

// Rescaled returns the operator with a cluster of two servers that a user scales down to
// one, and up again.
func Rescaled(fixed bool) (*core.System, error) {
	return system("bug/zookeeper-314", fixed, 2,
		controllerruntime.Scale(newCluster(2), 1),
		controllerruntime.Scale(newCluster(2), 2),
	)
}

func newCluster(replicas int32) *ZookeeperCluster {
	return &ZookeeperCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "zk"},
		Spec:       ZookeeperClusterSpec{Replicas: replicas},
	}
}

// system returns the operator, with or without the fix, and a cluster that is new.
func system(name string, fixed bool, replicas int32, actions ...controllerruntime.Action) (*core.System, error) {
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
			var clusters client.Reader = mgr.GetClient()
			if fixed {
				clusters = mgr.GetAPIReader()
			}
			return (&Operator{Client: mgr.GetClient(), Clusters: clusters}).SetupWithManager(mgr)
		}),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { return (&StatefulSets{mgr.GetClient()}).SetupWithManager(mgr) }),
		controllerruntime.GarbageCollection(),
		controllerruntime.ObjectValues(newCluster(replicas)),
		controllerruntime.InOrder(actions...),
		controllerruntime.Properties(properties.StableConvergence(), properties.Fixpoint(), volumesAreKept()),
	)
}

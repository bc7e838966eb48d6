// Package cilium is a miniature of a part of the operator of Cilium, with what was
// observed of it: while two instances take themselves for the leader, they give the same
// block of addresses to two Nodes.
package cilium

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "bug/cilium-42920",
		Doc:  "Two leaders at once give the same addresses to two Nodes.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: the operator reserves addresses with the API server", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1) },
	}}
}

// System returns the operator, with or without the fix, and two Nodes without addresses.
func System(fixed bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("bug/cilium-42920"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&Operator{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Reserves: fixed}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(newNode("one"), newNode("two")),
		controllerruntime.Properties(properties.StableConvergence(), properties.Fixpoint(), disjoint()),
	)
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// disjoint says what the network relies on.
func disjoint() core.Property {
	return core.Property{
		Name: "blocks are disjoint",
		Doc:  "No two Nodes have the same block of addresses.",
		Invariant: func(s core.State) error {
			holder := map[any]core.Key{}
			for _, node := range s.List("Node", "") {
				spec := node.Content.Fields().(map[string]any)["spec"].(map[string]any)
				block := spec["podCIDR"]
				if block == nil {
					continue
				}
				if other, taken := holder[block]; taken {
					return fmt.Errorf("%s has the block %s of %s", node.Key, block, other)
				}
				holder[block] = node.Key
			}
			return nil
		},
	}
}

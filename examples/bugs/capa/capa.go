// Package capa is a miniature of a part of the AWS provider of Cluster API, with a defect
// that was found in it: an instance that was made, but not written down, is forgotten,
// and made once more.
package capa

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
		Name: "bug/capa-5794",
		Doc:  "An instance is created twice if its creation was not recorded.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: the operator creates instances with a token", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1) },
	}}
}

// System returns the operator, with or without the fix, and a machine without an
// instance.
func System(fixed bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("bug/capa-5794"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&Operator{Client: mgr.GetClient(), Tokens: fixed}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "machine"}}),
		controllerruntime.Properties(append(properties.Convergent(), oneInstance())...),
	)
}

// oneInstance says what it costs users.
func oneInstance() core.Property {
	return core.Property{
		Name: "one instance each",
		Doc:  "No machine has two instances.",
		Invariant: func(s core.State) error {
			if instances := s.List("Pod", ""); len(instances) > 1 {
				return fmt.Errorf("there are both %s and %s", instances[0].Key, instances[1].Key)
			}
			return nil
		},
	}
}

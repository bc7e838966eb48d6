// Package cryostat is a miniature of a part of the operator for Cryostat, with a defect
// that was found in it: a link that the cache does not show yet is created once more,
// under another name.
package cryostat

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
		Name: "bug/cryostat-163",
		Doc:  "An object with a generated name is created again while the cache does not show it.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: the operator chooses the name itself", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1) },
	}}
}

// System returns the operator, with or without the fix, and a Service without a link.
func System(fixed bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("bug/cryostat-163"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&Operator{Client: mgr.GetClient(), NamesLinks: fixed}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cryostat"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
		}),
		controllerruntime.Properties(append(properties.Convergent(), oneLink())...),
	)
}

// oneLink says what users see of it.
func oneLink() core.Property {
	return core.Property{
		Name: "one link each",
		Doc:  "No Service has two links.",
		Invariant: func(s core.State) error {
			if links := s.List("ConfigMap", ""); len(links) > 1 {
				return fmt.Errorf("there are both %s and %s", links[0].Key, links[1].Key)
			}
			return nil
		},
	}
}

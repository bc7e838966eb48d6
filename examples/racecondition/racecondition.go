// Package racecondition is two controllers that both set a label where it is
// missing, each to its own value. They do not fight, but who comes first decides
// for ever.
package racecondition

import (
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
		Name: "racecondition",
		Doc:  "Two controllers set the same missing label of a Namespace: whichever acts first decides the value.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: only one of them sets the label", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1) },
	}}
}

// System returns the two controllers with the Namespace of a team. If it is fixed,
// billing leaves it to onboarding.
func System(fixed bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("racecondition"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			if err := (&Billing{Client: mgr.GetClient(), SparesTeams: fixed}).SetupWithManager(mgr); err != nil {
				return err
			}
			return (&Onboarding{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: "payments", Annotations: map[string]string{Team: "checkout"}},
		}),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

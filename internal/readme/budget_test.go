package readme

import (
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/properties"
)

func TestBudgetsSettle(t *testing.T) {
	system := controllerruntime.ForTest(t, scheme.Scheme,
		controllerruntime.Setup(func(mgr ctrl.Manager) error { // the same call as in main.go
			return (&BudgetReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}),
		controllerruntime.Objects("testdata/web.yaml"),
	)
	orrery.Check(t, system, properties.Convergent()...)
}

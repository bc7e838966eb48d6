package incident

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/cel"
)

func system(t *testing.T, locked bool) *core.System {
	return controllerruntime.ForTest(t, scheme.Scheme,
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&orderReconciler{Client: mgr.GetClient(), Locked: locked}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(shop(), order("pears"), order("plums")),
	)
}

// TestOrdersHaveNumbersOfTheirOwn checks every order of steps, and caches that miss the latest change.
func TestOrdersHaveNumbersOfTheirOwn(t *testing.T) {
	caches := orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}
	orrery.CheckWith(t, caches, system(t, true), cel.Always("no two orders have one number",
		`configmaps.all(a, !has(a.data) || configmaps.all(b, a.metadata.name == b.metadata.name || !has(b.data) || a.data.number != b.data.number))`))
}

// TestIncidentAgain runs the recorded reconciles with the controller of today.
func TestIncidentAgain(t *testing.T) {
	orrery.ReplayTrace(t, system(t, false), "testdata/incident.ort")
}

func shop() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}} }

func order(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "order"}}}
}

// Package toggle is two controllers that fight over a field: one keeps a Deployment
// at three replicas or more, the other at two or fewer. Each is right by itself;
// together they never come to rest.
package toggle

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "toggle",
		Doc:  "Two controllers fight over the replicas of a Deployment: a livelock.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: only one of them owns the field, and the other advises", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1) },
	}}
}

// System returns the two controllers with one Deployment. If it is fixed, only one
// of them owns the replicas.
func System(fixed bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("toggle"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			if err := (&Availability{Client: mgr.GetClient()}).SetupWithManager(mgr); err != nil {
				return err
			}
			return (&Savings{Client: mgr.GetClient(), Advises: fixed}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(deployment()),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}

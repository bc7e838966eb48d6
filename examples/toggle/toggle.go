// Package toggle is two controllers that fight over a field: one keeps a Deployment
// at three replicas or more, the other at two or fewer. Each is right by itself;
// together they never come to rest.
package toggle

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		Name:  "toggle",
		Doc:   "Two controllers fight over the replicas of a Deployment: a livelock.",
		Build: func(catalog.Values) (*core.System, error) { return System() },
	}}
}

// System returns the two controllers with one Deployment.
func System() (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("toggle"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			if err := (&Availability{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
				return err
			}
			return (&Savings{mgr.GetClient()}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(deployment()),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	replicas := int32(1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}

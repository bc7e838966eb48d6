// Package expectations is a controller that creates Pods under generated names, and counts them in a cache that may be old. What it has created and
// not seen yet, it keeps in memory, so that it does not create it again.
package expectations

import (
	appsv1 "k8s.io/api/apps/v1"
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
		Name: "expectations",
		Doc:  "A controller like that of ReplicaSets keeps the Pods in memory that its cache does not show yet: check it with --stale all=lag(1).",
		Params: []catalog.Param{
			{Name: "replicas", Doc: "Pods that are wanted", Default: 2, Min: 1, Max: 8},
			{Name: "defect", Doc: "1: nothing is expected; 2: expectations end with the reconcile; 3: expectations end with the first Pod; 4: more is expected than is created", Default: 0, Min: 0, Max: 4},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["replicas"], Defect(v["defect"])) },
	}}
}

// Defect is a mistake in the controller, 0 for none.
type Defect int

const (
	// ExpectsNothing believes what the cache shows.
	ExpectsNothing Defect = iota + 1
	// ForgetsAtEnd expects nothing any more when the reconcile is over.
	ForgetsAtEnd
	// ForgetsAtFirst takes the first Pod that it sees for all that it expects.
	ForgetsAtFirst
	// ExpectsTooMuch expects all Pods that are missing, and creates one at a time.
	ExpectsTooMuch
)

// System returns the controller with one ReplicaSet that wants a number of Pods.
func System(replicas int, defect Defect) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("expectations"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&ReplicaSets{Client: mgr.GetClient(), Defect: defect}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(replicaSet(int32(replicas))),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(neverTooMany(replicas), enoughInTheEnd(replicas)),
	)
}

// neverTooMany says that a ReplicaSet never has more Pods than it wants.
func neverTooMany(replicas int) core.Property {
	return properties.Quota("never too many Pods", "Pod", properties.ByOwner, func(core.State, string) int { return replicas })
}

// enoughInTheEnd says that at some time a ReplicaSet has the Pods that it wants, and keeps them.
func enoughInTheEnd(replicas int) core.Property {
	return properties.EventuallyAlways("enough Pods in the end", func(s core.State) bool { return len(s.List("Pod", "")) >= replicas })
}

func replicaSet(replicas int32) *appsv1.ReplicaSet {
	labels := map[string]string{"app": "web"}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}

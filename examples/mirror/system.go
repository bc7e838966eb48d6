// Package mirror is a controller that copies ConfigMaps to a second cluster. What it has to take away there, it learns in the first one only: if it misses that,
// the copy stays.
package mirror

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/remote"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "mirror",
		Doc:  "A controller copies ConfigMaps to a second cluster: check it with --crashes 1, and a copy stays.",
		Params: []catalog.Param{
			{Name: "finalizer", Doc: "1: a ConfigMap is kept until its copy is gone", Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["finalizer"] == 1) },
	}}
}

// System returns the controller with one ConfigMap, which users change and delete, and with a second cluster.
func System(finalizes bool) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	west, err := remote.New("west", scheme)
	if err != nil {
		return nil, err
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}, Data: map[string]string{"level": "1"}}
	return controllerruntime.New(scheme,
		controllerruntime.Name("mirror"),
		controllerruntime.External(west),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			other, err := west.Client(mgr.GetConfig())
			if err != nil {
				return err
			}
			return (&Mirror{Client: mgr.GetClient(), Other: other, Finalizes: finalizes}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(settings),
		controllerruntime.Scenario(
			controllerruntime.Change("change the level", settings, func(c *corev1.ConfigMap) { c.Data = map[string]string{"level": "2"} }),
			controllerruntime.Delete(settings),
		),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(copied(west), originals(west)),
	)
}

// copied says that in the end each ConfigMap has a copy, and the copy says the same.
func copied(west *remote.Cluster) core.Property {
	return properties.Matches("each ConfigMap is copied", "ConfigMap", func(state core.State, desired core.Object) bool {
		copied := state.Get(core.Key{Kind: west.Kind("ConfigMap"), Namespace: desired.Key.Namespace, Name: desired.Key.Name})
		return copied != nil && reflect.DeepEqual(data(copied), data(desired.Content))
	})
}

// originals says that in the end each copy has its original.
func originals(west *remote.Cluster) core.Property {
	return properties.Matches("each copy has its original", west.Kind("ConfigMap"), func(state core.State, desired core.Object) bool {
		return state.Get(core.Key{Kind: "ConfigMap", Namespace: desired.Key.Namespace, Name: desired.Key.Name}) != nil
	})
}

// data is what a ConfigMap says.
func data(of core.Content) any {
	fields, _ := of.Fields().(map[string]any)
	return fields["data"]
}

// Hostile has a system for each way in which a controller may do harm to those who check it.
package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

func main() {
	var entries []catalog.Entry
	for name, setUp := range controllers() {
		entries = append(entries, catalog.Entry{Name: name, Doc: name, Build: func(catalog.Values) (*core.System, error) {
			return controllerruntime.New(scheme.Scheme,
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					if err := setUp(mgr); err != nil {
						return fmt.Errorf("set up %s: %w", name, err)
					}
					return nil
				}),
				controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"k": "v"}}),
				controllerruntime.Properties(properties.Convergent()...),
			)
		}})
	}
	cli.Main(entries...)
}

// Package missedwatch is a controller that derives a ConfigMap from a Secret, and
// does not watch the Secret. In most orders nobody notices.
package missedwatch

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
		Name: "missedwatch",
		Doc:  "A controller copies from a Secret that it does not watch: quiet, but not done.",
		Params: []catalog.Param{
			{Name: "watch", Doc: "1: it watches the Secret", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["watch"] == 1) },
	}}
}

// System returns a publisher, which watches Secrets or does not, and a rotation
// with a Secret that has expired.
func System(watchesSecrets bool) (*core.System, error) {
	return controllerruntime.New(clientgoscheme.Scheme,
		controllerruntime.Name("missedwatch"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			if err := (&Publisher{Client: mgr.GetClient(), WatchesSecrets: watchesSecrets}).SetupWithManager(mgr); err != nil {
				return err
			}
			return (&Rotation{Client: mgr.GetClient()}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(
			&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: "authority",
					Annotations: map[string]string{Expired: "true"},
				},
				Data: map[string][]byte{Certificate: []byte("certificate of 2025")},
			},
			&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: "trust",
					Annotations: map[string]string{Source: "authority"},
				},
			},
		),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

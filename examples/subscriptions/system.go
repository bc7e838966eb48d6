// Package subscriptions is a controller that subscribes to topics with a service that is asked over HTTP. If the answer to a request is lost, the controller asks
// again: then it matters who chooses the id.
package subscriptions

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/web"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "subscriptions",
		Doc:  "A controller subscribes to topics over HTTP: check it with --failures 1, and it is subscribed twice.",
		Params: []catalog.Param{
			{Name: "put", Doc: "1: the controller chooses the id, and creates with PUT", Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["put"] == 1) },
	}}
}

// System returns the controller with one topic, and the service.
func System(names bool) (*core.System, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	service := web.New("notifications", Subscriptions{}, handler, web.Unavailable(http.StatusServiceUnavailable))
	return controllerruntime.New(scheme,
		controllerruntime.Name("subscriptions"),
		controllerruntime.External(service),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			network, err := service.Transport(mgr.GetConfig())
			if err != nil {
				return err
			}
			api := &API{HTTP: &http.Client{Transport: network}, Base: "http://notifications.example.com"}
			return (&Subscriber{Client: mgr.GetClient(), API: api, Names: names}).SetupWithManager(mgr)
		}),
		controllerruntime.ObjectValues(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "builds"}, Data: map[string]string{"topic": "builds"},
		}),
		controllerruntime.Properties(properties.Convergent()...),
		controllerruntime.Properties(once(service)),
	)
}

// once says that nobody is told the same twice.
func once(service *web.Service[Subscriptions]) core.Property {
	return core.Property{
		Name: "one subscription for each topic",
		Doc:  "The service never has two subscriptions of one topic.",
		Invariant: func(state core.State) error {
			topics := service.In(state).Topics
			first := map[string]string{}
			for _, id := range slices.Sorted(maps.Keys(topics)) {
				if other, known := first[topics[id]]; known {
					return fmt.Errorf("%s has the subscriptions %s and %s, so that each notification comes twice", topics[id], other, id)
				}
				first[topics[id]] = id
			}
			return nil
		},
	}
}

package controllerruntime_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/properties"
)

// Labeler is a reconciler like any other: it labels ConfigMaps.
type Labeler struct {
	client.Client
	Team string
}

// SetupWithManager registers the controller.
func (l *Labeler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named(l.Team).For(&corev1.ConfigMap{}).Complete(l)
}

// Reconcile sets the label of a ConfigMap.
func (l *Labeler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := l.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if config.Labels["team"] == l.Team {
		return ctrl.Result{}, nil
	}
	config.Labels = map[string]string{"team": l.Team}
	return ctrl.Result{}, l.Update(ctx, &config)
}

// Two controllers fight over a label.
func ExampleNew() {
	system, err := controllerruntime.New(scheme.Scheme,
		controllerruntime.Name("labels"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error { // as in main.go
			for _, team := range []string{"blue", "green"} {
				if err := (&Labeler{Client: mgr.GetClient(), Team: team}).SetupWithManager(mgr); err != nil {
					return err
				}
			}
			return nil
		}),
		controllerruntime.ObjectValues(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}),
		controllerruntime.Properties(properties.Convergent()...),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := orrery.Run(context.Background(), system, orrery.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Report.Verdict)
	for _, finding := range result.Report.Findings {
		fmt.Println(finding.Property, finding.Controllers)
	}
	// Output:
	// violated
	// stable convergence [green blue]
}

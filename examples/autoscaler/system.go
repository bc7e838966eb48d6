// Package autoscaler is two programs that know nothing of each other: an operator on controller-runtime makes Deployments, and an autoscaler on client-go scales
// them. The operator puts back what the autoscaler has changed, unless it leaves the replicas alone.
package autoscaler

import (
	"context"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// Catalog returns the example for the command.
func Catalog() []catalog.Entry {
	return []catalog.Entry{{
		Name: "autoscaler",
		Doc:  "An operator on controller-runtime and an autoscaler on client-go fight over the replicas of a Deployment.",
		Params: []catalog.Param{
			{Name: "fixed", Doc: "1: the operator decides on the replicas only as it creates the Deployment", Default: 0, Min: 0, Max: 1},
			{Name: "rollout", Doc: "1: a user changes the image meanwhile", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) { return System(v["fixed"] == 1, v["rollout"] == 1) },
	}}
}

// System returns both programs with one app. If it is fixed, the operator leaves the replicas alone once there is a Deployment. With a rollout, a user
// changes the image at some time.
func System(fixed, rollout bool) (*core.System, error) {
	app := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Data: map[string]string{"image": "web:1"}}
	options := []controllerruntime.Option{
		controllerruntime.Name("autoscaler"),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			return (&Operator{Client: mgr.GetClient(), OnlyAtFirst: fixed}).SetupWithManager(mgr)
		}),
		controllerruntime.With(clientgo.Setup(setUpAutoscaler)),
		controllerruntime.ObjectValues(app, bounds()),
		controllerruntime.Properties(properties.Convergent()...),
	}
	if rollout {
		options = append(options, controllerruntime.Scenario(controllerruntime.Change("roll out web:2", app, func(app *corev1.ConfigMap) {
			app.Data["image"] = "web:2"
		})))
	}
	return controllerruntime.New(scheme.Scheme, options...)
}

// setUpAutoscaler makes the autoscaler, as its main.go would.
func setUpAutoscaler(e *clientgo.Environment) error {
	client, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, time.Minute)
	if err := e.Fill(factory); err != nil {
		return err
	}
	a, err := New(client, factory.Apps().V1().Deployments(), factory.Autoscaling().V2().HorizontalPodAutoscalers())
	if err != nil {
		return err
	}
	queue, err := clientgo.QueueIn[string](e, a)
	if err != nil {
		return err
	}
	const workers = 2
	clientgo.Run(e, "autoscaler", a, queue, func(ctx context.Context) error { return a.Run(ctx, workers) })
	return nil
}

// bounds wants between two and five replicas of the app.
func bounds() *autoscalingv2.HorizontalPodAutoscaler {
	const least, most = 2, 5
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    ptr.To[int32](least), MaxReplicas: most,
		},
	}
}

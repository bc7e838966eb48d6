package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	api "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// newSystem returns the controllers with a LeaderWorkerSet of some groups of a size.
func newSystem(groups, size int) (*core.System, error) {
	types := kuberuntime.NewScheme()
	for _, add := range []func(*kuberuntime.Scheme) error{scheme.AddToScheme, api.AddToScheme} {
		if err := add(types); err != nil {
			return nil, err
		}
	}
	set := &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}}
	set.Spec.StartupPolicy, set.Spec.RolloutStrategy.Type = api.LeaderCreatedStartupPolicy, api.RollingUpdateStrategyType
	set.Spec.Replicas = ptr.To(int32(groups))
	set.Spec.LeaderWorkerTemplate.Size = ptr.To(int32(size))
	set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}}
	return controllerruntime.New(types,
		controllerruntime.Name("leaderworkerset"),
		controllerruntime.Setup(setup),
		controllerruntime.CRDs(published("crd", "bases")),
		controllerruntime.WebhookConfigurations(published("webhook", "manifests.yaml")),
		controllerruntime.ObjectValues(set),
		controllerruntime.Companions(companions.StatefulSets(), companions.Pods()),
		controllerruntime.GarbageCollection(&appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.Service{}),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

// setup makes the calls that main.go of LeaderWorkerSet makes between creating its manager and starting it, without gang scheduling.
func setup(mgr ctrl.Manager) error {
	if err := controllers.SetupIndexes(mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("set up indexes: %w", err)
	}
	recorder := mgr.GetEventRecorderFor("leaderworkerset")
	if err := controllers.NewLeaderWorkerSetReconciler(mgr.GetClient(), mgr.GetScheme(), recorder).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the controller of LeaderWorkerSets: %w", err)
	}
	if err := controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), recorder, nil).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the controller of Pods: %w", err)
	}
	if err := webhooks.SetupLeaderWorkerSetWebhook(mgr); err != nil {
		return fmt.Errorf("set up the webhooks of LeaderWorkerSets: %w", err)
	}
	return webhooks.NewPodWebhook(nil).Setup(mgr)
}

// published returns a file of the configuration in the source of the module, next to the code that is compiled in.
func published(file ...string) string {
	source, _ := runtime.FuncForPC(reflect.ValueOf(controllers.NewPodReconciler).Pointer()).FileLine(0)
	return filepath.Join(append([]string{filepath.Dir(source), "..", "..", "config"}, file...)...)
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/upstream"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// entries returns the example for the command.
func entries() []catalog.Entry {
	return []catalog.Entry{{
		Name:  "jobset",
		Doc:   "The published JobSet controllers with a JobSet of several replicated jobs.",
		Build: func(catalog.Values) (*core.System, error) { return newSystem() },
	}}
}

// newSystem returns the controllers that are recorded, with the JobSet of the recording at its start.
func newSystem() (*core.System, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	definition, err := definitionFile()
	if err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("jobset"),
		controllerruntime.CRDs(definition),
		controllerruntime.APIServer(kube.WithRules(upstream.Rules()), kube.ManagedFields()),
		controllerruntime.Setup(setup),
		controllerruntime.Reconciler("jobs", func(c client.Client) reconcile.Reconciler { return &jobs{c} }, controllerruntime.For(&batchv1.Job{})),
		controllerruntime.GarbageCollection(&batchv1.Job{}, &corev1.Service{}),
		controllerruntime.ObjectValues(newJobSet("js1", 1)),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

// newScheme returns the scheme that main.go of JobSet gives to its manager.
func newScheme() (*kuberuntime.Scheme, error) {
	scheme := kuberuntime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, api.AddToScheme(scheme)
}

// setup makes the calls that main.go of JobSet makes between creating its manager
// and starting it.
func setup(mgr ctrl.Manager) error {
	ctx := context.Background()
	if err := controllers.SetupJobSetIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.SetupPodIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.NewJobSetReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("jobset")).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("pod")).SetupWithManager(mgr); err != nil {
		return err
	}
	return webhooks.Setup(mgr)
}

// definitionFile finds the custom resource definition of JobSet in the source of its
// module, next to the controllers that are compiled in.
func definitionFile() (string, error) {
	source, _ := runtime.FuncForPC(reflect.ValueOf(controllers.NewJobSetReconciler).Pointer()).FileLine(0)
	file := filepath.Join(filepath.Dir(source), "..", "..", "config", "components", "crd", "bases", "jobset.x-k8s.io_jobsets.yaml")
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("the definition of JobSet is read from the source of its module, which is not there: build without -trimpath and run where Go modules are: %w", err)
	}
	return file, nil
}

// newJobSet is a JobSet as the webhooks of JobSet leave it, with two Jobs. It may be restarted so often, and then the first Job fails every time.
func newJobSet(name string, restarts int32) *api.JobSet {
	js := &api.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: api.JobSetSpec{
			SuccessPolicy: &api.SuccessPolicy{Operator: api.OperatorAll},
			StartupPolicy: &api.StartupPolicy{StartupPolicyOrder: api.AnyOrder},
			Network:       &api.Network{EnableDNSHostnames: ptr.To(true), PublishNotReadyAddresses: ptr.To(true)},
		},
	}
	image := "work:1"
	if restarts > 0 {
		js.Spec.FailurePolicy = &api.FailurePolicy{MaxRestarts: restarts}
		image = failing
	}
	for _, group := range []string{"group1", "group2"} {
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, api.ReplicatedJob{
			Name: group, GroupName: "default", Replicas: 1,
			Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism:    ptr.To[int32](1),
				Completions:    ptr.To[int32](1),
				CompletionMode: ptr.To(batchv1.IndexedCompletion),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyOnFailure,
					Containers:    []corev1.Container{{Name: "work", Image: image}},
				}},
			}},
		})
		image = "work:1"
	}
	return js
}

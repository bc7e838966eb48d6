// Package operator is what the examples with JobSet share: its published controllers, set up by the calls of JobSet's own main.go, and what stands in for the
// controller of Jobs.
package operator

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
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

// NewScheme returns the scheme that main.go of JobSet gives to its manager.
func NewScheme() (*kuberuntime.Scheme, error) {
	scheme := kuberuntime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, api.AddToScheme(scheme)
}

// Setup makes the calls that main.go of JobSet makes between creating its manager
// and starting it.
func Setup(mgr ctrl.Manager) error {
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

// DefinitionFile finds the custom resource definition of JobSet in the source of its
// module, next to the controllers that are compiled in.
func DefinitionFile() (string, error) {
	source, _ := runtime.FuncForPC(reflect.ValueOf(controllers.NewJobSetReconciler).Pointer()).FileLine(0)
	file := filepath.Join(filepath.Dir(source), "..", "..", "config", "components", "crd", "bases", "jobset.x-k8s.io_jobsets.yaml")
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("the definition of JobSet is read from the source of its module, which is not there: build without -trimpath and run where Go modules are: %w", err)
	}
	return file, nil
}

// NewJobSet is a JobSet as the webhooks of JobSet leave it, with so many replicated jobs of so many Jobs each. It may be restarted so often.
func NewJobSet(name string, groups, replicas, restarts int) *api.JobSet {
	js := &api.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: api.JobSetSpec{
			SuccessPolicy: &api.SuccessPolicy{Operator: api.OperatorAll},
			StartupPolicy: &api.StartupPolicy{StartupPolicyOrder: api.AnyOrder},
			Network:       &api.Network{EnableDNSHostnames: ptr.To(true), PublishNotReadyAddresses: ptr.To(true)},
		},
	}
	if restarts > 0 {
		js.Spec.FailurePolicy = &api.FailurePolicy{MaxRestarts: int32(restarts)}
	}
	for i := range groups {
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, api.ReplicatedJob{
			Name:      fmt.Sprintf("group%d", i+1),
			GroupName: "default",
			Replicas:  int32(replicas),
			Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism:    ptr.To[int32](1),
				Completions:    ptr.To[int32](1),
				CompletionMode: ptr.To(batchv1.IndexedCompletion),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyOnFailure,
					Containers:    []corev1.Container{{Name: "work", Image: "work:1"}},
				}},
			}},
		})
	}
	return js
}

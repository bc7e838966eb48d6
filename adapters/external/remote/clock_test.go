package remote_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/external/remote"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// late notes when a ConfigMap, or a Job that it makes for it in another cluster, is old as soon as it is there, and
// waits for a long time.
type late struct {
	client.Client
	other kubernetes.Interface
}

func (l *late) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &corev1.ConfigMap{}
	if err := l.Get(ctx, request.NamespacedName, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if config.Name == "waits" {
		if time.Now().Year() < 2010 {
			return ctrl.Result{RequeueAfter: time.Hour}, nil
		}
		return ctrl.Result{}, nil
	}
	if config.Data != nil {
		return ctrl.Result{}, nil
	}
	job, err := l.other.BatchV1().Jobs(config.Namespace).Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: config.Name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return ctrl.Result{}, err
	}
	config.Data = map[string]string{"at": time.Now().Format(time.RFC3339)}
	for name, at := range map[string]metav1.Time{"config": config.CreationTimestamp, "job": job.CreationTimestamp} {
		if time.Since(at.Time) > time.Hour {
			config.Data[name] = "old"
		}
	}
	return ctrl.Result{}, l.Update(ctx, config)
}

// TestTheClocksOfBothClusters has objects created in two clusters after a long time: they are as old as they are, and
// when they were created is no other outcome.
func TestTheClocksOfBothClusters(t *testing.T) {
	west, err := remote.New("west", scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	config := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	system := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.External(west),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			rest, err := west.Config(mgr.GetConfig())
			if err != nil {
				return err
			}
			other, err := kubernetes.NewForConfig(rest)
			if err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).Named("late").For(&corev1.ConfigMap{}).Complete(&late{mgr.GetClient(), other})
		}),
		controllerruntime.ObjectValues(config("waits")), controllerruntime.Scenario(scenario.Create(config("new"))),
		controllerruntime.Properties(properties.SameOutcome(), core.Property{Name: "nothing is old at once", Invariant: func(state core.State) error {
			if o := state.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: "new"}); o != nil && strings.Contains(o.Canonical(), `"old"`) {
				return errors.New(o.Canonical())
			}
			return nil
		}}))
	report := check(t, system, orrery.Options{Deadlines: 1}) // what it would do once more time has passed is not searched
	if len(report.Findings) > 0 || len(report.Awaiting) == 0 {
		t.Errorf("%s, %v wait for times: %+v %v", report.Verdict, report.Awaiting, report.Findings, report.Reasons)
	}
	if !strings.Contains(strings.Join(report.Assumptions, "\n"), "ConfigMap data.at") {
		t.Errorf("it assumes %q", report.Assumptions)
	}
}

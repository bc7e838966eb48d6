package operator

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Jobs plays the part of kube-controller-manager that JobSet waits for: it starts a
// Job that is not suspended, reports its pods ready, and then finishes it. Each of
// these is a step of its own. There are no Pods.
type Jobs struct {
	client.Client
	// Fails tells which Jobs fail where others complete.
	Fails func(*batchv1.Job) bool
}

// SetupWithManager registers the controller with a manager.
func (j *Jobs) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("jobs").For(&batchv1.Job{}).Complete(j)
}

// Reconcile takes a Job one phase further.
func (j *Jobs) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var job batchv1.Job
	if err := j.Get(ctx, request.NamespacedName, &job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !job.DeletionTimestamp.IsZero() || finished(&job) {
		return ctrl.Result{}, nil
	}
	pods := ptr.Deref(job.Spec.Parallelism, 1)
	now := metav1.Now()
	status := &job.Status
	switch {
	case ptr.Deref(job.Spec.Suspend, false):
		if status.StartTime == nil && status.Active == 0 {
			return ctrl.Result{}, nil
		}
		status.StartTime, status.Active, status.Ready = nil, 0, ptr.To[int32](0)
	case status.StartTime == nil:
		status.StartTime, status.Active, status.Ready = &now, pods, ptr.To[int32](0)
	case ptr.Deref(status.Ready, 0) < pods:
		status.Ready = ptr.To(pods)
	case j.Fails(&job):
		status.Active, status.Ready, status.Failed = 0, ptr.To[int32](0), pods
		status.Conditions = append(status.Conditions, condition(batchv1.JobFailureTarget, now), condition(batchv1.JobFailed, now))
	default:
		status.Active, status.Ready, status.Succeeded = 0, ptr.To[int32](0), pods
		status.CompletionTime = &now
		status.Conditions = append(status.Conditions, condition(batchv1.JobSuccessCriteriaMet, now), condition(batchv1.JobComplete, now))
	}
	return ctrl.Result{}, j.Status().Update(ctx, &job)
}

func finished(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func condition(kind batchv1.JobConditionType, now metav1.Time) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now}
}

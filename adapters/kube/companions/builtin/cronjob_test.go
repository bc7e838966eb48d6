package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

func cronJobs(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := cronjob.NewControllerV2(ctx, factory.Batch().V1().Jobs(), factory.Batch().V1().CronJobs(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

func jobTTL(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := ttlafterfinished.New(ctx, factory.Batch().V1().Jobs(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// jobStatus is what a Job reports that has come to its end in a way, or goes on.
func jobStatus(of batchv1.JobConditionType) string {
	at := metav1.Unix(946684800, 0)
	condition := func(of batchv1.JobConditionType) batchv1.JobCondition {
		return batchv1.JobCondition{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: at}
	}
	status := batchv1.JobStatus{StartTime: &at}
	switch of {
	case batchv1.JobComplete:
		status.CompletionTime = &at
		status.Conditions = []batchv1.JobCondition{condition(batchv1.JobSuccessCriteriaMet), condition(batchv1.JobComplete)}
	case batchv1.JobFailed:
		status.Conditions = []batchv1.JobCondition{condition(batchv1.JobFailureTarget), condition(batchv1.JobFailed)}
	}
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// onJob is the step of changing a Job by a merge patch, by its number among all. One that has come to its end does so
// once.
func onJob(what string, number int, subresource, patch string) step {
	return step{name: fmt.Sprintf("%s Job %d", what, number), do: func(w *world) {
		if all := inOrder(w, "Job.batch"); len(all) > 0 {
			w.Do(&kube.Request{
				Verb: kube.Patch, Kind: batchv1.SchemeGroupVersion.WithKind("Job"), Subresource: subresource, Namespace: "default",
				Name: all[number%len(all)].Key.Name, PatchType: types.MergePatchType, Body: []byte(patch),
			})
		}
	}}
}

// removeJob is the step of deleting a Job, by its number among all.
func removeJob(number int) step {
	return step{name: fmt.Sprintf("delete Job %d", number), do: func(w *world) {
		if all := inOrder(w, "Job.batch"); len(all) > 0 {
			deletion(batchv1.SchemeGroupVersion.WithKind("Job"), all[number%len(all)].Key.Name).do(w)
		}
	}}
}

// end is the step of a Job coming to its end.
func end(random *rand.Rand, number int) step {
	of := []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobComplete, batchv1.JobFailed}[random.IntN(3)]
	return onJob(string(of), number, "status", jobStatus(of))
}

func TestCronJobs(t *testing.T) {
	kind := batchv1.SchemeGroupVersion.WithKind("CronJob")
	day := step{name: "a day passes", do: func(*world) {}, day: true}
	policies := []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}
	random(t, func(t *testing.T, random *rand.Rand) {
		of := template("i:1")
		of.Labels, of.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
		c := &batchv1.CronJob{ObjectMeta: named("c"), Spec: batchv1.CronJobSpec{
			Schedule: "0 0 * * *", ConcurrencyPolicy: policies[random.IntN(3)], Suspend: ptr.To(random.IntN(4) == 0),
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"l": "v"}, Annotations: map[string]string{"a": "v"}},
				Spec:       batchv1.JobSpec{Template: of},
			},
		}}
		if random.IntN(2) == 0 {
			c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = ptr.To(random.Int32N(3)), ptr.To(random.Int32N(2))
		}
		const many = 1000
		compare(t, scenario(random, creation(kind, c), func() step {
			number := random.IntN(8)
			switch random.IntN(17) {
			case 10:
				return patching(kind, "c", fmt.Sprintf(`{"spec":{"failedJobsHistoryLimit":%d}}`, random.IntN(3)))
			case 0:
				return patching(kind, "c", fmt.Sprintf(`{"spec":{"suspend":%t}}`, random.IntN(2) == 0))
			case 1:
				return patching(kind, "c", fmt.Sprintf(`{"spec":{"concurrencyPolicy":"%s"}}`, policies[random.IntN(3)]))
			case 2:
				return patching(kind, "c", fmt.Sprintf(`{"spec":{"successfulJobsHistoryLimit":%d}}`, random.IntN(3)))
			case 3:
				return patching(kind, "c", fmt.Sprintf(`{"spec":{"jobTemplate":{"spec":{"parallelism":%d}}}}`, 1+random.IntN(3)))
			case 4:
				return removeJob(number)
			case 5:
				return onJob("let go of", number, "", `{"metadata":{"ownerReferences":null}}`)
			case 6, 7, 8, 9:
				return end(random, number)
			}
			return day
		}), []companions.Companion{companions.CronJobs(many)}, cronJobs)
	})
}

func TestJobTTL(t *testing.T) {
	kind := batchv1.SchemeGroupVersion.WithKind("Job")
	random(t, func(t *testing.T, random *rand.Rand) {
		job := func() step {
			j := &batchv1.Job{ObjectMeta: named(fmt.Sprint("j", random.IntN(3))), Spec: batchv1.JobSpec{Template: template("i:1")}}
			j.Spec.Template.Labels, j.Spec.Template.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
			if random.IntN(2) == 0 {
				j.Spec.TTLSecondsAfterFinished = ptr.To(random.Int32N(100))
			}
			if random.IntN(4) == 0 {
				j.Finalizers = []string{"example.com/f"}
			}
			return addition(kind, j)
		}
		compare(t, scenario(random, job(), func() step {
			number := random.IntN(8)
			switch random.IntN(8) {
			case 0:
				return removeJob(number)
			case 1:
				return onJob("keep", number, "", `{"spec":{"ttlSecondsAfterFinished":null}}`)
			case 2:
				return onJob("expire", number, "", `{"spec":{"ttlSecondsAfterFinished":10}}`)
			case 3, 4, 5:
				return end(random, number)
			}
			return job()
		}), []companions.Companion{companions.JobTTL()}, jobTTL)
	})
}

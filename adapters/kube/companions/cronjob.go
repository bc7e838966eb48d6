package companions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

func cronJobKind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("CronJob") }

// CronJobs is the controller that makes the Jobs of CronJobs, up to a number of runs for each CronJob: with the
// policies for concurrency, suspension, limits for the Jobs that are kept, and a status with the Jobs that are active
// and the times of the last run and the last success.
//
// Time is abstract: as long as there are runs left, the next one is due at any moment, whatever the schedule says, so
// that Jobs last longer than the time between two runs, or do not. In what is written, runs are a minute apart. A run
// that may not begin, since the CronJob is suspended or another run is active, begins once it may. Left out are
// startingDeadlineSeconds and time zones.
func CronJobs(runs int) Companion {
	j := cronJobs{controls{owner: cronJobKind(), dependent: jobKind()}, runs}
	return func(server *kube.Server) (core.Strategy, error) {
		if runs < 0 {
			return nil, fmt.Errorf("the companion cronjob cannot make %d runs: pass a number that is not negative", runs)
		}
		s := &strategy{name: "cronjob", kinds: []schema.GroupVersionKind{cronJobKind(), jobKind()}, handle: j.handle, reconcile: j.reconcile}
		return s.on(server)
	}
}

type cronJobs struct {
	controls

	runs int
}

// due is the request to begin the next run of a CronJob.
const due = "due"

// interval is the time between two runs.
const interval = time.Minute

func (j cronJobs) handle(c client, event core.Event) []core.Request {
	named := j.owners(c, event)
	if event.Key.Kind == kube.KindOf(cronJobKind().GroupKind()) {
		named = []core.Request{on(event.Key.Namespace, event.Key.Name)}
	}
	var found []core.Request
	for _, one := range named {
		found = append(found, one, due+" "+one)
	}
	return found
}

func (j cronJobs) reconcile(c client, named request) error {
	cron, err := get[batchv1.CronJob](c, cronJobKind(), named.namespace, named.name)
	if err != nil || cron == nil {
		return err
	}
	if cron.Spec.StartingDeadlineSeconds != nil {
		c.leavesOut(cronJobKind(), cron, "spec.startingDeadlineSeconds")
	}
	all, err := list[batchv1.Job](c, &kube.Request{Kind: jobKind(), Namespace: cron.Namespace})
	if err != nil {
		return err
	}
	before := cron.Status.DeepCopy()
	for _, one := range []struct {
		of    batchv1.JobConditionType
		limit *int32
	}{{batchv1.JobComplete, cron.Spec.SuccessfulJobsHistoryLimit}, {batchv1.JobFailed, cron.Spec.FailedJobsHistoryLimit}} {
		if err := truncate(c, cron, all, one.of, one.limit); err != nil {
			return err
		}
	}
	observe(cron, all)
	var failed error
	if named.what == due {
		failed = j.begin(c, cron)
	}
	if !equality.Semantic.DeepEqual(before, &cron.Status) {
		if err := c.updateStatus(cronJobKind(), cron); err != nil {
			return err
		}
	}
	return failed
}

// isRunOf reports whether a CronJob looks after a Job: it is the controller by its name, whatever its uid is.
func isRunOf(job *batchv1.Job, cron *batchv1.CronJob) bool {
	owner := metav1.GetControllerOf(job)
	return owner != nil && owner.Name == cron.Name
}

// truncate deletes the oldest Jobs that have come to their end in a way, beyond what is to be kept.
func truncate(c client, cron *batchv1.CronJob, all []*batchv1.Job, of batchv1.JobConditionType, limit *int32) error {
	if limit == nil {
		return nil
	}
	ended := slices.DeleteFunc(slices.Clone(all), func(job *batchv1.Job) bool { return !isRunOf(job, cron) || jobCondition(job, of) == nil })
	slices.SortFunc(ended, func(a, b *batchv1.Job) int {
		began := func(job *batchv1.Job) time.Time { return ptr.Deref(job.Status.StartTime, metav1.Time{}).Time }
		return cmp.Or(
			cmp.Compare(ordinal(a.Status.StartTime == nil), ordinal(b.Status.StartTime == nil)), began(a).Compare(began(b)), cmp.Compare(a.Name, b.Name),
		)
	})
	for _, job := range ended[:max(0, len(ended)-int(*limit))] {
		if err := removeRun(c, cron, job); err != nil {
			return err
		}
	}
	return nil
}

// removeRun deletes a Job with its Pods.
func removeRun(c client, cron *batchv1.CronJob, job metav1.Object) error {
	err := c.do(&kube.Request{
		Verb: kube.Delete, Kind: jobKind(), Namespace: cron.Namespace, Name: job.GetName(), Propagation: string(metav1.DeletePropagationBackground),
	}, nil)
	if err == nil {
		deactivate(cron, func(active corev1.ObjectReference) bool { return active.UID == job.GetUID() })
	}
	return ignoreNotFound(err)
}

// deactivate takes Jobs from those that are active.
func deactivate(cron *batchv1.CronJob, which func(corev1.ObjectReference) bool) {
	cron.Status.Active = slices.DeleteFunc(slices.Clone(cron.Status.Active), which)
}

// observe brings the status up to date: which Jobs are active, and when the last one has succeeded.
func observe(cron *batchv1.CronJob, all []*batchv1.Job) {
	deactivate(cron, func(active corev1.ObjectReference) bool {
		return !slices.ContainsFunc(all, func(job *batchv1.Job) bool {
			if isRunOf(job, cron) {
				return job.UID == active.UID && !jobFinished(job)
			}
			return job.Name == active.Name // it is let go, and not gone
		})
	})
	for _, job := range all {
		ended := job.Status.CompletionTime
		if !isRunOf(job, cron) || jobCondition(job, batchv1.JobComplete) == nil || ended == nil {
			continue
		}
		if last := cron.Status.LastSuccessfulTime; last == nil || ended.After(last.Time) {
			cron.Status.LastSuccessfulTime = ended
		}
	}
}

// begin makes the Job of the next run, if it is due.
func (j cronJobs) begin(c client, cron *batchv1.CronJob) error {
	last := cron.CreationTimestamp.Time
	if cron.Status.LastScheduleTime != nil {
		last = cron.Status.LastScheduleTime.Time
	}
	if cron.DeletionTimestamp != nil || ptr.Deref(cron.Spec.Suspend, false) || !j.hasRunsLeft(cron, last) {
		return nil
	}
	switch cron.Spec.ConcurrencyPolicy {
	case batchv1.ForbidConcurrent:
		if len(cron.Status.Active) > 0 {
			return nil
		}
	case batchv1.ReplaceConcurrent:
		for _, active := range cron.Status.Active {
			if err := removeRun(c, cron, &metav1.ObjectMeta{Name: active.Name, UID: active.UID}); err != nil {
				return err
			}
		}
	}
	job, at, err := j.run(c, cron, last)
	if job == nil || err != nil {
		return unlessNamespaceEnds(err)
	}
	cron.Status.Active = append(cron.Status.Active, corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: jobKind().Kind, Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	})
	cron.Status.LastScheduleTime = ptr.To(metav1.NewTime(at))
	return nil
}

// run creates the Job of the run after one at a time, and returns it with its own; nil if there is no run left. Where a
// CronJob of the name before has had a minute, and its Job is still there, it takes the next one: in a cluster, that
// minute would be over.
func (j cronJobs) run(c client, cron *batchv1.CronJob, last time.Time) (*batchv1.Job, time.Time, error) {
	for at := last; j.hasRunsLeft(cron, at); {
		at = at.Add(interval)
		job := newRun(cron, at)
		err := c.create(jobKind(), job)
		if !apierrors.IsAlreadyExists(err) {
			return job, at, err
		}
		existing, err := get[batchv1.Job](c, jobKind(), job.Namespace, job.Name)
		if err != nil || existing == nil || metav1.IsControlledBy(existing, cron) {
			return existing, at, err
		}
	}
	return nil, last, nil
}

// hasRunsLeft reports whether there is another run after one at a time.
func (j cronJobs) hasRunsLeft(cron *batchv1.CronJob, last time.Time) bool {
	return int(last.Sub(cron.CreationTimestamp.Time)/interval) < j.runs
}

// newRun is the Job of a run.
func newRun(cron *batchv1.CronJob, at time.Time) *batchv1.Job {
	annotations := map[string]string{}
	maps.Copy(annotations, cron.Spec.JobTemplate.Annotations)
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.UTC().Format(time.RFC3339)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cron.Namespace, Name: fmt.Sprintf("%s-%d", cron.Name, at.Unix()/int64(interval/time.Second)),
			Labels: maps.Clone(cron.Spec.JobTemplate.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cron, cronJobKind())},
		},
		Spec: *cron.Spec.JobTemplate.Spec.DeepCopy(),
	}
}

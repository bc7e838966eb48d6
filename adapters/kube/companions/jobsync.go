package companions

import (
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// jobSync is the controller of Jobs at work on one of them.
type jobSync struct {
	client client
	job    *batchv1.Job
	// written is the status as it was read or written last.
	written *batchv1.JobStatus
	pods    []*corev1.Pod
	active  []*corev1.Pod
	// ready and terminating are how many Pods are so, after what has been done.
	ready, terminating int32
	// succeeded and failed are how many Pods have, with those that are not counted yet.
	succeeded, failed int32
	// completed and given are the indexes that have succeeded, and those that are given up.
	completed, given indexes
	// replaced are the Pods that have failed and are to be replaced, by their indexes.
	replaced map[int]*corev1.Pod
	// end says why the Job is to end, nil if it is not.
	end *batchv1.JobCondition
}

func newJobSync(c client, job *batchv1.Job, pods []*corev1.Pod) *jobSync {
	s := &jobSync{client: c, job: job, written: job.Status.DeepCopy(), pods: pods, active: filter(pods, isActive), terminating: count(pods, isTerminating)}
	s.ready = count(s.active, isReady)
	if job.Status.UncountedTerminatedPods == nil {
		job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	if isIndexed(job) {
		slices.SortStableFunc(s.pods, func(a, b *corev1.Pod) int { return indexOf(a) - indexOf(b) })
	}
	uncounted := job.Status.UncountedTerminatedPods
	s.succeeded, s.failed = job.Status.Succeeded+int32(len(uncounted.Succeeded)), job.Status.Failed+int32(len(uncounted.Failed))
	for _, pod := range s.pods {
		switch {
		case !isTracked(pod) || !s.inRange(pod):
		case pod.Status.Phase == corev1.PodSucceeded && !slices.Contains(uncounted.Succeeded, pod.UID):
			s.succeeded++
		case hasFailed(job, pod) && !slices.Contains(uncounted.Failed, pod.UID) && policyFor(job, pod).counts:
			s.failed++
		}
	}
	return s
}

// inRange reports whether a Pod has an index that the Job asks for, if it asks for any.
func (s *jobSync) inRange(pod *corev1.Pod) bool {
	index := indexOf(pod)
	return !isIndexed(s.job) || index >= 0 && index < s.completions()
}

func (s *jobSync) completions() int { return int(ptr.Deref(s.job.Spec.Completions, 0)) }

// run brings the Pods and the status of the Job closer to what it wants.
func (s *jobSync) run() error {
	suspended := ptr.Deref(s.job.Spec.Suspend, false)
	if s.job.Status.StartTime == nil && !suspended {
		s.job.Status.StartTime = ptr.To(s.client.now())
	}
	s.decide()
	if isIndexed(s.job) {
		s.decideByIndexes()
	}
	var refused error
	if s.end != nil {
		refused = s.stop()
	} else {
		if s.job.DeletionTimestamp == nil {
			refused = s.manage(suspended)
		}
		wanted := s.job.Spec.Completions
		if len(s.active) == 0 && (wanted == nil && s.succeeded > 0 || wanted != nil && s.succeeded >= *wanted) {
			s.end = s.newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
		} else if s.job.DeletionTimestamp == nil {
			s.suspend()
		}
	}
	s.job.Status.Active, s.job.Status.Ready, s.job.Status.Terminating = int32(len(s.active)), ptr.To(s.ready), ptr.To(s.terminating)
	if err := s.track(); err != nil {
		return err
	}
	return refused
}

// decide finds out whether the Job is to end.
func (s *jobSync) decide() {
	if met := jobCondition(s.job, batchv1.JobSuccessCriteriaMet); met != nil {
		s.end = met
		return
	}
	if target := jobCondition(s.job, batchv1.JobFailureTarget); target != nil {
		s.end = s.newCondition(batchv1.JobFailed, target.Reason, target.Message)
		return
	}
	for _, pod := range s.pods {
		if hasFailed(s.job, pod) {
			if policy := policyFor(s.job, pod); policy.failsJob != "" {
				s.end = s.newCondition(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy, policy.failsJob)
				return
			}
		}
	}
	if s.failed > ptr.Deref(s.job.Spec.BackoffLimit, 0) || s.restartsTooOften() {
		s.end = s.newCondition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	}
}

// restartsTooOften reports whether containers have been started again as often as Pods may fail.
func (s *jobSync) restartsTooOften() bool {
	if s.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	var total int32
	for _, pod := range s.pods {
		if isFinished(pod) {
			continue
		}
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			total += status.RestartCount
		}
	}
	return total >= max(1, ptr.Deref(s.job.Spec.BackoffLimit, 0))
}

// decideByIndexes finds out which indexes have succeeded and which are given up, and whether the Job is to end by that.
func (s *jobSync) decideByIndexes() {
	s.completed = parseIndexes(s.job.Status.CompletedIndexes, s.completions())
	for _, pod := range s.pods {
		if pod.Status.Phase == corev1.PodSucceeded && isTracked(pod) && s.inRange(pod) {
			s.completed.add(indexOf(pod))
		}
	}
	s.succeeded = int32(len(s.completed))
	if s.job.Spec.BackoffLimitPerIndex != nil {
		s.giveUp()
	}
	if s.end != nil {
		return
	}
	if message, met := succeedsBy(s.job, s.completed); met {
		s.end = s.newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, message)
	}
}

// giveUp finds the indexes that have failed too often, and the Pods that are to be replaced.
func (s *jobSync) giveUp() {
	s.given = parseIndexes(ptr.Deref(s.job.Status.FailedIndexes, ""), s.completions())
	for _, pod := range s.pods {
		if !isTracked(pod) || !s.inRange(pod) || !hasFailed(s.job, pod) {
			continue
		}
		policy := policyFor(s.job, pod)
		if policy.failsIndex || policy.counts && failures(pod, batchv1.JobIndexFailureCountAnnotation) >= int(*s.job.Spec.BackoffLimitPerIndex) {
			s.given.add(indexOf(pod))
		}
	}
	if s.end == nil {
		limit := s.job.Spec.MaxFailedIndexes
		switch {
		case limit != nil && len(s.given) > int(*limit):
			s.end = s.newCondition(batchv1.JobFailureTarget, batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
		case len(s.given) > 0 && len(s.given)+len(s.completed) >= s.completions():
			s.end = s.newCondition(batchv1.JobFailureTarget, batchv1.JobReasonFailedIndexes, "Job has failed indexes")
		}
	}
	running := indexesOf(s.active)
	s.replaced = map[int]*corev1.Pod{}
	for _, pod := range s.pods {
		index := indexOf(pod)
		if !isTracked(pod) || !s.inRange(pod) || !hasFailed(s.job, pod) || s.completed.has(index) || s.given.has(index) || running.has(index) {
			continue
		}
		if last := s.replaced[index]; last == nil || tries(last) < tries(pod) {
			s.replaced[index] = pod
		}
	}
}

// stop deletes the Pods that still run.
func (s *jobSync) stop() error {
	for len(s.active) > 0 {
		if err := s.client.remove(podKind(), s.active[0]); err != nil {
			return err
		}
		s.leave(s.active[0])
	}
	return nil
}

// leave takes a Pod from those that are active: it has been deleted.
func (s *jobSync) leave(pod *corev1.Pod) {
	s.active = slices.DeleteFunc(s.active, func(p *corev1.Pod) bool { return p == pod })
	s.ready -= int32(ordinal(isReady(pod)))
	s.terminating++
}

// manage creates and deletes Pods.
func (s *jobSync) manage(suspended bool) error {
	wanted := int(ptr.Deref(s.job.Spec.Parallelism, 1))
	switch {
	case suspended:
		wanted = 0
	case s.job.Spec.Completions == nil && s.succeeded > 0:
		wanted = len(s.active)
	case s.job.Spec.Completions != nil:
		wanted = max(0, min(wanted, s.completions()-int(s.succeeded)))
	}
	if surplus := s.surplus(len(s.active) - wanted); len(surplus) > 0 {
		return s.dismiss(surplus)
	}
	missing := wanted - len(s.active)
	if waitsForEnd(s.job) {
		missing -= int(s.terminating)
	}
	if !isIndexed(s.job) {
		for range missing {
			if err := s.create(newPod(&s.job.Spec.Template, s.job, metav1.NewControllerRef(s.job, jobKind()))); err != nil {
				return err
			}
		}
		return nil
	}
	for _, index := range s.pending(missing) {
		if err := s.create(s.indexed(index)); err != nil {
			return err
		}
	}
	return nil
}

// surplus are the Pods to delete, at least a number of them: those whose index somebody else has or nobody asks for,
// and then the least useful.
func (s *jobSync) surplus(number int) []*corev1.Pod {
	var surplus, rest []*corev1.Pod
	if isIndexed(s.job) {
		seen := indexes{}
		for _, pod := range slices.Backward(expendable(s.active)) {
			if !s.inRange(pod) || seen.has(indexOf(pod)) {
				surplus = append(surplus, pod)
				continue
			}
			seen.add(indexOf(pod))
			rest = append(rest, pod)
		}
	} else {
		rest = s.active
	}
	return append(surplus, expendable(rest)[:max(0, number-len(surplus))]...)
}

// dismiss deletes Pods that are not to count as failed.
func (s *jobSync) dismiss(pods []*corev1.Pod) error {
	for _, pod := range pods {
		if isTracked(pod) {
			if err := untrack(s.client, pod); err != nil {
				return err
			}
		}
		if err := s.client.remove(podKind(), pod); err != nil {
			return err
		}
		pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
		s.leave(pod)
	}
	return nil
}

// create creates a Pod that is counted when it ends.
func (s *jobSync) create(pod *corev1.Pod) error {
	if !isTracked(pod) {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if err := s.client.create(podKind(), pod); err != nil {
		return err
	}
	s.active = append(s.active, pod)
	return nil
}

// indexed is a new Pod of an index.
func (s *jobSync) indexed(index int) *corev1.Pod {
	pod := newPod(&s.job.Spec.Template, s.job, metav1.NewControllerRef(s.job, jobKind()))
	number := strconv.Itoa(index)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.GenerateName += number + "-"
	pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Labels[batchv1.JobCompletionIndexAnnotation] = number, number
	pod.Spec.Hostname = s.job.Name + "-" + number
	maps.Copy(pod.Annotations, s.failuresBefore(index))
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addIndex(&containers[i])
		}
	}
	return pod
}

// addIndex tells a container the index of its Pod.
func addIndex(container *corev1.Container) {
	const name = "JOB_COMPLETION_INDEX"
	if slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name }) {
		return
	}
	container.Env = append(container.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']"},
	}})
}

// track counts the Pods that have ended: it notes them in the status, takes their finalizers, and then adds them to the
// counters.
func (s *jobSync) track() error {
	uncounted := s.job.Status.UncountedTerminatedPods
	s.count(map[types.UID]bool{})
	var ended []*corev1.Pod
	for _, pod := range s.pods {
		if !isTracked(pod) || !s.mayEnd(pod) {
			continue
		}
		ended = append(ended, pod)
		failed := hasFailed(s.job, pod)
		switch {
		case pod.Status.Phase == corev1.PodSucceeded && !slices.Contains(uncounted.Failed, pod.UID):
			if !isIndexed(s.job) && !slices.Contains(uncounted.Succeeded, pod.UID) {
				uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
			}
		case failed || s.end != nil && s.end.Type != batchv1.JobSuccessCriteriaMet:
			if !slices.Contains(uncounted.Failed, pod.UID) && s.inRange(pod) && policyFor(s.job, pod).counts {
				uncounted.Failed = append(uncounted.Failed, pod.UID)
			}
		}
	}
	if isIndexed(s.job) {
		s.job.Status.Succeeded, s.job.Status.CompletedIndexes = int32(len(s.completed)), s.completed.String()
		if s.job.Spec.BackoffLimitPerIndex != nil {
			s.job.Status.FailedIndexes = ptr.To(s.given.String())
		}
	}
	s.announce()
	if err := s.write(); err != nil {
		return err
	}
	gone := map[types.UID]bool{}
	for _, pod := range ended {
		if err := untrack(s.client, pod); err != nil {
			return err
		}
		gone[pod.UID] = true
	}
	s.count(gone)
	s.finish()
	return s.write()
}

// mayEnd reports whether a Pod is counted now.
func (s *jobSync) mayEnd(pod *corev1.Pod) bool {
	if s.job.DeletionTimestamp != nil || s.end != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return hasFailed(s.job, pod) && s.replaced[indexOf(pod)] != pod
}

// count adds the Pods to the counters that were noted and have no finalizer any more.
func (s *jobSync) count(gone map[types.UID]bool) {
	tracked := map[types.UID]bool{}
	for _, pod := range s.pods {
		tracked[pod.UID] = isTracked(pod) && !gone[pod.UID]
	}
	uncounted := s.job.Status.UncountedTerminatedPods
	for _, noted := range []struct {
		uids    *[]types.UID
		counter *int32
	}{{&uncounted.Succeeded, &s.job.Status.Succeeded}, {&uncounted.Failed, &s.job.Status.Failed}} {
		before := len(*noted.uids)
		*noted.uids = slices.DeleteFunc(*noted.uids, func(uid types.UID) bool { return !tracked[uid] })
		*noted.counter += int32(before - len(*noted.uids))
	}
}

// announce says that the Job is to end, and makes of it the condition that it has ended.
func (s *jobSync) announce() {
	if s.end == nil {
		return
	}
	switch s.end.Type {
	case batchv1.JobFailureTarget:
		setJobCondition(s.job, s.end)
		s.end = s.newCondition(batchv1.JobFailed, s.end.Reason, s.end.Message)
	case batchv1.JobSuccessCriteriaMet:
		setJobCondition(s.job, s.end)
		s.end = s.newCondition(batchv1.JobComplete, s.end.Reason, s.end.Message)
	}
}

// finish says that the Job has ended, if no Pod of it runs or is to be counted.
func (s *jobSync) finish() {
	uncounted := s.job.Status.UncountedTerminatedPods
	if s.end == nil || s.terminating > 0 || len(uncounted.Succeeded)+len(uncounted.Failed) > 0 {
		return
	}
	setJobCondition(s.job, s.end)
	if s.end.Type == batchv1.JobComplete {
		s.job.Status.CompletionTime = ptr.To(s.client.now())
	}
}

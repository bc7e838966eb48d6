package companions

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// Jobs is the controller that makes the Pods of Jobs: with and without indexes, with parallelism, completions, limits
// for failures in all and for each index, policies for failures and for success, suspension, and replacement of Pods
// that have failed or are on the way to. It counts each Pod once, with the help of a finalizer, and its conditions come
// in the order of recent versions: first that the Job is to end, and that it has ended when no Pod is left.
//
// [JobTTL] deletes Jobs that have come to their end. It adopts Pods and lets them go by their labels. Left out are
// activeDeadlineSeconds, and the time between a failure and the next try.
func Jobs() Companion {
	j := jobs{controls{owner: jobKind(), dependent: podKind(), claims: func(*corev1.Pod) bool { return true }, leave: true, clears: true, finalizer: batchv1.JobTrackingFinalizer}}
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{name: "job", kinds: []schema.GroupVersionKind{jobKind(), podKind()}, handle: j.handle, reconcile: j.reconcile}
		return s.on(server)
	}
}

type jobs struct{ controls }

// untracks is the request to take the finalizer from a Pod if no Job counts it any more.
const untracks = "untrack"

func (j jobs) handle(c client, event core.Event) []core.Request {
	if event.Key.Kind == kube.KindOf(j.owner.GroupKind()) {
		found := []core.Request{on(event.Key.Namespace, event.Key.Name)}
		if event.New == nil {
			found = append(found, j.selected(c, typed[batchv1.Job](event.Old))...)
		}
		return found
	}
	found := j.requests(c, event)
	if event.New != nil {
		if pod := metaOf(event.New); slices.Contains(pod.GetFinalizers(), batchv1.JobTrackingFinalizer) && j.orphaned(c, pod) {
			found = append(found, core.Request(request{untracks, event.Key.Namespace, event.Key.Name}.String()))
		}
	}
	return found
}

// orphaned reports whether a Pod has no Job, or is being deleted and is of one that is gone, or has come to its end:
// another one may have its name by now.
func (j jobs) orphaned(c client, pod metav1.Object) bool {
	switch owner := metav1.GetControllerOf(pod); {
	case owner == nil:
		return true
	case pod.GetDeletionTimestamp() == nil || owner.Kind != j.owner.Kind:
		return false
	default:
		job, err := get[batchv1.Job](c, j.owner, pod.GetNamespace(), owner.Name)
		return err == nil && (job == nil || job.UID != owner.UID || jobFinished(job))
	}
}

// selected are the requests to look at the Pods of a Job that is gone whose selector is its own. Others are found by
// their labels.
func (j jobs) selected(c client, job *batchv1.Job) []core.Request {
	if !ptr.Deref(job.Spec.ManualSelector, false) {
		return nil
	}
	var found []core.Request
	selector := selectorOf(job.Spec.Selector)
	for _, pod := range listCached[corev1.Pod](c, podKind(), job.Namespace) {
		if isTracked(pod) && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, core.Request(request{untracks, pod.Namespace, pod.Name}.String()))
		}
	}
	return found
}

// untrackOrphan takes the finalizer from a Pod whose Job is gone, or has come to its end.
func (j jobs) untrackOrphan(c client, named request) error {
	pod, err := get[corev1.Pod](c, podKind(), named.namespace, named.name)
	if err != nil || pod == nil || !isTracked(pod) {
		return err
	}
	if metav1.GetControllerOf(pod) != nil {
		owner := j.controllerOf(pod)
		if owner == nil {
			return nil
		}
		job, err := get[batchv1.Job](c, j.owner, named.namespace, owner.Name)
		if err != nil || job != nil && job.UID == owner.UID && (isManagedByOthers(job) || !jobFinished(job)) {
			return err
		}
	}
	return untrack(c, pod)
}

// clear lets the Pods go that a Job selects no longer, unless it is being deleted.
func (j jobs) clear(c client, job *batchv1.Job) error {
	if job.DeletionTimestamp != nil {
		return nil
	}
	pods, err := list[corev1.Pod](c, &kube.Request{Kind: podKind(), Namespace: job.Namespace, ControlledBy: string(job.UID)})
	if err != nil {
		return err
	}
	selector := selectorOf(job.Spec.Selector)
	for _, pod := range pods {
		if err := j.leaves(c, job, selector, pod); err != nil {
			return err
		}
	}
	return nil
}

// isManagedByOthers reports whether somebody else looks after a Job.
func isManagedByOthers(job *batchv1.Job) bool {
	return job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != batchv1.JobControllerName
}

func (j jobs) reconcile(c client, named request) error {
	if named.what == untracks {
		return j.untrackOrphan(c, named)
	}
	job, err := get[batchv1.Job](c, j.owner, named.namespace, named.name)
	if err != nil {
		return err
	}
	if job != nil && isManagedByOthers(job) {
		return nil
	}
	if job == nil || jobFinished(job) {
		return j.letGo(c, named, job)
	}
	if job.Spec.ActiveDeadlineSeconds != nil {
		c.leavesOut(jobKind(), job, "spec.activeDeadlineSeconds")
	}
	if err := j.clear(c, job); err != nil {
		return err
	}
	pods, err := j.podsOf(c, job, job.Spec.Selector)
	if err != nil {
		return err
	}
	return newJobSync(c, job, pods).run()
}

// letGo takes the finalizer from the Pods of a Job that is gone, or has come to its end.
func (j jobs) letGo(c client, named request, job *batchv1.Job) error {
	selector := labels.SelectorFromSet(labels.Set{batchv1.JobNameLabel: named.name})
	pods, err := list[corev1.Pod](c, &kube.Request{Kind: podKind(), Namespace: named.namespace, LabelSelector: selector.String()})
	if err != nil {
		return err
	}
	for _, pod := range pods {
		owner := j.controllerOf(pod)
		if owner == nil || owner.Name != named.name || job != nil && owner.UID != job.UID || !isTracked(pod) {
			continue
		}
		if err := untrack(c, pod); err != nil {
			return err
		}
	}
	return nil
}

// isTracked reports whether a Pod has not been counted yet.
func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// untrack says that a Pod has been counted. It may have changed since it was read: it may have been deleted just now.
func untrack(c client, pod *corev1.Pod) error {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return err
	}
	return ignoreNotFound(c.do(&kube.Request{
		Verb: kube.Patch, Kind: podKind(), Namespace: pod.Namespace, Name: pod.Name, PatchType: types.StrategicMergePatchType, Body: text,
	}, nil))
}

// jobFinished reports whether a Job has come to its end.
func jobFinished(job *batchv1.Job) bool {
	return jobCondition(job, batchv1.JobComplete) != nil || jobCondition(job, batchv1.JobFailed) != nil
}

// jobCondition returns a condition that is true, nil if it is not.
func jobCondition(job *batchv1.Job, of batchv1.JobConditionType) *batchv1.JobCondition {
	for i, condition := range job.Status.Conditions {
		if condition.Type == of && condition.Status == corev1.ConditionTrue {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// newCondition returns a condition that is true.
func (s *jobSync) newCondition(of batchv1.JobConditionType, reason, message string) *batchv1.JobCondition {
	return &batchv1.JobCondition{
		Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastProbeTime: s.client.now(), LastTransitionTime: s.client.now(),
	}
}

// setJobCondition sets a condition, and reports whether it was another one. What is false and was never true is not
// said.
func setJobCondition(job *batchv1.Job, condition *batchv1.JobCondition) bool {
	at := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == condition.Type })
	switch {
	case at < 0 && condition.Status == corev1.ConditionFalse:
		return false
	case at < 0:
		job.Status.Conditions = append(job.Status.Conditions, *condition)
	case job.Status.Conditions[at].Status == condition.Status && job.Status.Conditions[at].Reason == condition.Reason:
		return false
	default:
		job.Status.Conditions[at] = *condition
	}
	return true
}

// suspend says whether the Job is suspended. A Job that goes on begins anew.
func (s *jobSync) suspend() {
	if ptr.Deref(s.job.Spec.Suspend, false) {
		if setJobCondition(s.job, s.newCondition(batchv1.JobSuspended, "JobSuspended", "Job suspended")) {
			s.job.Status.StartTime = nil
		}
		return
	}
	resumed := s.newCondition(batchv1.JobSuspended, "JobResumed", "Job resumed")
	resumed.Status = corev1.ConditionFalse
	if setJobCondition(s.job, resumed) {
		s.job.Status.StartTime = ptr.To(s.client.now())
	}
}

// write writes the status, if it is another one than was written last. That a Job begins is written with something
// else: it does not while it is being deleted.
func (s *jobSync) write() error {
	begun := s.written.DeepCopy()
	begun.StartTime = s.job.Status.StartTime
	if equality.Semantic.DeepEqual(begun, &s.job.Status) {
		return nil
	}
	if err := s.client.updateStatus(jobKind(), s.job); err != nil {
		return err
	}
	if s.job.Status.UncountedTerminatedPods == nil {
		s.job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	s.written = s.job.Status.DeepCopy()
	return nil
}

// JobTTL is the controller that deletes Jobs some time after they have come to their end, if they have
// ttlSecondsAfterFinished. Time is abstract: it has passed at any moment from then on. A Job waits for its Pods to be
// deleted first, which is up to the garbage collector.
func JobTTL() Companion {
	return func(server *kube.Server) (core.Strategy, error) {
		s := &strategy{name: "ttl-after-finished", kinds: []schema.GroupVersionKind{jobKind()}, handle: handleExpired, reconcile: removeExpired}
		return s.on(server)
	}
}

func handleExpired(_ client, event core.Event) []core.Request {
	if job := typed[batchv1.Job](event.New); job == nil || !expires(job) {
		return nil
	}
	return []core.Request{on(event.Key.Namespace, event.Key.Name)}
}

// expires reports whether a Job is to be deleted.
func expires(job *batchv1.Job) bool {
	return job.DeletionTimestamp == nil && job.Spec.TTLSecondsAfterFinished != nil && jobFinished(job)
}

func removeExpired(c client, named request) error {
	job, err := get[batchv1.Job](c, jobKind(), named.namespace, named.name)
	if err != nil || job == nil || !expires(job) {
		return err
	}
	return ignoreNotFound(c.do(&kube.Request{
		Verb: kube.Delete, Kind: jobKind(), Namespace: job.Namespace, Name: job.Name, PreconditionUID: string(job.UID),
		Propagation: string(metav1.DeletePropagationForeground),
	}, nil))
}

// isIndexed reports whether the Pods of a Job have indexes.
func isIndexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

// waitsForEnd reports whether a Pod is replaced only when it has failed, and not already when it is being deleted.
func waitsForEnd(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

// hasFailed reports whether a Pod counts as failed.
func hasFailed(job *batchv1.Job, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return !waitsForEnd(job) && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}

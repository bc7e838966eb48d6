package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

func jobs(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := job.NewController(ctx, client, factory.Core().V1().Pods(), factory.Batch().V1().Jobs(), nil, nil)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

// failurePolicy is a random one for the failures of Pods.
func failurePolicy(random *rand.Rand, byIndex bool) *batchv1.PodFailurePolicy {
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount}
	if byIndex {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	policy := &batchv1.PodFailurePolicy{}
	for range 1 + random.IntN(2) {
		rule := batchv1.PodFailurePolicyRule{Action: pick(random, actions...)}
		if random.IntN(3) == 0 {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		} else {
			rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: pick(random, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn), Values: []int32{1 + random.Int32N(3)},
			}
			if random.IntN(3) == 0 {
				rule.OnExitCodes.ContainerName = ptr.To("c")
			}
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}

// successPolicy is a random one for Jobs with indexes.
func successPolicy(random *rand.Rand, completions int32) *batchv1.SuccessPolicy {
	rule := batchv1.SuccessPolicyRule{}
	if random.IntN(3) > 0 {
		rule.SucceededIndexes = ptr.To(fmt.Sprint(random.Int32N(completions)))
	}
	if rule.SucceededIndexes == nil || random.IntN(3) == 0 {
		rule.SucceededCount = ptr.To[int32](1)
	}
	return &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule}}
}

// randomJob is a random one with a template.
func randomJob(random *rand.Rand, of corev1.PodTemplateSpec) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{
		Parallelism: ptr.To(random.Int32N(4)), Template: of, BackoffLimit: ptr.To(random.Int32N(3)), Suspend: ptr.To(random.IntN(5) == 0),
	}}
	never := of.Spec.RestartPolicy == corev1.RestartPolicyNever
	if random.IntN(4) > 0 {
		j.Spec.Completions = ptr.To(random.Int32N(4))
	}
	if random.IntN(4) == 0 {
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	if random.IntN(6) == 0 {
		j.Spec.ManualSelector, j.Spec.Selector = ptr.To(true), selector()
	}
	if j.Spec.Completions != nil && random.IntN(2) == 0 {
		j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		if random.IntN(3) == 0 {
			j.Spec.Parallelism = ptr.To(*j.Spec.Completions) // so that both may be changed together
		}
		switch kind := random.IntN(3); {
		case kind == 0 && never:
			j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To(random.Int32N(2)), nil
			if random.IntN(2) == 0 {
				j.Spec.MaxFailedIndexes = ptr.To(random.Int32N(*j.Spec.Completions + 1))
			}
		case kind == 1:
			j.Spec.Completions = ptr.To(1 + random.Int32N(3))
			j.Spec.SuccessPolicy = successPolicy(random, *j.Spec.Completions)
		}
	}
	if never && random.IntN(3) == 0 {
		j.Spec.PodFailurePolicy = failurePolicy(random, j.Spec.BackoffLimitPerIndex != nil)
	}
	return j
}

// restart reports that the container of a Pod was started again a number of times.
func restart(times int32) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", Image: "i", ImageID: "i", RestartCount: times, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(946684800, 0)}},
		}}
		setPhase(corev1.PodRunning, true)(w, pod)
	}
}

// disrupt reports that a Pod has failed because it was disrupted.
func disrupt(w *world, pod *corev1.Pod) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet", LastTransitionTime: metav1.Unix(946684800, 0),
	})
	setPhase(corev1.PodFailed, false)(w, pod)
}

func TestJobs(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := batchv1.SchemeGroupVersion.WithKind("Job")
		// All Pods are made alike: which of two that are as good as each other is deleted, is up to the times at which
		// they were made, on the real side.
		of := template("i:1")
		of.Spec.RestartPolicy = pick(random, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
		if random.IntN(10) == 0 {
			of.Finalizers = []string{"example.com/f"}
		}
		// The real controller takes the Pods in the order of a map, and races with itself for the finalizer of a Pod
		// that it is to adopt.
		compareAny(t, scenario(random, creation(kind, randomJob(random, of)), func() step {
			number := random.IntN(8)
			switch random.IntN(26) {
			case 0, 1:
				return patching(kind, "j", fmt.Sprintf(`{"spec":{"parallelism":%d}}`, random.IntN(4)))
			case 2, 3:
				return patching(kind, "j", fmt.Sprintf(`{"spec":{"suspend":%t}}`, random.IntN(2) == 0))
			case 4, 5, 6, 7:
				return onPod("exit", number, exit(1+random.Int32N(3)))
			case 8:
				both := random.IntN(4)
				return patching(kind, "j", fmt.Sprintf(`{"spec":{"parallelism":%d,"completions":%d}}`, both, both))
			case 9:
				return onPod("disrupt", number, disrupt)
			case 10, 11:
				return onPod("restart", number, restart(1+random.Int32N(2)))
			case 12:
				return onPod("let go of", number, patch(`{"metadata":{"ownerReferences":null}}`))
			case 13:
				return onPod("relabel", number, label(pick(random, "a", "b")))
			case 14:
				return orphan(metav1.ObjectMeta{GenerateName: "j-"}, of)
			case 15:
				return onPod("release", number, letEnd)
			case 16:
				return deletion(kind, "j")
			case 17:
				return addition(kind, randomJob(random, of))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.Jobs()}, jobs)
	})
}

// TestSuspendedJobFails compares what comes of a Job that fails by its policy while it is suspended: the server does
// not let it come to its end without a time at which it began, which it has again when it goes on.
func TestSuspendedJobFails(t *testing.T) {
	kind := batchv1.SchemeGroupVersion.WithKind("Job")
	suspended := func(is bool) step { return patching(kind, "j", fmt.Sprintf(`{"spec":{"suspend":%t}}`, is)) }
	for _, first := range []bool{true, false} {
		for _, finalizer := range []bool{true, false} {
			of := template("i:1")
			of.Spec.RestartPolicy = corev1.RestartPolicyNever
			if finalizer {
				of.Finalizers = []string{"example.com/f"}
			}
			j := &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{
				Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](2), Template: of, Suspend: ptr.To(false), BackoffLimit: ptr.To[int32](3),
				PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
					Action:      batchv1.PodFailurePolicyActionFailJob,
					OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1}},
				}}},
			}}
			suspension := []step{suspended(true), onPod("exit", 0, exit(1))}
			if !first {
				suspension = []step{together(suspension...)}
			}
			steps := append([]step{creation(kind, j), together(onPod("bind", 0, bind), onPod("bind", 1, bind)), onPod("run", 0, setPhase(corev1.PodRunning, true))}, suspension...)
			steps = append(steps, onPod("run", 1, setPhase(corev1.PodRunning, false)), onPod("end", 1, remove(ptr.To[int64](0))), onPod("release", 0, letEnd), onPod("release", 0, letEnd),
				patching(kind, "j", `{"spec":{"parallelism":1}}`), suspended(false))
			compareAny(t, steps, []companions.Companion{companions.Jobs()}, jobs)
		}
	}
}

// TestJobLosesPodAtItsEnd compares what comes of a Pod that is being deleted and loses its label when its Job waits for
// nothing else: it leaves the Job first.
func TestJobLosesPodAtItsEnd(t *testing.T) {
	of := template("i:1")
	of.Spec.RestartPolicy = corev1.RestartPolicyNever
	of.Finalizers = []string{"example.com/f"}
	j := &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{
		Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](2), Template: of, BackoffLimit: ptr.To[int32](0), ManualSelector: ptr.To(true), Selector: selector(),
	}}
	steps := []step{creation(batchv1.SchemeGroupVersion.WithKind("Job"), j), onPod("exit", 0, exit(1))}
	for number := range 2 {
		steps = append(steps, onPod("relabel", number, label("b")))
	}
	compareAny(t, steps, []companions.Companion{companions.Jobs()}, jobs)
}

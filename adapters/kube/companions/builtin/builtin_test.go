package builtin

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/go-logr/logr"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

var (
	scenarios = flag.Int("scenarios", 40, "random scenarios for each companion")
	seed      = flag.Uint64("seed", 1, "seed of the first scenario")
)

// TestMain leaves out what the real controllers log. Their handlers of errors wait for a time that is in no bubble.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// random runs a test for each of the random scenarios.
func random(t *testing.T, run func(*testing.T, *rand.Rand)) {
	for n := range *scenarios {
		t.Run(fmt.Sprint(*seed+uint64(n)), func(t *testing.T) { run(t, rand.New(rand.NewPCG(*seed+uint64(n), 0))) })
	}
}

// scenario has a step to begin with, and a number of random ones after it, some of them together.
func scenario(random *rand.Rand, first step, next func() step) []step {
	steps := []step{first}
	for range 4 + random.IntN(12) {
		s := next()
		if random.IntN(4) == 0 {
			s = together(s, next())
		}
		steps = append(steps, s)
	}
	return steps
}

func replicaSets(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := replicaset.NewReplicaSetController(ctx, factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client, replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func statefulSets(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := statefulset.NewStatefulSetController(ctx, factory.Core().V1().Pods(), factory.Apps().V1().StatefulSets(),
		factory.Core().V1().PersistentVolumeClaims(), factory.Apps().V1().ControllerRevisions(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func jobs(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := job.NewController(ctx, client, factory.Core().V1().Pods(), factory.Batch().V1().Jobs(), nil, nil)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

func deployments(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := deployment.NewDeploymentController(ctx, factory.Apps().V1().Deployments(), factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

func TestReplicaSets(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := appsKind("ReplicaSet")
		first := creation(kind, &appsv1.ReplicaSet{ObjectMeta: named("r"), Spec: appsv1.ReplicaSetSpec{
			Replicas: ptr.To(random.Int32N(4)), Selector: selector(), Template: template("i:1"),
		}})
		orphan := template("i:1")
		compare(t, scenario(random, first, func() step {
			switch random.IntN(10) {
			case 0, 1:
				return patching(kind, "r", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(5)))
			case 2:
				return onPod("relabel", random.IntN(8), label([]string{"a", "b"}[random.IntN(2)]))
			case 3:
				return creation(podKind(), &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "r-", Labels: orphan.Labels}, Spec: orphan.Spec,
				})
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.ReplicaSets()}, replicaSets)
	})
}

func TestStatefulSets(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := appsKind("StatefulSet")
		set := &appsv1.StatefulSet{ObjectMeta: named("s"), Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(random.Int32N(4)), Selector: selector(), Template: template("i:1"), ServiceName: "s",
			RevisionHistoryLimit: ptr.To(random.Int32N(3)),
		}}
		if random.IntN(2) == 0 {
			set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		}
		switch random.IntN(4) {
		case 0:
			set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		case 1:
			set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To(random.Int32N(3))}
		}
		if random.IntN(4) == 0 {
			set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: random.Int32N(3)}
		}
		compare(t, scenario(random, creation(kind, set), func() step {
			switch random.IntN(12) {
			case 0, 1:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(5)))
			case 2, 3:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:%d"}]}}}}`, random.IntN(4)))
			case 4:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":%d}}}}`, random.IntN(4)))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.StatefulSets()}, statefulSets)
	})
}

func TestJobs(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := batchv1.SchemeGroupVersion.WithKind("Job")
		j := &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{
			Parallelism: ptr.To(random.Int32N(4)), Template: template("i:1"), BackoffLimit: ptr.To(random.Int32N(3)), Suspend: ptr.To(random.IntN(5) == 0),
		}}
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		if random.IntN(4) > 0 {
			j.Spec.Completions = ptr.To(random.Int32N(4))
		}
		if random.IntN(4) == 0 {
			j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		}
		if j.Spec.Completions != nil && random.IntN(2) == 0 {
			j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
			switch random.IntN(3) {
			case 0:
				j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To(random.Int32N(2)), nil
				if random.IntN(2) == 0 {
					j.Spec.MaxFailedIndexes = ptr.To(random.Int32N(*j.Spec.Completions + 1))
				}
			case 1:
				j.Spec.Completions = ptr.To(1 + random.Int32N(3))
				j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
			}
		}
		if random.IntN(4) == 0 {
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{3}}},
				{Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{2}}},
			}}
		}
		compare(t, scenario(random, creation(kind, j), func() step {
			switch random.IntN(10) {
			case 0:
				return patching(kind, "j", fmt.Sprintf(`{"spec":{"parallelism":%d}}`, random.IntN(4)))
			case 1:
				return patching(kind, "j", fmt.Sprintf(`{"spec":{"suspend":%t}}`, random.IntN(2) == 0))
			case 2, 3:
				return onPod("exit", random.IntN(8), exit(1+random.Int32N(3)))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.Jobs()}, jobs)
	})
}

func TestDeployments(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := appsKind("Deployment")
		d := &appsv1.Deployment{ObjectMeta: named("d"), Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(random.Int32N(5)), Selector: selector(), Template: template("i:1"), RevisionHistoryLimit: ptr.To(random.Int32N(3)),
			ProgressDeadlineSeconds: ptr.To[int32](1_000_000_000), // companions know none
		}}
		if random.IntN(3) == 0 {
			d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		} else {
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{
				MaxSurge: ptr.To(intstr.FromInt32(random.Int32N(3))), MaxUnavailable: ptr.To(intstr.FromInt32(1 + random.Int32N(2))),
			}
		}
		compare(t, scenario(random, creation(kind, d), func() step {
			switch random.IntN(12) {
			case 0, 1:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(6)))
			case 2, 3:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:%d"}]}}}}`, random.IntN(4)))
			case 4:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"paused":%t}}`, random.IntN(2) == 0))
			case 5:
				return patching(kind, "d", fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, random.IntN(3)))
			}
			return podSteps(random, false)
		}), []companions.Companion{companions.Deployments(), companions.ReplicaSets()}, deployments, replicaSets)
	})
}

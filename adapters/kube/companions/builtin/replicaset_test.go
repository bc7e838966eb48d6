package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

func replicaSets(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := replicaset.NewReplicaSetController(ctx, factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client, replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// orphan is the step of creating a Pod that somebody may adopt.
func orphan(meta metav1.ObjectMeta, of corev1.PodTemplateSpec) step {
	meta.Namespace, meta.Labels, meta.Finalizers = "default", of.Labels, of.Finalizers
	return addition(podKind(), &corev1.Pod{ObjectMeta: meta, Spec: of.Spec})
}

func TestReplicaSets(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := appsKind("ReplicaSet")
		// Pods that are as good as each other are alike: which of them is deleted, is up to the times at which they
		// were made, on the real side.
		expressions, finalizers := random.IntN(4) == 0, random.IntN(4) == 0
		of := template("i:1")
		if finalizers {
			of.Finalizers = []string{"example.com/f"}
		}
		set := func(replicas int32) *appsv1.ReplicaSet {
			s := &appsv1.ReplicaSet{ObjectMeta: named("r"), Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To(replicas), Selector: selector(), Template: of,
			}}
			if expressions {
				s.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "c"}}}}
			}
			return s
		}
		compare(t, scenario(random, creation(kind, set(random.Int32N(4))), func() step {
			number := random.IntN(8)
			switch random.IntN(20) {
			case 0, 1, 2, 3:
				return patching(kind, "r", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(6)))
			case 4, 5:
				return onPod("relabel", number, label(pick(random, "a", "b")))
			case 6:
				return orphan(metav1.ObjectMeta{GenerateName: "r-"}, of)
			case 7:
				return onPod("let go of", number, patch(`{"metadata":{"ownerReferences":null}}`))
			case 8:
				return onPod("price", number, patch(fmt.Sprintf(`{"metadata":{"annotations":{"%s":"%d"}}}`, corev1.PodDeletionCost, pick(random, -1, 1))))
			case 10:
				return onPod("release", number, letEnd)
			case 11:
				return deletion(kind, "r")
			case 12:
				return addition(kind, set(random.Int32N(4)))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.ReplicaSets()}, replicaSets)
	})
}

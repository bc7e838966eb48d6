package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

func statefulSets(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := statefulset.NewStatefulSetController(ctx, factory.Core().V1().Pods(), factory.Apps().V1().StatefulSets(),
		factory.Core().V1().PersistentVolumeClaims(), factory.Apps().V1().ControllerRevisions(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// collectClaims is the step of deleting all claims whose owners are gone, as the garbage collector does.
func collectClaims() step {
	return step{name: "collect claims", do: func(w *world) {
		there := map[types.UID]bool{}
		for _, kind := range []core.Kind{"Pod", "StatefulSet.apps"} {
			for _, o := range w.List(kind, "") {
				there[metaOf(o).GetUID()] = true
			}
		}
		for _, o := range inOrder(w, "PersistentVolumeClaim") {
			owners := metaOf(o).GetOwnerReferences()
			if len(owners) > 0 && !slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return there[owner.UID] }) {
				deleteClaim(w, o.Key.Name)
			}
		}
	}}
}

// deleteClaim deletes a claim unless a Pod uses it: a cluster would wait for that.
func deleteClaim(w *world, name string) {
	for _, pod := range podsOf(w) {
		for _, volume := range pod.Spec.Volumes {
			if of := volume.PersistentVolumeClaim; of != nil && of.ClaimName == name {
				return
			}
		}
	}
	deletion(claimKind(), name).do(w)
}

func metaOf(o core.Object) metav1.Object {
	object, err := shown(o.Content)
	if err != nil {
		panic(err)
	}
	return object.(metav1.Object)
}

// retention is a random policy for claims.
func retention(random *rand.Rand) *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	policies := []appsv1.PersistentVolumeClaimRetentionPolicyType{
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	return &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: pick(random, policies...), WhenScaled: pick(random, policies...)}
}

// statefulSet is a random one.
func statefulSet(random *rand.Rand) *appsv1.StatefulSet {
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
	if random.IntN(2) == 0 {
		for _, name := range []string{"data", "log"}[:1+random.IntN(2)] {
			set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"l": "v"}},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			})
		}
		if random.IntN(3) > 0 {
			set.Spec.PersistentVolumeClaimRetentionPolicy = retention(random)
		}
	}
	return set
}

func TestStatefulSets(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		kind := appsKind("StatefulSet")
		compare(t, scenario(random, creation(kind, statefulSet(random)), func() step {
			number := random.IntN(8)
			switch random.IntN(30) {
			case 0, 1, 2, 3:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"replicas":%d}}`, random.IntN(5)))
			case 4, 5, 6:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:%d"}]}}}}`, random.IntN(4)))
			case 7, 8:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":%d}}}}`, random.IntN(4)))
			case 9:
				return patching(kind, "s", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`)
			case 10:
				policy := retention(random)
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"%s","whenScaled":"%s"}}}`, policy.WhenDeleted, policy.WhenScaled))
			case 11:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"ordinals":{"start":%d}}}`, random.IntN(3)))
			case 12:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"revisionHistoryLimit":%d}}`, random.IntN(3)))
			case 13, 14:
				// The real controller that waits for a claim to go does not notice that it is gone.
				return together(collectClaims(), patching(kind, "s", fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, random.Uint64())))
			case 15:
				return onPod("relabel", number, label(pick(random, "a", "b")))
			case 16:
				return onPod("let go of", number, patch(`{"metadata":{"ownerReferences":null}}`))
			case 17:
				return orphan(metav1.ObjectMeta{Name: fmt.Sprint("s-", random.IntN(4))}, template("i:1"))
			case 18:
				return deletion(kind, "s")
			case 19:
				return addition(kind, statefulSet(random))
			case 20:
				name := fmt.Sprint("data-s-", random.IntN(4))
				return together(
					step{name: "delete claim " + name, do: func(w *world) { deleteClaim(w, name) }},
					patching(kind, "s", fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, random.Uint64())),
				)
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.StatefulSets()}, statefulSets)
	})
}

package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/core"
)

func claimProtection(_ context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := pvcprotection.NewPVCProtectionController(klog.Background(), factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().Pods(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

func volumeProtection(_ context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := pvprotection.NewPVProtectionController(klog.Background(), factory.Core().V1().PersistentVolumes(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func standInProtection(server *kube.Server) (core.Strategy, error) {
	return players.VolumeProtector(server)
}

func volumeKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind("PersistentVolume")
}

// wanted is what a claim asks for.
func wanted() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

// mounting is a Pod with random volumes: claims by their names, and ephemeral ones.
func mounting(random *rand.Rand) *corev1.Pod {
	of := template("i")
	pod := &corev1.Pod{ObjectMeta: named(fmt.Sprint("p", random.IntN(3))), Spec: of.Spec}
	pod.Labels = of.Labels
	if random.IntN(3) == 0 {
		pod.Finalizers = []string{"example.com/f"}
	}
	for n := range random.IntN(3) {
		volume := corev1.Volume{Name: fmt.Sprint("v", n)}
		if random.IntN(3) == 0 {
			volume.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: wanted()}}
		} else {
			volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("c", random.IntN(3))}
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
	}
	return pod
}

// makeClaims makes the claims of the ephemeral volumes of a Pod. Some belong to somebody else.
func makeClaims(own bool) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		for _, volume := range pod.Spec.Volumes {
			if volume.Ephemeral == nil {
				continue
			}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: named(pod.Name + "-" + volume.Name), Spec: wanted()}
			if own {
				claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, podKind())}
			}
			addition(claimKind(), claim).do(w)
		}
	}
}

// started reports that the container of a Pod runs or waits.
func started(runs bool) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "r"}}
		if runs {
			state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", ImageID: "i", State: state}}
		setPhase(corev1.PodRunning, runs)(w, pod)
	}
}

func TestVolumeProtection(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		claim := func() step {
			return addition(claimKind(), &corev1.PersistentVolumeClaim{ObjectMeta: named(fmt.Sprint("c", random.IntN(3))), Spec: wanted()})
		}
		volume := func() step {
			text := encode(volumeKind(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("v", random.IntN(2))}, Spec: corev1.PersistentVolumeSpec{
				AccessModes: wanted().AccessModes, Capacity: wanted().Resources.Requests,
				PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}},
			}})
			return step{name: "add " + string(text), do: func(w *world) { w.Do(&kube.Request{Verb: kube.Create, Kind: volumeKind(), Body: text}) }}
		}
		changed := func(kind schema.GroupVersionKind, subresource string, number int, patch string) step {
			return step{name: fmt.Sprint("patch ", kind.Kind, " ", number, " ", subresource, " ", patch), do: func(w *world) {
				all := inOrder(w, core.Kind(kind.Kind))
				if len(all) == 0 {
					return
				}
				key := all[number%len(all)].Key
				w.Do(&kube.Request{
					Verb: kube.Patch, Kind: kind, Subresource: subresource, Namespace: key.Namespace, Name: key.Name, PatchType: types.MergePatchType, Body: []byte(patch),
				})
			}}
		}
		first := together(claim(), claim(), volume(), addition(podKind(), mounting(random)), addition(podKind(), mounting(random)))
		compareOn(t, []kube.Option{kube.VolumeProtection()}, scenario(random, first, func() step {
			number := random.IntN(8)
			switch random.IntN(28) {
			case 0, 1:
				return claim()
			case 2, 3, 4, 5:
				return removal(claimKind(), number)
			case 6:
				return changed(claimKind(), "", number, `{"metadata":{"finalizers":null}}`)
			case 7:
				return changed(claimKind(), "", number, fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}}}`, number))
			case 8:
				return volume()
			case 9, 10:
				return numbered("delete", volumeKind(), number, func(name string) step {
					return step{do: func(w *world) { w.Do(&kube.Request{Verb: kube.Delete, Kind: volumeKind(), Name: name}) }}
				})
			case 11, 12, 13:
				return changed(volumeKind(), "status", number, fmt.Sprintf(`{"status":{"phase":"%s"}}`, pick(random, "Available", "Bound", "Bound", "Released")))
			case 14:
				return changed(volumeKind(), "", number, `{"metadata":{"finalizers":null}}`)
			case 15, 16:
				return onPod("make claims for", number, makeClaims(random.IntN(4) > 0))
			case 17, 18:
				return addition(podKind(), mounting(random))
			case 19:
				return onPod("let end", number, letEnd)
			case 20, 21:
				return onPod("start", number, started(random.IntN(3) > 0))
			case 22:
				return onPod("force", number, func(w *world, pod *corev1.Pod) {
					w.Do(&kube.Request{Verb: kube.Delete, Kind: podKind(), Namespace: pod.Namespace, Name: pod.Name, GracePeriodSeconds: new(int64)})
				})
			}
			return podSteps(random, true)
		}), []companions.Companion{standInProtection}, claimProtection, volumeProtection)
	})
}

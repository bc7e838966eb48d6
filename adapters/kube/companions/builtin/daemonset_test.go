package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
)

func daemonSets(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c, err := daemon.NewDaemonSetsController(ctx, factory.Apps().V1().DaemonSets(), factory.Apps().V1().ControllerRevisions(), factory.Core().V1().Pods(),
		factory.Core().V1().Nodes(), client, flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	return func(ctx context.Context) { c.Run(ctx, 1) }, err
}

// onNodes is the step of doing something to a Node, by its number among all.
func onNodes(what string, number int, do func(name string) step) step {
	return step{name: fmt.Sprintf("%s Node %d", what, number), do: func(w *world) {
		if all := inOrder(w, "Node"); len(all) > 0 {
			do(all[number%len(all)].Key.Name).do(w)
		}
	}}
}

func TestDaemonSets(t *testing.T) {
	kind, nodeKind := appsKind("DaemonSet"), corev1.SchemeGroupVersion.WithKind("Node")
	requirement := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	taints := []string{
		`[]`, `[]`, `[{"key":"k","value":"v","effect":"NoSchedule"}]`, `[{"key":"k","value":"v","effect":"NoExecute"}]`,
		`[{"key":"k","value":"w","effect":"NoSchedule"}]`, `[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]`,
	}
	random(t, func(t *testing.T, random *rand.Rand) {
		made := func() *appsv1.DaemonSet {
			set := &appsv1.DaemonSet{ObjectMeta: named("d"), Spec: appsv1.DaemonSetSpec{
				Selector: selector(), Template: template("i:1"), RevisionHistoryLimit: ptr.To(random.Int32N(3)),
			}}
			spec := &set.Spec.Template.Spec
			switch random.IntN(5) {
			case 0:
				set.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
			case 1:
				set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
					MaxSurge: ptr.To(intstr.FromInt32(1 + random.Int32N(2))), MaxUnavailable: ptr.To(intstr.FromInt32(0)),
				}
			case 2, 3:
				set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
					MaxUnavailable: []*intstr.IntOrString{ptr.To(intstr.FromInt32(1 + random.Int32N(2))), ptr.To(intstr.FromString("50%"))}[random.IntN(2)],
				}
			}
			switch random.IntN(6) {
			case 0:
				spec.NodeSelector = map[string]string{"l": "0"}
			case 1:
				spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{
						{MatchExpressions: []corev1.NodeSelectorRequirement{requirement("l", corev1.NodeSelectorOpNotIn, "1")}},
						{MatchExpressions: []corev1.NodeSelectorRequirement{requirement("m", corev1.NodeSelectorOpExists), requirement("l", corev1.NodeSelectorOpGt, "0")}},
					},
				}}}
			}
			switch random.IntN(4) {
			case 0:
				spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
			case 1:
				spec.Tolerations = []corev1.Toleration{{Key: "k", Value: "v"}, {Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](5)}}
			}
			return set
		}
		node := func(name string) step {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"l": fmt.Sprint(random.IntN(2))}}}
			if random.IntN(3) == 0 {
				n.Labels["m"] = ""
			}
			// The server gives a new Node the taint of one that is not ready.
			if random.IntN(5) == 0 {
				return addition(nodeKind, n)
			}
			return together(addition(nodeKind, n), patching(nodeKind, name, `{"spec":{"taints":[]}}`))
		}
		orphan := template("i:1")
		first := together(creation(kind, made()), node("node-a"), node("node-b"), node("node-c"))
		compareAny(t, scenario(random, first, func() step {
			number := random.IntN(8)
			switch random.IntN(29) {
			case 0, 1, 2:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:%d"}]}}}}`, random.IntN(4)))
			case 3:
				return onNodes("label", number, func(name string) step {
					return patching(nodeKind, name, fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}}}`, number%2))
				})
			case 4, 5:
				taint := taints[random.IntN(len(taints))]
				return onNodes("taint "+taint, number, func(name string) step { return patching(nodeKind, name, `{"spec":{"taints":`+taint+`}}`) })
			case 6:
				return onNodes("delete", number, func(name string) step { return deletion(nodeKind, name) })
			case 7:
				return node([]string{"node-a", "node-b", "node-c", "node-d"}[random.IntN(4)])
			case 8:
				return onPod("relabel", number, label([]string{"a", "b"}[random.IntN(2)]))
			case 9:
				return creation(podKind(), &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "d-", Labels: orphan.Labels}, Spec: orphan.Spec,
				})
			case 10:
				return onPod("let go of", number, patch(`{"metadata":{"ownerReferences":null}}`))
			case 11:
				return deletion(kind, "d")
			case 12:
				// The real controller takes Pods of a former DaemonSet for updated if the templates of both were
				// changed as often.
				again := made()
				again.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "1000"}
				return addition(kind, again)
			case 13:
				return patching(kind, "d", pick(random, `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`,
					`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2,"maxSurge":0}}}}`,
					`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0,"maxSurge":"50%"}}}}`))
			case 14:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":%s}}}}`, pick(random, "null", `{"l":"0"}`, `{"l":"1"}`)))
			case 15:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"spec":{"tolerations":%s}}}}`, pick(random, "null", `[{"key":"k","operator":"Exists"}]`, `[{"operator":"Exists"}]`)))
			case 16:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"revisionHistoryLimit":%d}}`, random.IntN(3)))
			case 17:
				return patching(kind, "d", fmt.Sprintf(`{"spec":{"template":{"metadata":{"labels":{"v":"%d"}}}}}`, random.IntN(2)))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.DaemonSets()}, daemonSets)
	})
}

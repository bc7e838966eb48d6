package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/podgc"
	nodeutil "k8s.io/kubernetes/pkg/controller/util/node"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

func podCollector(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := podgc.NewPodGC(ctx, client, factory.Core().V1().Pods(), factory.Core().V1().Nodes(), 0)
	return func(ctx context.Context) { c.Run(ctx) }, nil
}

// nodeLost is the step of losing a Node: on the real side, the controller that watches over Nodes says that its Pods
// are not ready, and somebody deletes it.
func nodeLost(name string) step {
	nodeKind := corev1.SchemeGroupVersion.WithKind("Node")
	return step{
		name: "lose Node " + name,
		do: func(w *world) {
			c, err := w.clientset(0)
			if err != nil {
				panic(err)
			}
			if err := nodeutil.MarkPodsNotReady(context.Background(), c, &record.FakeRecorder{}, podsOf(w), name); err != nil {
				panic(err)
			}
			deletion(nodeKind, name).do(w)
		},
		instead: func(w *world) {
			c, err := w.clientset(0)
			if err != nil {
				panic(err)
			}
			of := c.(clientset)
			whole, err := client.New(of.config, client.Options{Scheme: scheme.Scheme, Mapper: of.mapper})
			if err != nil {
				panic(err)
			}
			_ = companions.NodeLost(name).Do(context.Background(), whole) // there may be no such Node
		},
	}
}

func TestNodeLost(t *testing.T) {
	nodeKind := corev1.SchemeGroupVersion.WithKind("Node")
	random(t, func(t *testing.T, random *rand.Rand) {
		node := func() string { return fmt.Sprint("n", random.IntN(2)) }
		// A Pod is there only with its Node.
		pod := func() step {
			of := template("i")
			pod := &corev1.Pod{ObjectMeta: named(fmt.Sprint("p", random.IntN(6))), Spec: of.Spec}
			pod.Spec.NodeName = node()
			pod.Spec.ReadinessGates = [][]corev1.PodReadinessGate{nil, {{ConditionType: "example.com/gate"}}}[random.IntN(2)]
			if random.IntN(4) > 0 {
				pod.Finalizers = []string{"example.com/f"} // what is gone at once says nothing
			}
			add := addition(podKind(), pod)
			return step{name: add.name, do: func(w *world) {
				if w.objects[core.Key{Kind: "Node", Name: pod.Spec.NodeName}] != nil {
					add.do(w)
				}
			}}
		}
		// reported says a condition of a Pod, with a reason.
		reported := func(of corev1.PodConditionType, status corev1.ConditionStatus) func(*world, *corev1.Pod) {
			return func(w *world, pod *corev1.Pod) {
				condition := corev1.PodCondition{Type: of, Status: status, Reason: "R", Message: "M"}
				replaced := false
				for i := range pod.Status.Conditions {
					if pod.Status.Conditions[i].Type == of {
						pod.Status.Conditions[i], replaced = condition, true
					}
				}
				if !replaced {
					pod.Status.Conditions = append(pod.Status.Conditions, condition)
				}
				updateStatus(w, pod)
			}
		}
		there := func() step { return addition(nodeKind, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node()}}) }
		steps := []step{together(there(), there(), pod(), pod(), pod(), pod())}
		for range 6 + random.IntN(12) {
			number := random.IntN(8)
			steps = append(steps, []func() step{
				there, there, pod, pod, pod,
				func() step { return nodeLost(node()) }, func() step { return nodeLost(node()) },
				func() step { return onPod("run", number, setPhase(corev1.PodRunning, true)) },
				func() step { return onPod("unready", number, setPhase(corev1.PodRunning, false)) },
				func() step { return onPod("fail", number, setPhase(corev1.PodFailed, false)) },
				func() step { return onPod("succeed", number, setPhase(corev1.PodSucceeded, false)) },
				func() step { return onPod("delete", number, remove(nil)) },
				func() step { return onPod("let end", number, letEnd) },
				func() step { return onPod("report ready", number, reported(corev1.PodReady, corev1.ConditionTrue)) },
				func() step {
					return onPod("report not ready", number, reported(corev1.PodReady, corev1.ConditionFalse))
				},
				func() step {
					return onPod("report disrupted", number, reported(corev1.DisruptionTarget, corev1.ConditionTrue))
				},
			}[random.IntN(16)]())
		}
		compare(t, steps, nil, podCollector)
	})
}

package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

func endpointSlices(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	const most = 100
	c := endpointslice.NewController(ctx, factory.Core().V1().Pods(), factory.Core().V1().Services(), factory.Core().V1().Nodes(),
		factory.Discovery().V1().EndpointSlices(), most, client, 0)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func endpoints(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	c := endpoint.NewEndpointController(ctx, factory.Core().V1().Pods(), factory.Core().V1().Services(), factory.Core().V1().Endpoints(), client, 0)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// service is one with random ports.
func service(random *rand.Rand) *corev1.Service {
	s := &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "a"}, PublishNotReadyAddresses: random.IntN(4) == 0,
	}}
	if random.IntN(2) == 0 {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	if s.Spec.ClusterIP == "" || random.IntN(2) == 0 {
		s.Spec.Ports = []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromString("web")}}
		switch random.IntN(3) {
		case 0:
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "metrics", Port: 81, TargetPort: intstr.FromInt32(9000)})
		case 1:
			s.Spec.Ports[0].AppProtocol = ptr.To("http")
		}
	}
	return s
}

// server is a Pod that a Service may select, with a random port.
func server(random *rand.Rand) *corev1.Pod {
	of := template("i:1")
	pod := &corev1.Pod{ObjectMeta: named(fmt.Sprintf("p%d", random.IntN(5))), Spec: of.Spec}
	pod.Labels = map[string]string{"app": []string{"a", "a", "b"}[random.IntN(3)]}
	if random.IntN(4) > 0 {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080 + random.Int32N(2)}}
	}
	if random.IntN(3) == 0 {
		pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, []string{"s", "t"}[random.IntN(2)]
	}
	return pod
}

// serve gives a Pod a node and addresses, and says whether it is ready.
func serve(node string, addresses []corev1.PodIP, ready bool) func(*world, *corev1.Pod) {
	return func(w *world, pod *corev1.Pod) {
		if pod.Spec.NodeName == "" {
			bindTo(node)(w, pod)
		}
		pod.ResourceVersion, pod.Status.PodIPs = "", addresses
		pod.Status.PodIP = ""
		if len(addresses) > 0 {
			pod.Status.PodIP = addresses[0].IP
		}
		setPhase(corev1.PodRunning, ready)(w, pod)
	}
}

// onSlice is the step of doing something to a slice, by its number among all.
func onSlice(what string, number int, do func(name string) step) step {
	return step{name: fmt.Sprintf("%s EndpointSlice %d", what, number), do: func(w *world) {
		if all := inOrder(w, "EndpointSlice.discovery.k8s.io"); len(all) > 0 {
			do(all[number%len(all)].Key.Name).do(w)
		}
	}}
}

// deleteOwned deletes a slice of the Service that is there. Whether the real controller notices that one from before is
// gone, which it has taken over because it is empty, depends on what it remembers: on whether it has seen that there
// was no Service in between.
func deleteOwned(w *world, kind schema.GroupVersionKind, name string) {
	object, err := shown(w.objects[core.Key{Kind: kube.KindOf(kind.GroupKind()), Namespace: "default", Name: name}])
	if err != nil {
		panic(err)
	}
	owner := w.objects[core.Key{Kind: "Service", Namespace: "default", Name: "s"}]
	if owner == nil {
		return
	}
	service, err := shown(owner)
	if err != nil {
		panic(err)
	}
	if metav1.IsControlledBy(object.(metav1.Object), service.(metav1.Object)) {
		deletion(kind, name).do(w)
	}
}

func TestServices(t *testing.T) {
	kind, endpointsKind := corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Endpoints")
	sliceKind, nodeKind := discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"), corev1.SchemeGroupVersion.WithKind("Node")
	// A real controller looks for a Node again and again, and in the end no more. So it has to look at the Service when
	// one is there.
	touch := func(random *rand.Rand) step {
		return patching(kind, "s", fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, random.Uint64()))
	}
	node := func(random *rand.Rand, name string) step {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if random.IntN(2) == 0 {
			n.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprint("z", random.IntN(2))}
		}
		return addition(nodeKind, n)
	}
	random(t, func(t *testing.T, random *rand.Rand) {
		var options []companions.EndpointSliceOption
		known := random.IntN(2) == 0
		first := []step{creation(kind, service(random)), addition(podKind(), server(random))}
		if known {
			options = append(options, companions.KnownNodes())
		} else {
			for _, name := range []string{"n", "n0", "n1"} {
				first = append(first, addition(nodeKind, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
			}
		}
		compare(t, scenario(random, together(first...), func() step {
			number := random.IntN(8)
			switch random.IntN(27) {
			case 0, 1, 2, 3:
				return addition(podKind(), server(random))
			case 4, 5, 6, 7, 8, 9:
				addresses := []corev1.PodIP{{IP: fmt.Sprint("10.0.0.", 1+random.IntN(4))}}
				switch random.IntN(8) {
				case 0:
					addresses = append(addresses, corev1.PodIP{IP: "fd00::1"})
				case 1:
					addresses = []corev1.PodIP{{IP: "fd00::2"}}
				}
				return onPod(fmt.Sprint("serve ", addresses), number, serve(fmt.Sprint("n", random.IntN(2)), addresses, random.IntN(3) > 0))
			case 10, 11:
				return onPod("relabel", number, label([]string{"a", "b"}[random.IntN(2)]))
			case 12:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"publishNotReadyAddresses":%t}}`, random.IntN(2) == 0))
			case 13:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"selector":{"app":"%s"}}}`, []string{"a", "b"}[random.IntN(2)]))
			case 14:
				return patching(kind, "s", fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}}}`, random.IntN(2)))
			case 15:
				return patching(kind, "s", fmt.Sprintf(`{"spec":{"ports":[{"name":"web","port":80,"targetPort":%s}]}}`, []string{`"web"`, "8080", `"none"`}[random.IntN(3)]))
			case 16:
				return patching(kind, "s", []string{`{"spec":{"selector":null}}`, `{"spec":{"type":"ExternalName","externalName":"e.example"}}`}[random.IntN(2)])
			case 17:
				return together(deletion(kind, "s"), creation(kind, service(random)))
			case 18:
				return onSlice("delete", number, func(name string) step { return step{name: "", do: func(w *world) { deleteOwned(w, sliceKind, name) }} })
			case 19:
				return onSlice("empty", number, func(name string) step { return patching(sliceKind, name, `{"endpoints":[]}`) })
			case 20:
				return onSlice("label", number, func(name string) step { return patching(sliceKind, name, `{"metadata":{"labels":{"l":"x"}}}`) })
			case 21:
				// The simulated server knows a content again, and the real controller takes it for an old one if it has
				// had it before.
				other := fmt.Sprintf(`{"subsets":[{"addresses":[{"ip":"10.%d.%d.%d"}]}]}`, 1+random.IntN(200), random.IntN(200), random.IntN(200))
				return []step{deletion(endpointsKind, "s"), patching(endpointsKind, "s", other)}[random.IntN(2)]
			case 22, 23:
				if !known {
					return touch(random)
				}
				name := fmt.Sprint("n", random.IntN(2))
				return together([]step{node(random, name), deletion(nodeKind, name)}[random.IntN(2)], touch(random))
			case 24:
				return deletion(kind, "s")
			case 25:
				return addition(kind, service(random))
			}
			return podSteps(random, true)
		}), []companions.Companion{companions.EndpointSlices(options...), companions.Endpoints()}, endpointSlices, endpoints)
	})
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"knative.dev/networking/pkg/apis/networking/v1alpha1"
	networkingclient "knative.dev/networking/pkg/client/clientset/versioned"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/network"
	"knative.dev/serving/pkg/activator"
	"knative.dev/serving/pkg/autoscaler/scaling"
	"knative.dev/serving/pkg/reconciler/autoscaling/kpa/resources"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// standIn registers a controller that looks at objects of some kinds, by the names of which it is called.
func standIn(e *clientgo.Environment, name string, sync func(context.Context, types.NamespacedName) error, kinds ...client.Object) error {
	queue, err := clientgo.NewQueue[types.NamespacedName](e)
	if err != nil {
		return err
	}
	enqueue := func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			queue.Add(name.AsNamespacedName())
		}
	}
	for _, kind := range kinds {
		informer, err := e.Informer(kind, "", nil)
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(controller.HandleAll(enqueue)); err != nil {
			return err
		}
	}
	clientgo.Sync(e, name, nil, queue, sync)
	return nil
}

// deployments stands in for the controllers of Deployments and ReplicaSets, the scheduler and the kubelet: all Pods are there, and ready, at once.
func deployments(e *clientgo.Environment) error {
	kube, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	return standIn(e, "deployments", func(ctx context.Context, name types.NamespacedName) error {
		d, err := kube.AppsV1().Deployments(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: d.Spec.Template.Spec}
		pod.Namespace, pod.Name = d.Namespace, d.Name+"-0"
		wanted := d.Spec.Replicas == nil || *d.Spec.Replicas > 0
		if err := run(ctx, kube, pod, wanted); err != nil {
			return err
		}
		status := appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}, {Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue},
		}}
		if wanted {
			status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.UpdatedReplicas = 1, 1, 1, 1
		}
		if equality.Semantic.DeepEqual(status, d.Status) {
			return nil
		}
		d.Status = status
		_, err = kube.AppsV1().Deployments(d.Namespace).UpdateStatus(ctx, d, metav1.UpdateOptions{})
		return err
	}, &appsv1.Deployment{})
}

// run lets a Pod run, or ends it.
func run(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod, wanted bool) error {
	pods := kube.CoreV1().Pods(pod.Namespace)
	if !wanted {
		return client.IgnoreNotFound(pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}))
	}
	found, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		found, err = pods.Create(ctx, pod, metav1.CreateOptions{})
	}
	if err != nil || found.Status.Phase == corev1.PodRunning {
		return err
	}
	found.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.2.2.2", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	_, err = pods.UpdateStatus(ctx, found, metav1.UpdateOptions{})
	return err
}

// endpoints stands in for the controller of Endpoints.
func endpoints(e *clientgo.Environment) error {
	kube, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	queue, err := clientgo.NewQueue[types.NamespacedName](e)
	if err != nil {
		return err
	}
	services, err := e.Informer(&corev1.Service{}, "", nil)
	if err != nil {
		return err
	}
	pods, err := e.Informer(&corev1.Pod{}, "", nil)
	if err != nil {
		return err
	}
	if _, err := services.AddEventHandler(controller.HandleAll(func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			queue.Add(name.AsNamespacedName())
		}
	})); err != nil {
		return err
	}
	if _, err := pods.AddEventHandler(controller.HandleAll(func(object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		for _, selecting := range services.GetIndexer().List() {
			s := selecting.(*corev1.Service)
			if len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(object.(*corev1.Pod).Labels)) {
				queue.Add(types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
			}
		}
	})); err != nil {
		return err
	}
	clientgo.Sync(e, "endpoints", nil, queue, func(ctx context.Context, name types.NamespacedName) error {
		s, err := kube.CoreV1().Services(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil || len(s.Spec.Selector) == 0 {
			return client.IgnoreNotFound(err)
		}
		selected, err := kube.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(s.Spec.Selector).String()})
		if err != nil {
			return err
		}
		return serve(ctx, kube, s, selected.Items)
	})
	return nil
}

// serve writes the Endpoints of a Service.
func serve(ctx context.Context, kube kubernetes.Interface, s *corev1.Service, pods []corev1.Pod) error {
	wanted := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: s.Labels}}
	for _, p := range pods {
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		subset := corev1.EndpointSubset{Addresses: []corev1.EndpointAddress{{IP: p.Status.PodIP}}}
		for _, port := range s.Spec.Ports {
			subset.Ports = append(subset.Ports, corev1.EndpointPort{Name: port.Name, Port: port.Port, Protocol: corev1.ProtocolTCP})
		}
		wanted.Subsets = append(wanted.Subsets, subset)
	}
	all := kube.CoreV1().Endpoints(s.Namespace)
	found, err := all.Get(ctx, s.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = all.Create(ctx, wanted, metav1.CreateOptions{})
	case err == nil && !equality.Semantic.DeepEqual(found.Subsets, wanted.Subsets):
		found.Subsets = wanted.Subsets
		_, err = all.Update(ctx, found, metav1.UpdateOptions{})
	}
	return err
}

// ingresses stands in for an implementation of Knative's Ingress, such as Kourier: all are ready at once.
func ingresses(e *clientgo.Environment) error {
	networking, err := networkingclient.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	return standIn(e, "ingresses", func(ctx context.Context, name types.NamespacedName) error {
		found, err := networking.NetworkingV1alpha1().Ingresses(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		ready := found.DeepCopy()
		ready.Status.InitializeConditions()
		ready.Status.MarkNetworkConfigured()
		balancer := []v1alpha1.LoadBalancerIngressStatus{{DomainInternal: "gateway.example.svc.cluster.local"}}
		ready.Status.MarkLoadBalancerReady(balancer, balancer)
		ready.Status.ObservedGeneration = found.Generation
		if equality.Semantic.DeepEqual(ready.Status, found.Status) {
			return nil
		}
		_, err = networking.NetworkingV1alpha1().Ingresses(found.Namespace).UpdateStatus(ctx, ready, metav1.UpdateOptions{})
		return err
	}, &v1alpha1.Ingress{})
}

// load stands in for what the autoscaler of Knative measures: there is enough to do for one Pod, or nothing.
type load struct{ idle bool }

var _ resources.Deciders = load{}

func (l load) decide(d *scaling.Decider) *scaling.Decider {
	d.Status.DesiredScale = 1
	if l.idle {
		d.Status.DesiredScale = 0
	}
	return d
}

// Get implements [resources.Deciders].
func (l load) Get(_ context.Context, namespace, name string) (*scaling.Decider, error) {
	return l.decide(&scaling.Decider{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}), nil
}

// Create implements [resources.Deciders].
func (l load) Create(_ context.Context, d *scaling.Decider) (*scaling.Decider, error) {
	return l.decide(d), nil
}

// Update implements [resources.Deciders].
func (l load) Update(_ context.Context, d *scaling.Decider) (*scaling.Decider, error) {
	return l.decide(d), nil
}

// Delete implements [resources.Deciders].
func (load) Delete(context.Context, string, string) {}

// Watch implements [resources.Deciders]: the load does not change.
func (load) Watch(func(types.NamespacedName)) {}

// dialing is held while the dialer of Knative, a variable, is that of an instance.
type dialing struct{ sync.Mutex }

// connected returns a constructor of a controller whose HTTP clients reach what [dial] connects them with.
func (d *dialing) connected(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		d.Lock()
		defer d.Unlock()
		published := network.DialWithBackOff
		defer func() { network.DialWithBackOff = published }()
		kube := kubeclient.Get(ctx)
		network.DialWithBackOff = func(ctx context.Context, _, address string) (net.Conn, error) {
			return dial(ctx, kube, address)
		}
		return constructor(ctx, cmw)
	}
}

// dial stands in for the network, on which the autoscaler asks who gets the requests to a revision: the activator, if the Endpoints of its public Service say so.
func dial(ctx context.Context, kube kubernetes.Interface, address string) (net.Conn, error) {
	host, _, _ := strings.Cut(address, ":")
	name, rest, _ := strings.Cut(host, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	to, err := kube.CoreV1().Endpoints(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("nobody is at %s: %w", address, err)
	}
	answers := "queue"
	for _, subset := range to.Subsets {
		for _, a := range subset.Addresses {
			if a.IP == activatorIP {
				answers = activator.Name
			}
		}
	}
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
			fmt.Fprintf(server, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(answers), answers)
		}
	}()
	return client, nil
}

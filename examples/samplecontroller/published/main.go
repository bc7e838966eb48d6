//go:build published

// Published is the sample-controller that Kubernetes publishes as an example of a controller on client-go, with orrery's command in place of its own main
// function. Its controller.go is not here: it is taken from the module as it is, since a package main cannot be imported.
package main

import (
	"context"
	_ "embed"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplev1alpha1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	informers "k8s.io/sample-controller/pkg/generated/informers/externalversions"

	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/cli"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

//go:embed foo.yaml
var definition []byte

func main() { cli.Main(entries()...) }

// entries is what the command can check.
func entries() []catalog.Entry {
	return []catalog.Entry{{
		Name: "samplecontroller",
		Doc:  "The sample-controller of Kubernetes, which keeps a Deployment for each Foo, with a stand-in for the controller of Deployments.",
		Params: []catalog.Param{
			{Name: "foos", Doc: "objects of its kind", Default: 1, Min: 1, Max: 3},
			{Name: "scale", Doc: "1: a user asks for one more replica", Default: 0, Min: 0, Max: 1},
			{Name: "shared", Doc: "1: all name the same Deployment", Default: 0, Min: 0, Max: 1},
			{Name: "rename", Doc: "1: a user names another Deployment", Default: 0, Min: 0, Max: 1},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return system(v["foos"], v["scale"] == 1, v["shared"] == 1, v["rename"] == 1)
		},
	}}
}

func system(foos int, scale, shared, rename bool) (*core.System, error) {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, samplev1alpha1.AddToScheme} {
		if err := add(types); err != nil {
			return nil, err
		}
	}
	options := []clientgo.Option{
		clientgo.Name("samplecontroller"), clientgo.CRDBytes(definition), clientgo.GarbageCollection(&appsv1.Deployment{}),
		clientgo.Setup(sampleController), clientgo.Setup(deployments),
		clientgo.Properties(properties.Convergent()...),
	}
	for i := range foos {
		foo := &samplev1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: string(rune('a' + i))}}
		foo.Spec.DeploymentName, foo.Spec.Replicas = "of-"+foo.Name, ptr.To[int32](1)
		if shared {
			foo.Spec.DeploymentName = "shared"
		}
		options = append(options, clientgo.ObjectValues(foo))
	}
	change := func(name string, how func(*samplev1alpha1.FooSpec)) {
		options = append(options, clientgo.Scenario(scenario.Action{Name: name, Do: func(ctx context.Context, c client.Client) error {
			var foo samplev1alpha1.Foo
			if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &foo); err != nil {
				return err
			}
			how(&foo.Spec)
			return c.Update(ctx, &foo)
		}}))
	}
	if scale {
		change("scale up", func(spec *samplev1alpha1.FooSpec) { *spec.Replicas++ })
	}
	if rename {
		change("name another Deployment", func(spec *samplev1alpha1.FooSpec) { spec.DeploymentName = "another" })
	}
	return clientgo.New(types, options...)
}

// sampleController does what the main function of the sample-controller does.
func sampleController(e *clientgo.Environment) error {
	kubeClient, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	exampleClient, err := clientset.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	kubeInformerFactory := kubeinformers.NewSharedInformerFactory(kubeClient, time.Second*30)
	if err := e.Fill(kubeInformerFactory); err != nil {
		return err
	}
	exampleInformerFactory := informers.NewSharedInformerFactory(exampleClient, time.Second*30)
	if err := e.Fill(exampleInformerFactory); err != nil {
		return err
	}
	controller := NewController(e.Context(), kubeClient, exampleClient,
		kubeInformerFactory.Apps().V1().Deployments(),
		exampleInformerFactory.Samplecontroller().V1alpha1().Foos())
	queue, err := clientgo.QueueIn[cache.ObjectName](e, controller)
	if err != nil {
		return err
	}
	clientgo.Run(e, controllerAgentName, controller, queue, func(ctx context.Context) error { return controller.Run(ctx, 2) })
	return nil
}

// rollout is a stand-in for the controller of Deployments: whatever one asks for is available at once.
type rollout struct {
	client      kubernetes.Interface
	deployments appslisters.DeploymentLister
}

// deployments registers the stand-in. It is a process of its own.
func deployments(e *clientgo.Environment) error {
	client, err := kubernetes.NewForConfig(e.Config())
	if err != nil {
		return err
	}
	factory := kubeinformers.NewSharedInformerFactory(client, 0)
	if err := e.Fill(factory); err != nil {
		return err
	}
	queue, err := clientgo.NewQueue[cache.ObjectName](e)
	if err != nil {
		return err
	}
	enqueue := func(object any) {
		if name, err := cache.ObjectToName(object); err == nil {
			queue.Add(name)
		}
	}
	informer := factory.Apps().V1().Deployments()
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
	}); err != nil {
		return err
	}
	r := &rollout{client, informer.Lister()}
	clientgo.Sync(e, "deployments", r, queue, r.sync)
	return nil
}

func (r *rollout) sync(ctx context.Context, name cache.ObjectName) error {
	deployment, err := r.deployments.Deployments(name.Namespace).Get(name.Name)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	wanted := ptr.Deref(deployment.Spec.Replicas, 1)
	if deployment.Status.AvailableReplicas == wanted {
		return nil
	}
	deployment = deployment.DeepCopy()
	deployment.Status.Replicas, deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = wanted, wanted, wanted
	_, err = r.client.AppsV1().Deployments(name.Namespace).UpdateStatus(ctx, deployment, metav1.UpdateOptions{})
	return err
}

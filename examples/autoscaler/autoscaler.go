package autoscaler

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	autoscalinginformers "k8s.io/client-go/informers/autoscaling/v2"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
)

// Autoscaler keeps the replicas of each Deployment within the bounds of the HorizontalPodAutoscaler of its name. It is made with client-go's informers,
// listers and work queue.
type Autoscaler struct {
	client      kubernetes.Interface
	deployments appslisters.DeploymentLister
	bounds      autoscalinglisters.HorizontalPodAutoscalerLister
	synced      []cache.InformerSynced
	queue       workqueue.TypedRateLimitingInterface[string]
}

// New returns an autoscaler that is told of Deployments and HorizontalPodAutoscalers.
func New(client kubernetes.Interface, deployments appsinformers.DeploymentInformer, bounds autoscalinginformers.HorizontalPodAutoscalerInformer) (*Autoscaler, error) {
	a := &Autoscaler{
		client:      client,
		deployments: deployments.Lister(),
		bounds:      bounds.Lister(),
		synced:      []cache.InformerSynced{deployments.Informer().HasSynced, bounds.Informer().HasSynced},
		queue:       workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	for _, informer := range []cache.SharedIndexInformer{deployments.Informer(), bounds.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    a.enqueue,
			UpdateFunc: func(_, object any) { a.enqueue(object) },
			DeleteFunc: a.enqueue,
		}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Autoscaler) enqueue(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	a.queue.Add(key)
}

// errUnsynced is that of a run that ended before it began.
var errUnsynced = errors.New("the caches have not synced")

// Run works until the context is over.
func (a *Autoscaler) Run(ctx context.Context, workers int) error {
	defer utilruntime.HandleCrash()
	defer a.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), a.synced...) {
		return errUnsynced
	}
	for range workers {
		go wait.UntilWithContext(ctx, a.work, time.Second)
	}
	<-ctx.Done()
	return nil
}

func (a *Autoscaler) work(ctx context.Context) {
	for a.workOnNext(ctx) {
	}
}

func (a *Autoscaler) workOnNext(ctx context.Context) bool {
	key, quit := a.queue.Get()
	if quit {
		return false
	}
	defer a.queue.Done(key)
	if err := a.sync(ctx, key); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Error syncing")
		a.queue.AddRateLimited(key)
		return true
	}
	a.queue.Forget(key)
	return true
}

// sync brings the replicas of a Deployment into their bounds.
func (a *Autoscaler) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	deployment, err := a.deployments.Deployments(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	bounds, err := a.bounds.HorizontalPodAutoscalers(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	want := min(max(replicas, ptr.Deref(bounds.Spec.MinReplicas, 1)), bounds.Spec.MaxReplicas)
	if want == replicas {
		return nil
	}
	scale, err := a.client.AppsV1().Deployments(namespace).GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = want
	_, err = a.client.AppsV1().Deployments(namespace).UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
	return err
}

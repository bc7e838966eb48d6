package clientgo_test

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery/adapters/clientgo"
)

// parts are those of a controller of ConfigMaps that a test puts together.
type parts struct {
	client     kubernetes.Interface
	factory    informers.SharedInformerFactory
	configMaps corelisters.ConfigMapLister
	queue      *clientgo.Queue[string]

	// change is given each object that is added, and sync works on an item.
	change func(any)
	sync   func(context.Context, string) error
	// second registers another controller.
	second func()
	// deaf tells that event handlers enqueue nothing, and run that the controller can only be run.
	deaf, run bool
	// beside is what it has going on while it runs.
	beside func(context.Context)
	// left is what syncs leave to a goroutine.
	left chan string
}

// setupOf returns a set-up of a controller that a test completes.
func setupOf(complete func(*clientgo.Environment, *parts) error, options ...informers.SharedInformerOption) func(*clientgo.Environment) error {
	return func(e *clientgo.Environment) error {
		p := &parts{sync: func(context.Context, string) error { return nil }}
		var err error
		if p.client, err = kubernetes.NewForConfig(e.Config()); err != nil {
			return err
		}
		p.factory = informers.NewSharedInformerFactoryWithOptions(p.client, 0, options...)
		if err := e.Fill(p.factory); err != nil {
			return err
		}
		if p.queue, err = clientgo.NewQueue[string](e); err != nil {
			return err
		}
		informer := p.factory.Core().V1().ConfigMaps()
		p.configMaps = informer.Lister()
		enqueue := func(object any) {
			if p.change != nil {
				p.change(object)
			}
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil && !p.deaf {
				p.queue.Add(key)
			}
		}
		if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }, DeleteFunc: enqueue,
		}); err != nil {
			return err
		}
		if err := complete(e, p); err != nil {
			return err
		}
		if p.run {
			clientgo.Run(e, "parts", p, p.queue, func(ctx context.Context) error {
				if p.beside != nil {
					go p.beside(ctx)
				}
				return work(ctx, p.queue, p.sync)
			})
		} else {
			clientgo.Sync(e, "parts", p, p.queue, p.sync)
		}
		if p.second != nil {
			p.second()
		}
		return nil
	}
}

// work syncs what is in a queue in a goroutine of its own, until the context ends.
func work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], sync func(ctx context.Context, key string) error) error {
	go func() {
		for {
			key, over := queue.Get()
			if over {
				return
			}
			if sync(ctx, key) != nil {
				queue.AddRateLimited(key)
			}
			queue.Done(key)
		}
	}()
	<-ctx.Done()
	return nil
}

// label labels a ConfigMap as done, unless it is.
func (p *parts) label(ctx context.Context, name string) error {
	c, err := p.configMaps.ConfigMaps("default").Get(name)
	if err != nil || c.Labels["done"] != "" {
		return err
	}
	c = c.DeepCopy()
	c.Labels = map[string]string{"done": "yes"}
	_, err = p.client.CoreV1().ConfigMaps("default").Update(ctx, c, metav1.UpdateOptions{})
	return err
}

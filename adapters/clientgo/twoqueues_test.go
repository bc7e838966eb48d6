package clientgo_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// attacher has two work queues, and workers that return behind each item, as the sidecars of CSI have.
type attacher struct {
	client              kubernetes.Interface
	configMaps          cache.SharedIndexInformer
	ConfigMaps, Secrets workqueue.TypedRateLimitingInterface[string]
}

func newAttacher(client kubernetes.Interface, factory informers.SharedInformerFactory) *attacher {
	queue := func() workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	}
	a := &attacher{client: client, configMaps: factory.Core().V1().ConfigMaps().Informer(), ConfigMaps: queue(), Secrets: queue()}
	adds := func(informer cache.SharedIndexInformer, queue workqueue.TypedRateLimitingInterface[string]) {
		add := func(object any) {
			if accessor, err := meta.Accessor(object); err == nil {
				queue.Add(accessor.GetName())
			}
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}); err != nil {
			panic(err)
		}
	}
	adds(a.configMaps, a.ConfigMaps)
	adds(factory.Core().V1().Secrets().Informer(), a.Secrets)
	return a
}

// patch says that an object is attached.
const patch = `{"metadata":{"labels":{"attached":"true"}}}`

// work processes one item of a queue.
func (a *attacher) work(queue workqueue.TypedRateLimitingInterface[string], sync func(context.Context, string) error) func(context.Context) {
	return func(ctx context.Context) {
		name, quit := queue.Get()
		if quit {
			return
		}
		defer queue.Done(name)
		if err := sync(ctx, name); err != nil {
			queue.AddRateLimited(name)
			return
		}
		queue.Forget(name)
	}
}

func (a *attacher) Run(ctx context.Context) {
	defer a.ConfigMaps.ShutDown()
	defer a.Secrets.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), a.configMaps.HasSynced) {
		return
	}
	go wait.UntilWithContext(ctx, a.work(a.ConfigMaps, func(ctx context.Context, name string) error {
		_, err := a.client.CoreV1().ConfigMaps("default").Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}), 0)
	go wait.UntilWithContext(ctx, a.work(a.Secrets, func(ctx context.Context, name string) error {
		_, err := a.client.CoreV1().Secrets("default").Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}), 0)
	<-ctx.Done()
}

// TestTwoQueues has a Run method serve two work queues, each of which is a controller. Whoever asks the other queue
// waits as long as an item is processed.
func TestTwoQueues(t *testing.T) {
	attached := properties.EventuallyAlways("both are attached", func(s core.State) bool {
		return !slices.ContainsFunc(slices.Concat(s.List("ConfigMap", ""), s.List("Secret", "")), func(o core.Object) bool {
			return !strings.Contains(o.Content.Canonical(), `"attached":"true"`)
		})
	})
	r := check(t, orrery.Options{Crashes: 1, Failures: 1}, clientgo.Setup(func(e *clientgo.Environment) error {
		client, factory, err := filled(e)
		if err != nil {
			return err
		}
		a := newAttacher(client, factory)
		for _, field := range []string{"ConfigMaps", "Secrets"} {
			queue, err := clientgo.QueueIn[string](e, a, field)
			if err != nil {
				return err
			}
			clientgo.Run(e, field, a, queue, func(ctx context.Context) error {
				a.Run(ctx)
				return nil
			})
		}
		return nil
	}), clientgo.ObjectValues(configMap("a", "1"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}), clientgo.Properties(attached))
	if r.Verdict != core.Holds || r.Outcomes != 1 {
		t.Fatalf("%s with %d outcomes: %q, %q", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
	}
}

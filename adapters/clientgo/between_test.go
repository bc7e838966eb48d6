package clientgo_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// copying copies an annotation of a ConfigMap into another one, and takes what it has read for good for a while.
type copying struct {
	client kubernetes.Interface
	lister corelisters.ConfigMapLister
	queue  *clientgo.Queue[string]
	read   map[string]reading
	good   time.Duration
}

type reading struct {
	value string
	at    time.Time
}

func (c *copying) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	if time.Since(c.read[key].at) > c.good {
		found, err := c.lister.ConfigMaps(namespace).Get(name)
		if err != nil {
			return err
		}
		c.read[key] = reading{found.Annotations["value"], time.Now()}
	}
	copied, err := c.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil || copied.Annotations["copy"] == c.read[key].value {
		return err
	}
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, "copy", c.read[key].value)
	_, err = c.client.CoreV1().ConfigMaps(namespace).Update(ctx, copied, metav1.UpdateOptions{})
	return err
}

// work is what a Run method does.
func (c *copying) work(ctx context.Context) error {
	go func() {
		for {
			key, stop := c.queue.Get()
			if stop {
				return
			}
			if c.sync(ctx, key) != nil {
				c.queue.AddRateLimited(key)
			}
			c.queue.Done(key)
		}
	}()
	<-ctx.Done()
	return nil
}

// TestRunsTakeNoTime checks a controller that is run, and remembers something for five minutes, against the same one
// whose items are synced: no more time passes between the items of the one than of the other.
func TestRunsTakeNoTime(t *testing.T) {
	for _, good := range []time.Duration{5 * time.Minute, -1} {
		for _, runs := range []bool{false, true} {
			r := checkAny(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
				client, factory, err := filled(e)
				if err != nil {
					return err
				}
				queue, err := clientgo.NewQueue[string](e)
				if err != nil {
					return err
				}
				c := &copying{client, factory.Core().V1().ConfigMaps().Lister(), queue, map[string]reading{}, good}
				add := func(o any) {
					if key, err := cache.MetaNamespaceKeyFunc(o); err == nil {
						queue.Add(key)
					}
				}
				if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }}); err != nil {
					return err
				}
				if runs {
					clientgo.Run(e, "copying", c, queue, c.work)
				} else {
					clientgo.Sync(e, "copying", c, queue, c.sync)
				}
				return nil
			}), clientgo.ObjectValues(in("default", "a", nil)), clientgo.Scenario(scenario.Change("set", in("default", "a", nil), func(o *corev1.ConfigMap) {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "value", "b")
			})))
			want := core.Holds
			if good > 0 {
				want = core.Violated
			}
			if r.Verdict != want {
				t.Errorf("good for %s, run: %t: %s %v, want %s", good, runs, r.Verdict, r.Reasons, want)
			}
		}
	}
}

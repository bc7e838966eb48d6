package clientgo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
)

// stamp is a controller that marks ConfigMaps. It is made by a constructor that hands its queue out and gives it to
// event handlers: what the controller keeps of it is a method.
type stamp struct {
	client  kubernetes.Interface
	panic   bool
	retry   func(types.NamespacedName)
	requeue func(types.NamespacedName, time.Duration)
	// queue is that of a controller which keeps it as well.
	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

type names = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// wrapped is a factory with another one inside, as projects have for tests.
type wrapped struct {
	inner informers.SharedInformerFactory
}

func newStamp(client kubernetes.Interface, factory *wrapped) (*stamp, names) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	add := func(object any) {
		o := object.(*corev1.ConfigMap)
		queue.AddRateLimited(types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
	if _, err := factory.inner.Core().V1().ConfigMaps().Informer().AddEventHandler(handler); err != nil {
		panic(err)
	}
	return &stamp{client: client, retry: queue.AddRateLimited, requeue: queue.AddAfter}, queue
}

func (s *stamp) sync(ctx context.Context, name types.NamespacedName) error {
	if s.panic {
		panic("out of ink")
	}
	o, err := s.client.CoreV1().ConfigMaps(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil || o.Data["marked"] == "yes" {
		return err
	}
	o.Data = map[string]string{"marked": "yes"}
	if _, err = s.client.CoreV1().ConfigMaps(name.Namespace).Update(ctx, o, metav1.UpdateOptions{}); err != nil {
		s.retry(name)
	} else {
		s.requeue(name, time.Minute)
	}
	return nil
}

// run is the loop of a worker on the queue that the constructor has handed out.
func (s *stamp) run(ctx context.Context, queue names) {
	defer queue.ShutDown()
	next := func() bool {
		name, over := queue.Get()
		if over {
			return false
		}
		defer queue.Done(name)
		if s.sync(ctx, name) == nil {
			queue.Forget(name)
		}
		return queue.NumRequeues(name) == 0
	}
	go func() {
		for next() {
		}
	}()
	<-ctx.Done()
}

// stamped is the set-up of a stamp, with the queue in the place that is given.
func stamped(run bool, change func(*stamp), put func(*clientgo.Environment, *stamp, names) (*clientgo.Queue[types.NamespacedName], error)) clientgo.Option {
	return clientgo.Setup(func(e *clientgo.Environment) error {
		client := kubernetes.NewForConfigOrDie(e.Config())
		factory := &wrapped{informers.NewSharedInformerFactory(client, 0)}
		if err := e.Fill(factory); err != nil {
			return err
		}
		s, made := newStamp(client, factory)
		change(s)
		queue, err := put(e, s, made)
		if err != nil {
			return err
		}
		if run {
			clientgo.Run(e, "stamp", s, queue, func(ctx context.Context) error { s.run(ctx, made); return nil })
		} else {
			clientgo.Sync(e, "stamp", s, queue, s.sync)
		}
		return nil
	})
}

// ways are those to put a queue where event handlers and methods use it.
var ways = map[string]func(*clientgo.Environment, *stamp, names) (*clientgo.Queue[types.NamespacedName], error){
	"taken over": func(e *clientgo.Environment, _ *stamp, made names) (*clientgo.Queue[types.NamespacedName], error) {
		return clientgo.TakeOver[types.NamespacedName](e, made)
	},
	"field": func(e *clientgo.Environment, s *stamp, made names) (*clientgo.Queue[types.NamespacedName], error) {
		s.queue = made
		return clientgo.QueueIn[types.NamespacedName](e, s)
	},
}

// TestQueueIsTakenOver checks a controller whose event handlers have its queue. A ConfigMap is queued; it is marked,
// which queues it again, and has a timer; it is found to be marked, and still has the timer; the timer fires, which
// queues it; and it is found to be marked: five states.
func TestQueueIsTakenOver(t *testing.T) {
	for way, put := range ways {
		for driver, run := range drivers {
			t.Run(way+"/"+driver, func(t *testing.T) {
				r := check(t, orrery.Options{Reduction: orrery.NoReduction}, stamped(run, func(*stamp) {}, put), clientgo.ObjectValues(configMap("a", "1")))
				if r.Verdict != core.Holds {
					t.Fatalf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
				}
				if r.States != 5 || r.Outcomes != 1 {
					t.Errorf("%d states and %d outcomes, want 5 and 1", r.States, r.Outcomes)
				}
				r = check(t, orrery.Options{}, stamped(run, func(s *stamp) { s.panic = true }, put), clientgo.ObjectValues(configMap("a", "1")))
				if f := finding(t, r, "no panic"); !strings.Contains(f.Summary, "out of ink") {
					t.Error(f.Summary)
				}
			})
		}
	}
}

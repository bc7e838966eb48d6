package clientgo_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
)

// painter is a controller that makes its informers by itself, as its constructor gets nothing but a client. It paints
// ConfigMaps.
type painter struct {
	client  kubernetes.Interface
	typed   cache.SharedIndexInformer
	lister  corelisters.ConfigMapLister
	untyped informers.GenericInformer
	// several are informers in what a project has around them.
	several struct{ all []informers.GenericInformer }
	synced  cache.InformerSynced
	queue   workqueue.TypedRateLimitingInterface[string]
	events  []string
}

func newPainter(e *clientgo.Environment) *painter {
	client := kubernetes.NewForConfigOrDie(e.Config())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 30*time.Second, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "color" }),
		informers.WithTransform(func(object any) (any, error) {
			object.(*corev1.ConfigMap).Annotations = map[string]string{"kept": "yes"}
			return object, nil
		}))
	maps := factory.Core().V1().ConfigMaps()
	trees := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(e.Config()), 0)
	metas := metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(e.Config()), 0)
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	p := &painter{
		client: client, typed: maps.Informer(), lister: maps.Lister(), synced: maps.Informer().HasSynced, untyped: trees.ForResource(resource),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	p.several.all = append(p.several.all, metas.ForResource(resource))
	return p
}

// listen adds event handlers, the first of which tells the second one what it is told.
func (p *painter) listen() error {
	var told string
	tell := func(object any) { told = object.(*corev1.ConfigMap).Name }
	enqueue := func(object any) {
		if c := object.(*corev1.ConfigMap); told == c.Name && c.Annotations["kept"] == "yes" {
			p.queue.Add(c.Namespace + "/" + c.Name)
		}
	}
	for i, add := range []func(any){tell, enqueue} {
		handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
		if _, err := p.typed.AddEventHandlerWithResyncPeriod(handler, time.Duration(2-i)*time.Minute); err != nil {
			return err
		}
	}
	return nil
}

// sync paints what is red, and notes what it sees.
func (p *painter) sync(ctx context.Context, key string) error {
	object, exists, err := p.typed.GetStore().GetByKey(key)
	if err != nil || !exists {
		return errors.Join(err, fmt.Errorf("%s is not there", key))
	}
	red, err := p.lister.List(labels.SelectorFromSet(labels.Set{"color": "red"}))
	if err != nil {
		return err
	}
	p.events = []string{fmt.Sprint(p.synced(), len(p.typed.GetIndexer().ListKeys()), len(red))}
	for _, generic := range append(slices.Clone(p.several.all), p.untyped) {
		some, err := generic.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		p.events = append(p.events, fmt.Sprintf("%T %d", some[0], len(some)))
	}
	c := object.(*corev1.ConfigMap).DeepCopy()
	if c.Labels["color"] != "red" {
		return nil
	}
	c.Labels["color"], c.Annotations = "blue", nil
	_, err = p.client.CoreV1().ConfigMaps(c.Namespace).Update(ctx, c, metav1.UpdateOptions{})
	return err
}

// run is the way in which the controller is run in production: it waits for its caches.
func (p *painter) run(ctx context.Context) error {
	go p.typed.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), p.typed.HasSynced, p.synced) {
		return errors.New("caches have not synced")
	}
	return work(ctx, p.queue, p.sync)
}

// TestInformersAreTakenOver checks a controller that makes its informers by itself: they show what factories that are
// filled show. Two of the ConfigMaps are in their namespace and have a color, of which one is red. It is painted, seen
// again, and left alone.
func TestInformersAreTakenOver(t *testing.T) {
	for driver, run := range drivers {
		t.Run(driver, func(t *testing.T) {
			var seen [][]string
			r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
				p := newPainter(e)
				if err := e.TakeOverInformers(p); err != nil {
					return err
				}
				if err := e.TakeOverInformers(p); err != nil { // which changes nothing
					return err
				}
				if err := p.listen(); err != nil {
					return err
				}
				queue, err := clientgo.QueueIn[string](e, p)
				if err != nil {
					return err
				}
				if run {
					clientgo.Run(e, "painter", p, queue, p.run)
				} else {
					clientgo.Sync(e, "painter", p, queue, func(ctx context.Context, key string) error {
						err := p.sync(ctx, key)
						seen = append(seen, p.events)
						p.events = nil
						return err
					})
				}
				return nil
			}), clientgo.ObjectValues(in("default", "a", map[string]string{"color": "red"}), in("default", "b", map[string]string{"color": "blue"}),
				in("default", "c", nil), in("other", "a", map[string]string{"color": "red"})))
			if r.Verdict != core.Holds || r.Outcomes != 1 {
				t.Fatalf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
			}
			want := "[true 2 0 *v1.PartialObjectMetadata 4 *unstructured.Unstructured 4]"
			if !run && !slices.ContainsFunc(seen, func(s []string) bool { return fmt.Sprint(s) == want }) {
				t.Errorf("it sees %v, want %v", seen, want)
			}
		})
	}
}

// polling is a list of what is got one by one.
type polling struct{ client kubernetes.Interface }

func (p polling) List(metav1.ListOptions) (runtime.Object, error) {
	return p.client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
}

func (polling) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

// fixed is a list that asks nobody.
type fixed struct{ polling }

func (fixed) List(metav1.ListOptions) (runtime.Object, error) { return &corev1.NamespaceList{}, nil }

// TestInformersThatAreNotTakenOver wants an error that says what to do where an informer cannot be taken over.
func TestInformersThatAreNotTakenOver(t *testing.T) {
	for name, test := range map[string]struct {
		setup func(*clientgo.Environment) error
		want  string
	}{
		"nothing": {func(e *clientgo.Environment) error { return e.TakeOverInformers(&parts{}) }, "no shared informer that client-go has made can be reached from [*clientgo_test.parts]"},
		"too late": {func(e *clientgo.Environment) error {
			p := newPainter(e)
			return errors.Join(p.listen(), e.TakeOverInformers(p))
		}, "it has event handlers already"},
		"one by one": {func(e *clientgo.Environment) error {
			lists := polling{kubernetes.NewForConfigOrDie(e.Config())}
			return e.TakeOverInformers(&painter{typed: cache.NewSharedIndexInformer(lists, &corev1.Namespace{}, 0, nil)})
		}, "asks to get Namespace default: make it with Environment.Informer"},
		"from nowhere": {func(e *clientgo.Environment) error {
			return e.TakeOverInformers(&painter{typed: cache.NewSharedIndexInformer(fixed{}, &corev1.Namespace{}, 0, nil)})
		}, "it lists what is not on the API server"},
		"other type": {func(e *clientgo.Environment) error {
			lists := cache.NewListWatchFromClient(kubernetes.NewForConfigOrDie(e.Config()).CoreV1().RESTClient(), "pods", "", fields.Everything())
			return e.TakeOverInformers(&painter{typed: cache.NewSharedIndexInformer(lists, &corev1.Secret{}, 0, nil)})
		}, "it shows Pod as *v1.Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientgo.New(scheme.Scheme, clientgo.Setup(test.setup))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestHandlersThatComeLate wants a check to be inconclusive whose controller adds an event handler to an informer that
// was taken over while it runs.
func TestHandlersThatComeLate(t *testing.T) {
	r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
		p := newPainter(e)
		if err := errors.Join(e.TakeOverInformers(p), p.listen()); err != nil {
			return err
		}
		queue, err := clientgo.QueueIn[string](e, p)
		if err != nil {
			return err
		}
		clientgo.Sync(e, "painter", p, queue, func(context.Context, string) error { return p.listen() })
		return nil
	}), clientgo.ObjectValues(in("default", "a", map[string]string{"color": "red"})))
	if r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, ""), "adding an event handler to the informer of ConfigMap") {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
	}
}

// TestHandlersOfAnother checks two controllers in one process, of which one has no event handlers: those of the other
// fill the queues of both.
func TestHandlersOfAnother(t *testing.T) {
	for _, crashes := range []int{0, 1} {
		r := check(t, orrery.Options{Crashes: crashes}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
			second, err := clientgo.NewQueue[string](e)
			if err != nil {
				return err
			}
			p.change = func(object any) {
				if c, ok := object.(*corev1.ConfigMap); ok {
					second.Add(c.Namespace + "/" + c.Name)
				}
			}
			p.second = func() {
				clientgo.Sync(e, "second", nil, second, func(ctx context.Context, key string) error {
					_, name, _ := strings.Cut(key, "/")
					return p.label(ctx, name)
				})
			}
			return nil
		})), clientgo.ObjectValues(in("default", "a", nil)))
		if r.Verdict != core.Holds || r.Outcomes != 1 {
			t.Fatalf("%d crashes: %s with %d outcomes: %v %v", crashes, r.Verdict, r.Outcomes, r.Reasons, summaries(r))
		}
		for _, o := range r.OutcomeList[0].Objects {
			if labels, _ := o.Fields.(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any); labels["done"] != "yes" {
				t.Errorf("it ends with labels %v", labels)
			}
		}
	}
}

// TestLaterStores has controllers call what stores of informers, and what is behind those that were taken over, have
// since client-go v0.36. It is not modelled, and the controller does not panic.
func TestLaterStores(t *testing.T) {
	type later interface {
		LastStoreSyncResourceVersion() string
		Bookmark(version string)
	}
	const newest, note = "asking how far the store of the informer of ConfigMap has come: there is no version of all objects of a kind: leave it out; in the controllers of Kubernetes, switch off the feature gates",
		"writing into the store of the informer of ConfigMap: the store of an informer belongs to the informer"
	for name, test := range map[string]struct {
		call func(filled, takenOver any)
		want string
	}{
		"the newest version":            {func(filled, _ any) { filled.(later).LastStoreSyncResourceVersion() }, newest},
		"the newest version, behind it": {func(_, takenOver any) { takenOver.(later).LastStoreSyncResourceVersion() }, newest},
		"a note of it":                  {func(filled, _ any) { filled.(later).Bookmark("1") }, note},
		"a note of it, behind it":       {func(_, takenOver any) { takenOver.(later).Bookmark("1") }, note},
		"what is gone": {func(_, takenOver any) {
			takenOver.(interface{ DeleteWithObject(key string, object any) }).DeleteWithObject("default/a", nil)
		}, note},
	} {
		r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
			p := newPainter(e)
			if err := e.TakeOverInformers(p); err != nil {
				return err
			}
			if err := p.listen(); err != nil {
				return err
			}
			filled, err := e.Informer(&corev1.ConfigMap{}, "", nil)
			if err != nil {
				return err
			}
			behind := reflect.ValueOf(p.typed.GetStore()).Elem().FieldByName("cacheStorage")
			takenOver := reflect.NewAt(behind.Type(), behind.Addr().UnsafePointer()).Elem().Interface()
			queue, err := clientgo.QueueIn[string](e, p)
			if err != nil {
				return err
			}
			clientgo.Sync(e, "painter", p, queue, func(context.Context, string) error {
				test.call(filled.GetStore(), takenOver)
				return nil
			})
			return nil
		}), clientgo.ObjectValues(in("default", "a", map[string]string{"color": "red"})))
		if r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), test.want) {
			t.Errorf("%s: %s: %v %v", name, r.Verdict, r.Reasons, summaries(r))
		}
	}
}

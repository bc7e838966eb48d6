package clientgo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/kube/scenario"
	"github.com/orrery-dev/orrery/core"
)

// in returns a ConfigMap in a namespace, with labels.
func in(namespace, name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
}

// reads checks a controller of the ConfigMap default/a that reads something in its sync, and wants it to have read what
// is told.
func reads(t *testing.T, read func(p *parts) ([]string, error), want []string, options ...informers.SharedInformerOption) {
	t.Helper()
	var told [][]string
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		if err := p.factory.Core().V1().ConfigMaps().Informer().AddIndexers(cache.Indexers{"color": func(object any) ([]string, error) {
			return []string{object.(*corev1.ConfigMap).Labels["color"]}, nil
		}}); err != nil {
			return err
		}
		p.sync = func(context.Context, string) error {
			some, err := read(p)
			told = append(told, some)
			return err
		}
		return nil
	}, options...)), clientgo.ObjectValues(in("default", "a", map[string]string{"color": "red"}), in("default", "b", map[string]string{"color": "blue"}), in("other", "a", map[string]string{"color": "red"})))
	if r.Verdict != core.Holds {
		t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
	}
	for _, some := range told {
		slices.Sort(some)
		if !slices.Equal(some, want) {
			t.Fatalf("read %v, want %v", some, want)
		}
	}
	if len(told) == 0 {
		t.Error("nothing was read")
	}
}

func TestStores(t *testing.T) {
	store := func(p *parts) cache.Indexer { return p.factory.Core().V1().ConfigMaps().Informer().GetIndexer() }
	namesOf := func(objects []any) []string {
		var names []string
		for _, object := range objects {
			o := object.(*corev1.ConfigMap)
			names = append(names, strings.TrimSuffix(o.Namespace+"/"+o.Name+" "+o.Annotations["kept"], " "))
		}
		return names
	}
	list := func(p *parts) ([]string, error) { return namesOf(store(p).List()), nil }
	for _, test := range []struct {
		name    string
		read    func(p *parts) ([]string, error)
		want    []string
		options []informers.SharedInformerOption
	}{
		{name: "all", read: list, want: []string{"default/a", "default/b", "other/a"}},
		{name: "keys", read: func(p *parts) ([]string, error) { return store(p).ListKeys(), nil }, want: []string{"default/a", "default/b", "other/a"}},
		{
			name: "lister", read: func(p *parts) ([]string, error) {
				some, err := p.configMaps.ConfigMaps("default").List(labels.SelectorFromSet(labels.Set{"color": "red"}))
				var names []string
				for _, c := range some {
					names = append(names, c.Name)
				}
				return names, err
			}, want: []string{"a"},
		},
		{
			name: "index", read: func(p *parts) ([]string, error) {
				objects, err := store(p).ByIndex("color", "red")
				return namesOf(objects), err
			}, want: []string{"default/a", "other/a"},
		},
		{name: "index values", read: func(p *parts) ([]string, error) { return store(p).ListIndexFuncValues("color"), nil }, want: []string{"blue", "red"}},
		{
			name: "index by example", read: func(p *parts) ([]string, error) {
				objects, err := store(p).Index(cache.NamespaceIndex, in("other", "", nil))
				return namesOf(objects), err
			}, want: []string{"other/a"},
		},
		{
			name: "unknown index", read: func(p *parts) ([]string, error) {
				_, err := store(p).ByIndex("size", "1")
				return []string{err.Error()}, nil
			}, want: []string{"Index with name size does not exist"},
		},
		{name: "namespace", read: list, want: []string{"default/a", "default/b"}, options: []informers.SharedInformerOption{informers.WithNamespace("default")}},
		{
			name: "labels", read: list, want: []string{"default/a", "other/a"},
			options: []informers.SharedInformerOption{informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "color=red" })},
		},
		{
			name: "fields", read: list, want: []string{"default/a", "other/a"},
			options: []informers.SharedInformerOption{informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=a" })},
		},
		{
			name: "transform", read: list, want: []string{"default/a yes", "default/b yes", "other/a yes"},
			options: []informers.SharedInformerOption{informers.WithTransform(func(object any) (any, error) {
				object.(*corev1.ConfigMap).Annotations = map[string]string{"kept": "yes"}
				return object, nil
			})},
		},
		{
			name: "same pointer", read: func(p *parts) ([]string, error) {
				one, _, _ := store(p).GetByKey("default/a")
				other, _, err := store(p).GetByKey("default/a")
				return []string{fmt.Sprint(one == other, slices.Contains(store(p).List(), one), one.(*corev1.ConfigMap).Kind == "")}, err
			}, want: []string{"true true true"},
		},
	} {
		t.Run(test.name, func(t *testing.T) { reads(t, test.read, test.want, test.options...) })
	}
}

// TestScopes wants handlers of an informer that selects by a label to see objects come and go with the label.
func TestScopes(t *testing.T) {
	var seen []string
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		p.deaf = true
		_, err := p.factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { seen = append(seen, "added") },
			UpdateFunc: func(_, _ any) { seen = append(seen, "updated") },
			DeleteFunc: func(any) { seen = append(seen, "deleted") },
		})
		return err
	}, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "color=red" }))),
		clientgo.ObjectValues(in("default", "a", nil)),
		clientgo.InOrder(
			scenario.Change("paint it", in("default", "a", nil), func(c *corev1.ConfigMap) { c.Labels = map[string]string{"color": "red"} }),
			scenario.Change("paint it again", in("default", "a", nil), func(c *corev1.ConfigMap) { c.Labels["size"] = "2" }),
			scenario.Change("strip it", in("default", "a", nil), func(c *corev1.ConfigMap) { c.Labels = nil }),
		))
	slices.Sort(seen)
	if seen = slices.Compact(seen); r.Verdict != core.Holds || !slices.Equal(seen, []string{"added", "deleted", "updated"}) {
		t.Errorf("%s, seen %v: %v %v", r.Verdict, seen, r.Reasons, summaries(r))
	}
}

// TestClients asks the API server with all sorts of clients, and reads from the informers of dynamic and metadata
// factories.
func TestClients(t *testing.T) {
	ctx, all := t.Context(), metav1.ListOptions{}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	var told []string
	r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
		found, err := discovery.NewDiscoveryClientForConfig(e.Config())
		if err != nil {
			return err
		}
		version, err := found.ServerVersion()
		if err != nil {
			return err
		}
		groups, lists, err := found.ServerGroupsAndResources()
		if err != nil {
			return err
		}
		resources := 0
		for _, list := range lists {
			resources += len(list.APIResources)
		}
		if version.Major != "1" || len(groups) < 10 || resources < 50 {
			return fmt.Errorf("discovered version %s, %d groups and %d resources", version, len(groups), resources)
		}
		untyped, err := dynamic.NewForConfig(e.Config())
		if err != nil {
			return err
		}
		meta, err := metadata.NewForConfig(e.Config())
		if err != nil {
			return err
		}
		trees := dynamicinformer.NewFilteredDynamicSharedInformerFactory(untyped, 0, "default", nil)
		metas := metadatainformer.NewSharedInformerFactory(meta, 0)
		if err := e.Fill(trees, metas); err != nil {
			return err
		}
		queue, err := clientgo.NewQueue[cache.ObjectName](e)
		if err != nil {
			return err
		}
		if _, err := trees.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			u := object.(*unstructured.Unstructured)
			queue.Add(cache.NewObjectName(u.GetNamespace(), u.GetName()))
		}}); err != nil {
			return err
		}
		clientgo.Sync(e, "reader", nil, queue, func(_ context.Context, name cache.ObjectName) error {
			listed, err := untyped.Resource(resource).List(ctx, all)
			if err != nil {
				return err
			}
			metadata, err := meta.Resource(resource).Namespace("other").Get(ctx, "a", metav1.GetOptions{})
			if err != nil {
				return err
			}
			tree, err := trees.ForResource(resource).Lister().ByNamespace("default").Get("a")
			if err != nil {
				return err
			}
			shown, err := metas.ForResource(resource).Lister().List(labels.Everything())
			if err != nil {
				return err
			}
			told = append(told, fmt.Sprintln(name, len(listed.Items), metadata.Labels, tree.(*unstructured.Unstructured).GetKind(), len(shown)))
			return nil
		})
		return nil
	}), clientgo.ObjectValues(in("default", "a", nil), in("other", "a", map[string]string{"color": "red"})))
	want := fmt.Sprintln("default/a", 2, map[string]string{"color": "red"}, "ConfigMap", 2)
	if len(told) == 0 || r.Verdict != core.Holds || slices.ContainsFunc(told, func(s string) bool { return s != want }) {
		t.Errorf("%s: read %q, want %q: %v %v", r.Verdict, told, want, r.Reasons, summaries(r))
	}
}

// register registers a controller that does nothing.
func register(e *clientgo.Environment, controller any) error {
	queue, err := clientgo.NewQueue[string](e)
	if err == nil {
		clientgo.Sync(e, "idle", controller, queue, func(context.Context, string) error { return nil })
	}
	return err
}

// TestMistakes wants what cannot be set up to be an error that says what to change.
func TestMistakes(t *testing.T) {
	client := func(e *clientgo.Environment) kubernetes.Interface { return kubernetes.NewForConfigOrDie(e.Config()) }
	for _, test := range []struct {
		name  string
		setup func(*clientgo.Environment) error
		want  string
	}{
		{"nothing", func(*clientgo.Environment) error { return nil }, "registers no controllers"},
		{"panic", func(*clientgo.Environment) error { panic("no") }, "it panicked: no"},
		{"no factory", func(e *clientgo.Environment) error { return e.Fill(client(e)) }, "make informers with Environment.Informer instead"},
		{"used factory", func(e *clientgo.Environment) error {
			f := informers.NewSharedInformerFactory(client(e), 0)
			f.Core().V1().Pods().Informer()
			return e.Fill(f)
		}, "call Fill as soon as the factory is made"},
		{"no field", func(e *clientgo.Environment) error {
			_, err := clientgo.QueueIn[string](e, &parts{}, "work")
			return err
		}, "has no field work"},
		{"other field", func(e *clientgo.Environment) error {
			_, err := clientgo.QueueIn[int](e, &mirror{}, "queue")
			return err
		}, "a queue with items of type int cannot be put there"},
		{"no queue", func(e *clientgo.Environment) error {
			_, err := clientgo.QueueIn[int](e, &mirror{})
			return err
		}, "has no field that holds a work queue with items of type int"},
		{"items that refer to objects", func(e *clientgo.Environment) error {
			_, err := clientgo.NewQueue[struct {
				name string
				of   [2]struct{ pod *corev1.Pod }
			}](e)
			return err
		}, ".of.pod is no value that can be written down"},
		{"no pointer", func(e *clientgo.Environment) error {
			_, err := clientgo.QueueIn[string](e, mirror{})
			return err
		}, "pass the pointer to the controller"},
		{"queue without limits", func(e *clientgo.Environment) error {
			_, err := clientgo.TakeOver[string](e, workqueue.NewTypedDelayingQueue[string]())
			return err
		}, "pass a queue of NewQueue to the constructor"},
		{"queue of others", func(e *clientgo.Environment) error {
			_, err := clientgo.TakeOver[string](e, workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[int]()))
			return err
		}, "cannot hold a queue with items of type string"},
		{"wrapped factory", func(e *clientgo.Environment) error {
			return e.Fill(&struct{ inner any }{client(e)})
		}, "it has no map called informers"},
		{"informer of one's own", func(e *clientgo.Environment) error {
			pods := coreinformers.NewPodInformer(client(e), "default", 0, cache.Indexers{})
			return register(e, &struct {
				within map[string]cache.SharedIndexInformer
			}{map[string]cache.SharedIndexInformer{"pods": pods}})
		}, ".within[pods] is an informer, or a lister of one, that the set-up did not get from the environment"},
		{"lister of one's own", func(e *clientgo.Environment) error {
			configMaps := coreinformers.NewConfigMapInformer(client(e), "default", 0, cache.Indexers{})
			return register(e, &parts{configMaps: corelisters.NewConfigMapLister(configMaps.GetIndexer())})
		}, "parts.configMaps is an informer, or a lister of one"},
		{"factory that was not filled", func(e *clientgo.Environment) error {
			f := informers.NewSharedInformerFactory(client(e), 0)
			return register(e, &parts{configMaps: f.Core().V1().ConfigMaps().Lister()})
		}, "parts.configMaps is an informer, or a lister of one"},
		{"factory of one's own", func(e *clientgo.Environment) error {
			return register(e, &struct {
				factory informers.SharedInformerFactory
			}{informers.NewSharedInformerFactory(client(e), 0)})
		}, ".factory is an informer, or a lister of one"},
		{"informer that is asked for later", func(e *clientgo.Environment) error {
			return register(e, &struct{ pods coreinformers.PodInformer }{informers.NewSharedInformerFactory(client(e), 0).Core().V1().Pods()})
		}, ".pods is an informer, or a lister of one"},
		{"method of an informer", func(e *clientgo.Environment) error {
			return register(e, &struct{ synced []cache.InformerSynced }{[]cache.InformerSynced{informers.NewSharedInformerFactory(client(e), 0).Core().V1().Pods().Informer().HasSynced}})
		}, ".synced[0] is an informer, or a lister of one"},
		{"method of an informer under another name", func(e *clientgo.Environment) error {
			var pods cache.SharedInformer = coreinformers.NewPodInformer(client(e), "default", 0, cache.Indexers{})
			return register(e, &struct{ run func(<-chan struct{}) }{pods.Run})
		}, ".run is an informer, or a lister of one"},
		{"informer of a resource", func(e *clientgo.Environment) error {
			pods, err := informers.NewSharedInformerFactory(client(e), 0).ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
			if err != nil {
				return err
			}
			return register(e, &struct{ pods informers.GenericInformer }{pods})
		}, ".pods is an informer, or a lister of one"},
		{"untyped informer", func(e *clientgo.Environment) error {
			f := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(e.Config()), 0)
			return register(e, &struct{ pods informers.GenericInformer }{f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))})
		}, ".pods is an informer, or a lister of one"},
		{"controller of client-go", func(e *clientgo.Environment) error {
			lists := cache.NewListWatchFromClient(client(e).CoreV1().RESTClient(), "pods", "default", fields.Everything())
			_, c := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: lists, ObjectType: &corev1.Pod{}, Handler: cache.ResourceEventHandlerFuncs{}})
			return register(e, &struct{ informer cache.Controller }{c})
		}, ".informer is an informer of cache.NewInformer, NewIndexerInformer or NewInformerWithOptions, which is not modelled"},
		{"items", func(e *clientgo.Environment) error {
			_, err := clientgo.NewQueue[any](e)
			return err
		}, "name the type that they have"},
		{"items that cannot be read again", func(e *clientgo.Environment) error {
			queue, err := clientgo.NewQueue[struct{ Of any }](e)
			queue.Add(struct{ Of any }{1})
			return err
		}, "is not the same when it is written as JSON and read again"},
		{"a request", func(e *clientgo.Environment) error {
			queue, err := clientgo.NewQueue[string](e)
			if err != nil {
				return err
			}
			clientgo.Sync(e, "c", nil, queue, func(context.Context, string) error { return nil })
			_, err = client(e).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
			return err
		}, "answers only once controllers run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := clientgo.New(scheme.Scheme, clientgo.Setup(test.setup))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// pair is an item of a type of its own.
type pair struct{ Kind, Name string }

// TestItems wants items of all sorts of types to come back as they were added.
func TestItems(t *testing.T) {
	t.Run("struct", func(t *testing.T) { comesBack(t, pair{"ConfigMap", "a/b"}) })
	t.Run("object name", func(t *testing.T) { comesBack(t, cache.NewObjectName("", "a")) })
	t.Run("text", func(t *testing.T) { comesBack(t, "a/b/c") })
	t.Run("number", func(t *testing.T) { comesBack(t, 7) })
	t.Run("hidden", func(t *testing.T) {
		comesBack(t, hidden{kind: "Pod", at: -3, bits: [2]uint8{1, 255}, half: 0.5, Shown: pair{"ConfigMap", "a/b"}, tagged: tagged{Name: `a"b`}})
	})
}

// hidden is an item of which JSON shows little.
type hidden struct {
	kind  types.UID
	at    int
	bits  [2]uint8
	half  float32
	Shown pair
	tagged
}

type tagged struct {
	Name string `json:"-"`
}

func comesBack[T comparable](t *testing.T, item T) {
	var got *T
	r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
		queue, err := clientgo.NewQueue[T](e)
		if err != nil {
			return err
		}
		queue.Untyped().Add(item)
		clientgo.Sync(e, "c", nil, queue, func(_ context.Context, item T) error {
			got = ptr.To(item)
			return nil
		})
		return nil
	}))
	if r.Verdict != core.Holds || got == nil || *got != item {
		t.Errorf("%s, got %v, want %v: %v", r.Verdict, got, item, r.Reasons)
	}
}

// TestTwoControllers registers two controllers of one set-up, of which one enqueues for the other.
func TestTwoControllers(t *testing.T) {
	r := check(t, orrery.Options{}, clientgo.Setup(setupOf(func(e *clientgo.Environment, p *parts) error {
		second, err := clientgo.NewQueue[string](e)
		if err != nil {
			return err
		}
		second.Add("start")
		p.sync = func(_ context.Context, key string) error {
			second.Add(key)
			return nil
		}
		p.second = func() {
			clientgo.Sync(e, "second", nil, second, func(ctx context.Context, _ string) error { return p.label(ctx, "a") })
		}
		return nil
	})), clientgo.ObjectValues(in("default", "a", nil)))
	if r.Verdict != core.Holds || r.Outcomes != 1 {
		t.Errorf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
	}
	for _, o := range r.OutcomeList[0].Objects {
		if labels, _ := o.Fields.(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any); labels["done"] != "yes" {
			t.Errorf("it ends with labels %v", labels)
		}
	}
}

// TestDeletionsThatAreMissed has handlers that take what they get about a deletion for the object. Where caches may be
// late, the watch may be broken as well, and they panic: it is said without the rule for that.
func TestDeletionsThatAreMissed(t *testing.T) {
	lag := []orrery.Staleness{{Rule: orrery.Lag(1)}}
	for name, test := range map[string]struct {
		takes   func(object any)
		options orrery.Options
		want    core.Verdict
	}{
		"it knows them":      {func(any) {}, orrery.Options{Stale: lag}, core.Holds},
		"it does not":        {func(object any) { _ = object.(*corev1.ConfigMap) }, orrery.Options{Stale: lag}, core.Inconclusive},
		"nothing goes wrong": {func(object any) { _ = object.(*corev1.ConfigMap) }, orrery.Options{}, core.Holds},
		"it gets one":        {func(object any) { _ = object.(*corev1.ConfigMap) }, orrery.Options{Stale: []orrery.Staleness{{Rule: orrery.Relist}}}, core.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkAny(t, test.options, clientgo.Setup(setupOf(func(_ *clientgo.Environment, p *parts) error {
				p.change = test.takes
				return nil
			})), clientgo.ObjectValues(in("default", "a", nil)), clientgo.Scenario(scenario.Delete(in("default", "a", nil))))
			says := slices.ContainsFunc(r.Reasons, func(reason string) bool {
				return strings.Contains(reason, "cache.DeletedFinalStateUnknown, as after a broken watch")
			})
			if r.Verdict != test.want || says != (test.want == core.Inconclusive) {
				t.Errorf("%s, want %s: %v %v", r.Verdict, test.want, r.Reasons, summaries(r))
			}
		})
	}
}

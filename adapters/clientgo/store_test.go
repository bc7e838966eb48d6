package clientgo_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/core"
)

// TestPutBack has a controller put into the store of its informer what the API server has answered. Where the informer
// shows that already it is as if nobody had, and where its cache is behind, or something else is put there, the check
// is inconclusive.
func TestPutBack(t *testing.T) {
	asAnswered := func(c *corev1.ConfigMap) any { return c }
	for name, test := range map[string]struct {
		stale []orrery.Staleness
		put   func(*corev1.ConfigMap) any
		holds bool
	}{
		"fresh":         {put: asAnswered, holds: true},
		"own writes":    {stale: []orrery.Staleness{{Rule: orrery.OwnWrites(1)}}, put: asAnswered, holds: true},
		"behind":        {stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}, put: asAnswered},
		"changed":       {put: func(c *corev1.ConfigMap) any { c.Labels["done"] = "no"; return c }},
		"another":       {put: func(c *corev1.ConfigMap) any { c.Name = "b"; return c }},
		"without a key": {put: func(*corev1.ConfigMap) any { return "a" }},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{Stale: test.stale}, clientgo.Setup(setupOf(func(_ *clientgo.Environment, p *parts) error {
				store := p.factory.Core().V1().ConfigMaps().Informer().GetStore()
				p.sync = func(ctx context.Context, _ string) error {
					c, err := p.configMaps.ConfigMaps("default").Get("a")
					if err != nil || c.Labels["done"] != "" {
						return err
					}
					c = c.DeepCopy()
					c.Labels = map[string]string{"done": "yes"}
					c, err = p.client.CoreV1().ConfigMaps("default").Update(ctx, c, metav1.UpdateOptions{})
					if err != nil {
						return err
					}
					return store.Update(test.put(c))
				}
				return nil
			})), clientgo.ObjectValues(in("default", "a", nil)))
			if test.holds && (r.Verdict != core.Holds || r.Outcomes != 1) {
				t.Errorf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, summaries(r))
			}
			const reason = "writing into the store of the informer of ConfigMap: the store of an informer belongs to the informer, and only what it shows already may be put there"
			if !test.holds && (r.Verdict != core.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), reason)) {
				t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
			}
		})
	}
}

// TestPutBackElsewhere has controllers put what the API server has answered into a store of trees, through a Go type
// that leaves empty fields behind, and into one that was taken over.
func TestPutBackElsewhere(t *testing.T) {
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
	}
	marked := func(ctx context.Context, client kubernetes.Interface) (*corev1.Pod, error) {
		found, err := client.CoreV1().Pods("default").Get(ctx, "a", metav1.GetOptions{})
		if err != nil || found.Labels["done"] != "" {
			return found, err
		}
		found.Labels = map[string]string{"done": "yes"}
		return client.CoreV1().Pods("default").Update(ctx, found, metav1.UpdateOptions{})
	}
	for name, put := range map[string]func(*clientgo.Environment, kubernetes.Interface) (func(*corev1.Pod) error, error){
		"trees": func(e *clientgo.Environment, _ kubernetes.Interface) (func(*corev1.Pod) error, error) {
			client, err := dynamic.NewForConfig(e.Config())
			if err != nil {
				return nil, err
			}
			factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
			if err := e.Fill(factory); err != nil {
				return nil, err
			}
			store := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer().GetStore()
			return func(p *corev1.Pod) error {
				fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
				if err != nil {
					return err
				}
				tree := &unstructured.Unstructured{Object: fields}
				tree.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
				return store.Add(tree)
			}, nil
		},
		"taken over": func(e *clientgo.Environment, client kubernetes.Interface) (func(*corev1.Pod) error, error) {
			made := &struct{ pods cache.SharedIndexInformer }{cache.NewSharedIndexInformer(
				cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything()), &corev1.Pod{}, 0, cache.Indexers{})}
			if err := e.TakeOverInformers(made); err != nil {
				return nil, err
			}
			behind := reflect.ValueOf(made.pods.GetStore()).Elem().FieldByName("cacheStorage")
			storage := reflect.NewAt(behind.Type(), behind.Addr().UnsafePointer()).Elem().Interface().(cache.ThreadSafeStore)
			return func(p *corev1.Pod) error {
				storage.Add("default/a", p)
				storage.Update("default/a", p)
				return made.pods.GetStore().Update(p)
			}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, orrery.Options{}, clientgo.Setup(func(e *clientgo.Environment) error {
				client, err := kubernetes.NewForConfig(e.Config())
				if err != nil {
					return err
				}
				putBack, err := put(e, client)
				if err != nil {
					return err
				}
				queue, err := clientgo.NewQueue[string](e)
				if err != nil {
					return err
				}
				queue.Add("a")
				clientgo.Sync(e, "marker", nil, queue, func(ctx context.Context, _ string) error {
					p, err := marked(ctx, client)
					if err != nil {
						return err
					}
					return putBack(p)
				})
				return nil
			}), clientgo.ObjectValues(pod("a")))
			if r.Verdict != core.Holds {
				t.Errorf("%s: %v %v", r.Verdict, r.Reasons, summaries(r))
			}
		})
	}
}

package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/core"
)

// inNamespaces are the kinds whose objects go with their Namespaces.
func inNamespaces() []core.Kind { return []core.Kind{"Pod", "ConfigMap", "Secret"} }

// namespaces runs the real controller of Namespaces, which looks at all of them every five minutes.
func namespaces(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	of := client.(clientset)
	contents, err := metadata.NewForConfig(of.config)
	if err != nil {
		return nil, err
	}
	discover := func() ([]*metav1.APIResourceList, error) {
		verbs := metav1.Verbs{"delete", "deletecollection", "list"}
		return []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "pods", Namespaced: true, Kind: "Pod", Verbs: verbs},
			{Name: "configmaps", Namespaced: true, Kind: "ConfigMap", Verbs: verbs}, {Name: "secrets", Namespaced: true, Kind: "Secret", Verbs: verbs},
		}}}, nil
	}
	const period = 5 * time.Minute
	informer := factory.Core().V1().Namespaces().Informer().(*informer)
	c := namespace.NewNamespaceController(ctx, client, contents, discover, factory.Core().V1().Namespaces(), period, corev1.FinalizerKubernetes)
	return func(ctx context.Context) {
		go func() {
			for ctx.Err() == nil {
				select {
				case <-ctx.Done():
				case <-time.After(period):
				}
				for _, object := range informer.indexer.List() {
					informer.notify(object.(*corev1.Namespace), object.(*corev1.Namespace))
				}
			}
		}()
		c.Run(ctx, 1)
	}, nil
}

func standInNamespaces(server *kube.Server) (core.Strategy, error) {
	return players.NamespaceController(server, inNamespaces()...)
}

// contents are the objects in Namespaces.
func contents(w *world) []core.Object {
	var all []core.Object
	for _, kind := range inNamespaces() {
		all = append(all, w.List(kind, "")...)
	}
	return all
}

// onContent is the step of doing something to an object in a Namespace, by its number among all.
func onContent(what string, number int, do func(*world, core.Object)) step {
	return step{name: fmt.Sprint(what, " object ", number), do: func(w *world) {
		if all := contents(w); len(all) > 0 {
			do(w, all[number%len(all)])
		}
	}}
}

// someFinalizers are none, most of the time.
func someFinalizers(random *rand.Rand) []string {
	return [][]string{nil, nil, {"example.com/f"}, {"example.com/g"}, {"example.com/f", "example.com/g"}}[random.IntN(5)]
}

func TestNamespaces(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind("Namespace")
	random(t, func(t *testing.T, random *rand.Rand) {
		name := func() string { return pick(random, "n", "m") }
		made := func() step {
			object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name(), Finalizers: pick(random, nil, nil, nil, []string{"example.com/f"})}}
			object.Spec.Finalizers = pick(random, nil, nil, nil, []corev1.FinalizerName{"kubernetes", "example.com/n"}, []corev1.FinalizerName{"example.com/n"})
			text := encode(kind, object)
			return step{name: "add " + string(text), do: func(w *world) { w.Do(&kube.Request{Verb: kube.Create, Kind: kind, Body: text}) }}
		}
		content := func() step {
			meta := metav1.ObjectMeta{Namespace: name(), Name: fmt.Sprint("o", random.IntN(4)), Finalizers: someFinalizers(random)}
			of := corev1.SchemeGroupVersion.WithKind(pick(random, "Pod", "Pod", "ConfigMap", "Secret"))
			text := encode(of, &metav1.PartialObjectMetadata{ObjectMeta: meta})
			if of.Kind == "Pod" {
				// The real controller says of Pods that take longer than their grace periods that it could not delete
				// them.
				spec := template("i").Spec
				spec.TerminationGracePeriodSeconds = ptr.To[int64](1e9)
				text = encode(of, &corev1.Pod{ObjectMeta: meta, Spec: spec})
			}
			return step{name: "add " + string(text), do: func(w *world) {
				w.Do(&kube.Request{Verb: kube.Create, Kind: of, Namespace: meta.Namespace, Body: text})
			}}
		}
		deleted := func() step {
			of := name()
			return step{name: "delete Namespace " + of, do: func(w *world) { w.Do(&kube.Request{Verb: kube.Delete, Kind: kind, Name: of}) }}
		}
		changed := func(w *world, o core.Object, fields map[string]any) {
			w.Do(&kube.Request{
				Verb: kube.Patch, Kind: corev1.SchemeGroupVersion.WithKind(string(o.Key.Kind)), Namespace: o.Key.Namespace, Name: o.Key.Name,
				PatchType: types.MergePatchType, Body: mustJSON(map[string]any{"metadata": fields}),
			})
		}
		compare(t, scenario(random, together(made(), made(), content(), content(), content()), func() step {
			number := random.IntN(12)
			switch random.IntN(22) {
			case 0, 1:
				return made()
			case 2, 3, 4, 5:
				return deleted()
			case 6, 7, 8:
				finalizer := pick(random, "example.com/f", "example.com/g")
				return onContent("take "+finalizer+" from", number, func(w *world, o core.Object) {
					left := slices.DeleteFunc(metaOf(o).GetFinalizers(), func(f string) bool { return f == finalizer })
					changed(w, o, map[string]any{"finalizers": left})
				})
			case 9:
				return onContent("label", number, func(w *world, o core.Object) {
					changed(w, o, map[string]any{"labels": map[string]string{"l": fmt.Sprint(number)}})
				})
			case 10:
				policy := pick(random, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan)
				return onContent("delete "+string(policy), number, func(w *world, o core.Object) {
					w.Do(&kube.Request{
						Verb: kube.Delete, Kind: corev1.SchemeGroupVersion.WithKind(string(o.Key.Kind)), Namespace: o.Key.Namespace, Name: o.Key.Name, Propagation: string(policy),
					})
				})
			case 11:
				of := name()
				return step{name: "let Namespace " + of + " end", do: func(w *world) {
					w.Do(&kube.Request{Verb: kube.Patch, Kind: kind, Name: of, PatchType: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":null}}`)})
				}}
			case 12:
				of := name()
				left := pick(random, nil, nil, []corev1.FinalizerName{"kubernetes"}, []corev1.FinalizerName{"example.com/n"})
				return step{name: fmt.Sprint("finalize Namespace ", of, " but for ", left), do: func(w *world) {
					body := encode(kind, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: of}, Spec: corev1.NamespaceSpec{Finalizers: left}})
					w.Do(&kube.Request{Verb: kube.Update, Kind: kind, Subresource: "finalize", Name: of, Body: body})
				}}
			case 13, 14, 15, 16:
				return podSteps(random, true)
			}
			return content()
		}), []companions.Companion{standInNamespaces}, namespaces)
	})
}

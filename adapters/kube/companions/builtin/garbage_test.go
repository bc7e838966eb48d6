package builtin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/adapters/kube/players"
	"github.com/orrery-dev/orrery/core"
)

// collected are the kinds whose objects are collected.
func collected() []core.Kind { return []core.Kind{"ConfigMap", "Secret"} }

// resetting is a mapper that need not be reset.
type resetting struct{ meta.RESTMapper }

func (resetting) Reset() {}

// discovered tells the collector of the kinds that it is to collect.
type discovered struct {
	discovery.ServerResourcesInterface
}

func (discovered) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	verbs := metav1.Verbs{"delete", "list", "watch"}
	return []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{
		{Name: "configmaps", Namespaced: true, Kind: "ConfigMap", Verbs: verbs}, {Name: "secrets", Namespaced: true, Kind: "Secret", Verbs: verbs},
	}}}, nil
}

// collector runs the real garbage collector.
func collector(ctx context.Context, factory informers.SharedInformerFactory, client kubernetes.Interface) (func(context.Context), error) {
	of := client.(clientset)
	dependents, err := metadata.NewForConfig(of.config)
	if err != nil {
		return nil, err
	}
	started := make(chan struct{})
	close(started)
	c, err := garbagecollector.NewGarbageCollector(ctx, client, dependents, resetting{of.mapper}, nil, made{factory}, started)
	return func(ctx context.Context) {
		syncing, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Sync(syncing, discovered{}, 10000*time.Hour)
		}()
		c.Run(ctx, 1, time.Hour)
		stop()
		<-ended
	}, err
}

// made are informers that run already.
type made struct {
	informers.SharedInformerFactory
}

func (made) Start(<-chan struct{}) {}

// standInCollector is what stands in for the garbage collector.
func standInCollector(server *kube.Server) (core.Strategy, error) {
	return players.GarbageCollector(server, collected()...)
}

// ownable are the objects that are collected.
func ownable(w *world) []core.Object {
	var all []core.Object
	for _, kind := range collected() {
		all = append(all, w.List(kind, "")...)
	}
	return all
}

// owned is the step of creating an object with owners: others, by their numbers, and one that is not there if absent is
// true. Its name is its own: what remembers that a uid is gone would be deceived by an object of the same name, which
// has the same uid here.
func owned(random *rand.Rand, name string) step {
	kind := corev1.SchemeGroupVersion.WithKind(pick(random, "ConfigMap", "Secret"))
	numbers, blocks, absent, finalizer := []int{random.IntN(8), random.IntN(8)}[:random.IntN(3)], random.IntN(2) == 0, random.IntN(8) == 0, random.IntN(6) == 0
	return step{name: fmt.Sprint("create ", kind.Kind, " ", name, " of ", numbers, ", blocking: ", blocks, ", absent: ", absent, ", finalizer: ", finalizer), do: func(w *world) {
		object := metav1.PartialObjectMetadata{ObjectMeta: named(name)}
		if finalizer {
			object.Finalizers = []string{"example.com/f"}
		}
		object.OwnerReferences = references(w, numbers, blocks)
		if absent {
			object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "absent"})
		}
		w.Do(&kube.Request{Verb: kube.Create, Kind: kind, Namespace: "default", Body: encode(kind, &object)})
	}}
}

// references are those to objects, by their numbers among all. The real collector does not look at what begins to
// belong to an object that is being deleted.
func references(w *world, numbers []int, blocks bool) []metav1.OwnerReference {
	var all []metav1.OwnerReference
	there := ownable(w)
	for _, number := range numbers {
		if len(there) == 0 {
			break
		}
		owner := there[number%len(there)]
		uid := metaOf(owner).GetUID()
		if metaOf(owner).GetDeletionTimestamp() != nil || slices.ContainsFunc(all, func(r metav1.OwnerReference) bool { return r.UID == uid }) {
			continue
		}
		all = append(all, metav1.OwnerReference{APIVersion: "v1", Kind: string(owner.Key.Kind), Name: owner.Key.Name, UID: uid, BlockOwnerDeletion: ptr.To(blocks)})
	}
	return all
}

// onOwnable is the step of doing something to an object that is collected, by its number among all.
func onOwnable(what string, number int, do func(*world, core.Object)) step {
	return step{name: fmt.Sprint(what, " object ", number), do: func(w *world) {
		if all := ownable(w); len(all) > 0 {
			do(w, all[number%len(all)])
		}
	}}
}

func changed(w *world, o core.Object, fields map[string]any) {
	w.Do(&kube.Request{
		Verb: kube.Patch, Kind: corev1.SchemeGroupVersion.WithKind(string(o.Key.Kind)), Namespace: o.Key.Namespace, Name: o.Key.Name,
		PatchType: types.MergePatchType, Body: mustJSON(map[string]any{"metadata": fields}),
	})
}

func TestGarbageCollection(t *testing.T) {
	random(t, func(t *testing.T, random *rand.Rand) {
		names := 0
		next := func() step {
			names++
			return owned(random, fmt.Sprintf("o%02d", names))
		}
		// What becomes of an object that waits for others depends on which of them is looked at first. The real
		// collector has an order of its own.
		compareOrders(t, scenario(random, together(next(), next(), next()), func() step {
			number := random.IntN(12)
			switch random.IntN(12) {
			case 0, 1, 2:
				policy := pick(random, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan)
				return onOwnable("delete "+strings.ToLower(string(policy)), number, func(w *world, o core.Object) {
					if metaOf(o).GetDeletionTimestamp() != nil {
						return // the real collector begins with the policy that it has seen first
					}
					if policy == metav1.DeletePropagationForeground && len(metaOf(o).GetFinalizers()) > 0 {
						return // it takes it for one that waits for its dependents as long as another finalizer keeps it, and finds circles where there are none
					}
					w.Do(&kube.Request{
						Verb: kube.Delete, Kind: corev1.SchemeGroupVersion.WithKind(string(o.Key.Kind)), Namespace: o.Key.Namespace, Name: o.Key.Name, Propagation: string(policy),
					})
				})
			case 3:
				return onOwnable("let go of", number, func(w *world, o core.Object) { changed(w, o, map[string]any{"ownerReferences": nil}) })
			case 4:
				numbers, blocks := []int{random.IntN(8)}, random.IntN(2) == 0
				return onOwnable(fmt.Sprint("give to ", numbers, ", blocking: ", blocks, ":"), number, func(w *world, o core.Object) {
					changed(w, o, map[string]any{"ownerReferences": references(w, numbers, blocks)})
				})
			case 5, 6:
				return onOwnable("let end", number, func(w *world, o core.Object) {
					left := slices.DeleteFunc(metaOf(o).GetFinalizers(), func(f string) bool { return f == "example.com/f" })
					changed(w, o, map[string]any{"finalizers": left})
				})
			}
			return next()
		}), []companions.Companion{standInCollector}, collector)
	})
}

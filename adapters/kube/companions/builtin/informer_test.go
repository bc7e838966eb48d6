package builtin

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/orrery-dev/orrery/core"
)

// informer is notified of changes by whoever makes them.
type informer struct {
	cache.SharedIndexInformer // nothing else is called

	indexer  cache.Indexer
	handlers []cache.ResourceEventHandler
}

func newInformer() *informer {
	return &informer{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}

func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	return synced{}, nil
}

func (i *informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) AddIndexers(indexers cache.Indexers) error { return i.indexer.AddIndexers(indexers) }
func (i *informer) GetIndexer() cache.Indexer                 { return i.indexer }
func (i *informer) GetStore() cache.Store                     { return i.indexer }
func (i *informer) HasSynced() bool                           { return true }
func (i *informer) GetController() cache.Controller           { return running{} }

// running is the controller of an informer that needs none.
type running struct{ synced }

func (running) Run(stop <-chan struct{})           { <-stop }
func (running) RunWithContext(ctx context.Context) { <-ctx.Done() }
func (running) LastSyncResourceVersion() string    { return "" }

// synced says that all handlers have been notified of all.
type synced struct{}

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return nil }

// versions are the objects before and after a change, nil where there is none.
func versions(c change) (old, now runtime.Object, err error) {
	if c.old != nil {
		if old, err = shown(c.old); err != nil {
			return nil, nil, err
		}
	}
	if c.new != nil {
		now, err = shown(c.new)
	}
	return old, now, err
}

// apply brings the cache up to date.
func (i *informer) apply(old, now runtime.Object) error {
	if now == nil {
		return i.indexer.Delete(old)
	}
	return i.indexer.Add(now)
}

// notify notifies the handlers.
func (i *informer) notify(old, now runtime.Object) {
	for _, handler := range i.handlers {
		switch {
		case old == nil:
			handler.OnAdd(now, false)
		case now == nil:
			handler.OnDelete(old)
		default:
			handler.OnUpdate(old, now)
		}
	}
}

// watch returns informers for a world. The caches show all changes that are made at once before a handler is notified
// of any, after the latency.
func watch(w *world, latency time.Duration) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(nil, 0)
	of := map[core.Kind]*informer{}
	for kind, object := range map[core.Kind]runtime.Object{
		"Pod": &corev1.Pod{}, "ConfigMap": &corev1.ConfigMap{}, "Secret": &corev1.Secret{}, "Namespace": &corev1.Namespace{},
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{}, "PersistentVolume": &corev1.PersistentVolume{}, "StorageClass.storage.k8s.io": &storagev1.StorageClass{}, "Job.batch": &batchv1.Job{},
		"ReplicaSet.apps": &appsv1.ReplicaSet{}, "StatefulSet.apps": &appsv1.StatefulSet{},
		"Deployment.apps": &appsv1.Deployment{}, "ControllerRevision.apps": &appsv1.ControllerRevision{},
		"DaemonSet.apps": &appsv1.DaemonSet{}, "CronJob.batch": &batchv1.CronJob{}, "Service": &corev1.Service{}, "Node": &corev1.Node{}, "EndpointSlice.discovery.k8s.io": &discoveryv1.EndpointSlice{},
		"Endpoints": &corev1.Endpoints{}, //nolint:staticcheck // deprecated, and still used by many
	} {
		of[kind] = newInformer()
		factory.InformerFor(object, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return of[kind] })
	}
	others, late := w.changed, &lateness{latency: latency, turn: make(chan struct{}, 1)}
	w.changed = func(all []change) []func() {
		notify := others(all)
		for _, c := range all {
			i := of[c.key.Kind]
			if i == nil {
				continue
			}
			old, now, err := versions(c)
			if err == nil {
				err = i.apply(old, now)
			}
			if err != nil {
				w.refused = append(w.refused, fmt.Sprintf("%s: %v", c.key, err))
				continue
			}
			notify = append(notify, func() { late.call(func() { i.notify(old, now) }) })
		}
		return notify
	}
	return factory
}

// lateness calls functions after a time, one after the other.
type lateness struct {
	latency time.Duration
	// turn holds something while a function is called. It is a channel, and no mutex, so that time passes if that
	// function waits.
	turn chan struct{}

	mu      sync.Mutex
	waiting []func()
}

func (l *lateness) call(f func()) {
	if l.latency == 0 {
		f()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, f)
	time.AfterFunc(l.latency, func() {
		l.turn <- struct{}{}
		l.first()()
		<-l.turn
	})
}

// first takes the function that waits the longest.
func (l *lateness) first() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.waiting[0]
	l.waiting = l.waiting[1:]
	return f
}

package observe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/record/live"
)

// NewRecorder returns a recorder for controllers that have no manager, such as those on client-go's informers and work
// queues. What goes wrong with the recording is told to [Options.Report]. End it with [Recorder.Close].
//
//	recorder := observe.NewRecorder(observe.Options{Folder: folder, Report: report})
//	defer recorder.Close()
//	config = recorder.Config(config, scheme)                                                          // for all clients
//	informer := recorder.Informer("widgets", scheme, &v1.Widget{}, factory.Example().V1().Widgets().Informer()) // its handlers, and what listers read
//	lister := listers.NewWidgetLister(informer.GetIndexer())
//	queue := observe.Queue(recorder, "widgets", workqueue.NewTypedRateLimitingQueue(limiter))         // what is in the queue, and who works on it
//
// A reconcile goes from when a worker gets a request from the queue to when it tells the queue that it is done. What it
// returned is not known: the recording has whether it added its request again. Calls and reads belong to the reconcile
// that goes on in their goroutine; what a reconcile does in other goroutines counts as done outside of one, unless
// [Recorder.Within] says otherwise.
func NewRecorder(options Options) *Recorder { return newRecorder(options) }

// Config returns a copy of a configuration. What clients that are made of it send is recorded with the answers, except
// for watches, and for the lists that fill caches.
func (r *Recorder) Config(config *rest.Config, scheme *runtime.Scheme) *rest.Config {
	observed := rest.CopyConfig(config)
	observed.Wrap(newRequests(r, scheme))
	return observed
}

// Handler returns a handler that records the events that it gets for a controller, and leads what it adds to a queue of
// [Queue] to them.
func (r *Recorder) Handler(controller string, scheme *runtime.Scheme, handler toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return &observedHandler{handler, r, scheme, controller}
}

// Informer returns an informer of objects like the given one that records what its handlers are told, and what
// reconciles read from its store and its indexer, as listers do.
func (r *Recorder) Informer(controller string, scheme *runtime.Scheme, of client.Object, informer toolscache.SharedIndexInformer) toolscache.SharedIndexInformer {
	return &observedSharedInformer{informer, r, scheme, r.kinds.of(scheme, of), controller}
}

// observedSharedInformer records for one controller.
type observedSharedInformer struct {
	toolscache.SharedIndexInformer
	recorder   *Recorder
	scheme     *runtime.Scheme
	kind       core.Kind
	controller string
}

// AddEventHandler implements toolscache.SharedInformer.
func (i *observedSharedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.recorder.Handler(i.controller, i.scheme, h))
}

// AddEventHandlerWithResyncPeriod implements toolscache.SharedInformer.
func (i *observedSharedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.recorder.Handler(i.controller, i.scheme, h), period)
}

// AddEventHandlerWithOptions implements toolscache.SharedInformer.
func (i *observedSharedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.recorder.Handler(i.controller, i.scheme, h), options)
}

// GetStore implements toolscache.SharedInformer.
func (i *observedSharedInformer) GetStore() toolscache.Store { return i.GetIndexer() }

// GetIndexer implements toolscache.SharedIndexInformer.
func (i *observedSharedInformer) GetIndexer() toolscache.Indexer {
	return &observedIndexer{i.SharedIndexInformer.GetIndexer(), i.recorder, i.scheme, i.kind}
}

// observedIndexer records what is read.
type observedIndexer struct {
	toolscache.Indexer
	recorder *Recorder
	scheme   *runtime.Scheme
	kind     core.Kind
}

// Get implements toolscache.Store.
func (i *observedIndexer) Get(o any) (item any, exists bool, err error) {
	key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(o)
	if err != nil {
		return i.Indexer.Get(o)
	}
	return i.GetByKey(key)
}

// GetByKey implements toolscache.Store.
func (i *observedIndexer) GetByKey(key string) (item any, exists bool, err error) {
	c := i.recorder.cachedRead(i.scheme, live.Get)
	item, exists, err = i.Indexer.GetByKey(key)
	if c != nil {
		namespace, name, _ := toolscache.SplitMetaNamespaceKey(key) // a key of another form names nothing that can be recorded
		c.entry.Object = core.Key{Kind: i.kind, Namespace: namespace, Name: name}
		i.ends(c, err, item)
	}
	return item, exists, err
}

// List implements toolscache.Store.
func (i *observedIndexer) List() []any {
	return i.listed("", func() ([]any, error) { return i.Indexer.List(), nil }).items
}

// Index implements toolscache.Indexer.
func (i *observedIndexer) Index(name string, o any) ([]any, error) {
	namespace := ""
	if object, ok := o.(interface{ GetNamespace() string }); ok && name == toolscache.NamespaceIndex {
		namespace = object.GetNamespace()
	}
	read := i.listed(namespace, func() ([]any, error) { return i.Indexer.Index(name, o) })
	return read.items, read.err
}

// ByIndex implements toolscache.Indexer.
func (i *observedIndexer) ByIndex(name, value string) ([]any, error) {
	namespace := ""
	if name == toolscache.NamespaceIndex {
		namespace = value
	}
	read := i.listed(namespace, func() ([]any, error) { return i.Indexer.ByIndex(name, value) })
	return read.items, read.err
}

// reading is what a read gave.
type reading struct {
	items []any
	err   error
}

// listed reads many objects. Which of them a lister passes on is not known here.
func (i *observedIndexer) listed(namespace string, read func() ([]any, error)) reading {
	c := i.recorder.cachedRead(i.scheme, live.List)
	items, err := read()
	if c != nil {
		c.entry.Object = core.Key{Kind: i.kind, Namespace: namespace}
		i.ends(c, err, items...)
	}
	return reading{items, err}
}

// ends records a read.
func (i *observedIndexer) ends(c *call, err error, items ...any) {
	defer i.recorder.contain()
	var objects []client.Object
	for _, item := range items {
		if o, ok := item.(client.Object); ok {
			objects = append(objects, o)
		}
	}
	if err == nil && c.entry.Verb == live.Get && len(objects) == 0 {
		c.refused(&live.Failure{Code: 404, Reason: "NotFound", Message: "it is not in the cache"})
		return
	}
	c.ends(err, objects...)
}

// cachedRead begins a read of a cache in this goroutine. Outside of reconciles, event handlers and informers read all
// the time: nothing is recorded of that.
func (r *Recorder) cachedRead(scheme *runtime.Scheme, verb string) *call {
	defer r.contain()
	if r.current.here() != nil {
		return nil
	}
	within := r.workers.here()
	if within == nil {
		return nil
	}
	c, _ := r.call(context.WithValue(context.Background(), runKey{}, within), scheme, alwaysCached, verb)
	return c
}

// Within returns a context under which requests belong to the reconcile that goes on in this goroutine, whichever
// goroutine sends them. Without a reconcile here it returns the given context.
//
//	ctx = recorder.Within(ctx) // at the beginning of sync
//	group.Go(func() error { return client.CoreV1().Pods(namespace).Delete(ctx, name, options) })
//
// Reads from listers have no context: in other goroutines, they are not recorded. With a manager, the context of a
// reconcile is such a one already.
func (r *Recorder) Within(ctx context.Context) (within context.Context) {
	within = ctx
	defer r.contain()
	if here := r.workers.here(); here != nil {
		within = context.WithValue(ctx, runKey{}, here)
	}
	return within
}

// runOf returns the reconcile to which what is done under a context belongs: the one that the context names, or else
// the one that goes on in this goroutine.
func (r *Recorder) runOf(ctx context.Context) *run {
	if named, ok := ctx.Value(runKey{}).(*run); ok && named.recorder == r {
		return named
	}
	return r.workers.here()
}

// workers are the reconciles that go on, by their goroutines.
type workers struct {
	count atomic.Int64
	runs  sync.Map
}

// begin notes that a reconcile goes on in a goroutine.
func (w *workers) begin(goroutine uint64, r *run) {
	if _, nested := w.runs.Swap(goroutine, r); !nested {
		w.count.Add(1)
	}
}

// end notes that a reconcile is done with.
func (w *workers) end(goroutine uint64, r *run) {
	if w.runs.CompareAndDelete(goroutine, r) {
		w.count.Add(-1)
	}
}

// here returns the reconcile that goes on in this goroutine, nil if none does.
func (w *workers) here() *run {
	if w.count.Load() == 0 {
		return nil
	}
	found, _ := w.runs.Load(goroutineNumber())
	within, _ := found.(*run)
	return within
}

// Queue returns a queue that records what is added to it and why, and a reconcile from when a worker gets a request to
// when it is done with it.
func Queue[R comparable](r *Recorder, controller string, queue ratedQueue[R]) ratedQueue[R] {
	why := newCauses[R](r, controller)
	r.unseen(controller, "it has no manager: what its reconciles return is not known, and what they call in other goroutines than the worker's counts as called outside of a reconcile, unless its context comes from Recorder.Within")
	return &workedQueue[R]{
		ratedQueue: why.observe(queue), recorder: r, reconciling: &reconciling[R]{recorder: r, controller: controller, causes: why}, at: map[R]*work{},
	}
}

// workedQueue knows who works on what.
type workedQueue[R comparable] struct {
	ratedQueue[R]
	recorder    *Recorder
	reconciling *reconciling[R]
	mu          sync.Mutex
	at          map[R]*work
}

// work is a reconcile that goes on, and what it has asked for.
type work struct {
	run
	goroutine uint64
	asked     reconcile.Result
}

// Get implements workqueue.TypedInterface.
func (q *workedQueue[R]) Get() (request R, shutdown bool) {
	request, shutdown = q.ratedQueue.Get()
	if !shutdown {
		q.begins(request)
	}
	return request, shutdown
}

func (q *workedQueue[R]) begins(request R) {
	defer q.recorder.contain()
	w := &work{run: run{recorder: q.recorder, number: q.reconciling.begin(context.Background(), request)}, goroutine: goroutineNumber()}
	q.mu.Lock()
	q.at[request] = w
	q.mu.Unlock()
	q.recorder.workers.begin(w.goroutine, &w.run)
}

// Done implements workqueue.TypedInterface.
func (q *workedQueue[R]) Done(request R) {
	q.ends(request)
	q.ratedQueue.Done(request)
}

func (q *workedQueue[R]) ends(request R) {
	defer q.recorder.contain()
	q.mu.Lock()
	w := q.at[request]
	delete(q.at, request)
	q.mu.Unlock()
	if w == nil {
		return
	}
	q.recorder.workers.end(w.goroutine, &w.run)
	q.reconciling.done(request, w.number, w.asked, nil, true)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *workedQueue[R]) AddRateLimited(request R) {
	q.asks(request, reconcile.Result{Requeue: true})
	q.ratedQueue.AddRateLimited(request)
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *workedQueue[R]) AddAfter(request R, after time.Duration) {
	q.asks(request, reconcile.Result{RequeueAfter: after})
	q.ratedQueue.AddAfter(request, after)
}

// asks notes what a reconcile asks for: it adds its own request, in its goroutine, and no event has it do that.
func (q *workedQueue[R]) asks(request R, result reconcile.Result) {
	defer q.recorder.contain()
	q.mu.Lock()
	w := q.at[request]
	ours := w != nil && w.goroutine == goroutineNumber()
	if ours {
		w.asked = result
	}
	q.mu.Unlock()
	if ours && w.number != 0 {
		q.reconciling.causes.ends(request, ending{number: w.number, again: true})
	}
}

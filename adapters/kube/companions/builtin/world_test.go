package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

// change is a commit: the contents of an object before and after it, nil where there is none.
type change struct {
	key      core.Key
	old, new core.Content
}

// world is a store that is a map, with a server in front of it.
type world struct {
	server *kube.Server

	mu      sync.Mutex
	objects map[core.Key]core.Content
	// changed gets changes, in order: those that are made at once together. What it returns is called without the lock,
	// in the same order: handlers may ask the server.
	changed   func([]change) []func()
	pending   []func()
	notifying bool
	held      bool
	heldBack  []change
	// refused are errors of the server itself.
	refused []string
}

var (
	_ core.Snapshot       = (*world)(nil)
	_ core.EffectRecorder = (*world)(nil)
)

func newWorld(options ...kube.Option) (*world, error) {
	server, err := kube.NewServer(scheme.Scheme, options...)
	return &world{server: server, objects: map[core.Key]core.Content{}, changed: func([]change) []func() { return nil }}, err
}

// Get implements [core.Snapshot].
func (w *world) Get(key core.Key) core.Content { return w.objects[key] }

// List implements [core.Snapshot].
func (w *world) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(w.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, core.Object{Key: key, Content: w.objects[key]})
		}
	}
	return objects
}

// Held implements [core.Snapshot].
func (w *world) Held(core.Key) []core.Content { return nil }

// Do implements [core.EffectRecorder]. Events are not kept.
func (w *world) Do(call core.Call) core.Response {
	defer w.notify()
	w.mu.Lock()
	defer w.mu.Unlock()
	if request, ok := call.(*kube.Request); ok && request.Kind.Kind == "Event" {
		return kube.Done(request.Body)
	}
	answer, err := w.server.Answer(w, call)
	if err != nil {
		w.refused = append(w.refused, fmt.Sprintf("%s: %v", call, err))
		return kube.Done([]byte(`{}`))
	}
	for _, write := range answer.Writes {
		old := w.objects[write.Key]
		if write.Content == nil {
			delete(w.objects, write.Key)
		} else {
			w.objects[write.Key] = write.Content
		}
		switch c := (change{write.Key, old, write.Content}); {
		case old == write.Content:
		case w.held:
			w.heldBack = append(w.heldBack, c)
		default:
			w.pending = append(w.pending, w.changed([]change{c})...)
		}
	}
	return answer.Response
}

// atOnce makes changes of which nobody is notified before all are made.
func (w *world) atOnce(make func(*world)) {
	w.held = true
	make(w)
	defer w.notify()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, w.changed(w.heldBack)...)
	w.held, w.heldBack = false, nil
}

// notify notifies handlers of what has been changed, unless somebody else is about it.
func (w *world) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notifying {
		return
	}
	w.notifying = true
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		w.mu.Unlock()
		next()
		w.mu.Lock()
	}
	w.notifying = false
}

// clientset returns a client of the server. The latency is that of a request, and that of its answer.
func (w *world) clientset(latency time.Duration) (kubernetes.Interface, error) {
	config := transport.New(w.server, distant{w, latency}).Config("test")
	client, err := kubernetes.NewForConfig(config)
	return clientset{client, config, w.server.RESTMapper()}, err
}

// clientset is a client with what other clients are made of.
type clientset struct {
	kubernetes.Interface

	config *rest.Config
	mapper meta.RESTMapper
}

// distant is a world that is far away.
type distant struct {
	core.EffectRecorder

	latency time.Duration
}

func (d distant) Do(call core.Call) core.Response {
	time.Sleep(d.latency)
	defer time.Sleep(d.latency)
	return d.EffectRecorder.Do(call)
}

// shown decodes a version of an object into the Go type of its kind, as clients see it.
func shown(content core.Content) (runtime.Object, error) {
	tree := runtime.DeepCopyJSON(content.Fields().(map[string]any))
	if tagged, ok := content.(core.Tagged); ok {
		tree["metadata"].(map[string]any)["resourceVersion"] = tagged.Tag()
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // typed clients leave it out
	return object, nil
}

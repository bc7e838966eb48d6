package controllerruntime_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// world is a store with its objects: the least that a controller can be run
// against.
type world struct {
	t      testing.TB
	system *core.System

	mu      sync.Mutex
	objects map[core.Key]core.Content
	calls   []core.Call
	events  []core.Event
	// unsupported are the errors of calls that the store does not know.
	unsupported []error
}

func newWorld(t testing.TB, options ...controllerruntime.Option) *world {
	t.Helper()
	options = append([]controllerruntime.Option{controllerruntime.CRDBytes(widgetDefinition)}, options...)
	return worldOf(t, controllerruntime.ForTest(t, newScheme(), options...))
}

func worldOf(t testing.TB, system *core.System) *world {
	w := &world{t: t, system: system, objects: map[core.Key]core.Content{}}
	for _, object := range system.Initial[0].Objects {
		w.objects[object.Key] = object.Content
	}
	return w
}

func (w *world) Get(key core.Key) core.Content {
	if content, ok := w.objects[key]; ok {
		return content
	}
	return nil
}

func (w *world) List(kind core.Kind, namespace string) []core.Object {
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(w.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, core.Object{Key: key, Content: w.objects[key]})
		}
	}
	return objects
}

// Held implements core.Snapshot: nobody refers to earlier versions.
func (w *world) Held(core.Key) []core.Content { return nil }

// Do implements core.EffectRecorder.
func (w *world) Do(call core.Call) core.Response {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	answer, err := w.system.Store.Answer(w, call)
	if err != nil {
		w.unsupported = append(w.unsupported, err)
		return nil
	}
	for _, write := range answer.Writes {
		w.events = append(w.events, core.Event{Key: write.Key, Old: w.Get(write.Key), New: write.Content})
		if write.Content == nil {
			delete(w.objects, write.Key)
		} else {
			w.objects[write.Key] = write.Content
		}
	}
	return answer.Response
}

// said returns the calls since the last time in words, with their source.
func (w *world) said() []string {
	var words []string
	for _, call := range w.calls {
		words = append(words, map[core.Source]string{core.Live: "live ", core.Cached: "cached "}[call.Source()]+call.String())
	}
	w.calls = nil
	return words
}

func (w *world) strategy(name string) core.Strategy {
	w.t.Helper()
	for _, s := range w.system.Strategies {
		if s.Describe().Name == name {
			return s
		}
	}
	w.t.Fatalf("there is no strategy %q", name)
	return nil
}

func (w *world) instance(name string) core.Instance {
	w.t.Helper()
	instance, err := w.strategy(name).New()
	if err != nil {
		w.t.Fatal(err)
	}
	return instance
}

// reconcile runs one request on a fresh instance.
func (w *world) reconcile(name string, request core.Request) core.Result {
	w.t.Helper()
	return w.instance(name).Reconcile(w, request)
}

// settle runs everything, as if every change were seen at once, until nothing is
// left to do.
func (w *world) settle() {
	w.t.Helper()
	work := map[core.Item]bool{}
	for _, s := range w.system.Strategies {
		for _, request := range s.Describe().Initial {
			work[core.Item{Strategy: s.Describe().Name, Request: request}] = true
		}
	}
	for key, content := range w.objects {
		w.events = append(w.events, core.Event{Key: key, New: content})
	}
	for range 100 {
		events := w.events
		w.events = nil
		for _, event := range events {
			for _, s := range w.system.Strategies {
				d := s.Describe()
				if !slices.Contains(d.Watches, event.Key.Kind) {
					continue
				}
				for _, request := range w.instance(d.Name).Handle(w, event) {
					work[core.Item{Strategy: d.Name, Request: request}] = true
				}
			}
		}
		if len(work) == 0 {
			return
		}
		item := slices.MinFunc(slices.Collect(maps.Keys(work)), core.Item.Compare)
		delete(work, item)
		if result := w.reconcile(item.Strategy, item.Request); result.Err != nil {
			w.t.Fatalf("%s: %v", item, result.Err)
		}
	}
	w.t.Fatal("the world does not settle")
}

func (w *world) field(kind core.Kind, name string, path ...string) any {
	w.t.Helper()
	content := w.Get(core.Key{Kind: kind, Namespace: "default", Name: name})
	if content == nil {
		w.t.Fatalf("there is no %s %s", kind, name)
	}
	value := content.Fields()
	for _, step := range path {
		fields, _ := value.(map[string]any)
		value = fields[step]
	}
	return value
}

func equal[T cmp.Ordered](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, lines(got), lines(want))
	}
}

func lines[T any](values []T) string {
	text := ""
	for _, v := range values {
		text += fmt.Sprintf("\n\t%v", v)
	}
	return text
}

func eachItem(list client.ObjectList, do func(name string)) error {
	return meta.EachListItem(list, func(item runtime.Object) error {
		do(item.(client.Object).GetName())
		return nil
	})
}

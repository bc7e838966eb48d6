package cel_test

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/core"
)

// world is a state that is given by its objects, and notes what is looked at.
type world struct {
	objects []core.Object
	looks   []string
}

var _ core.State = (*world)(nil)

func (w *world) Get(key core.Key) core.Content {
	w.look("get " + key.String())
	for _, o := range w.objects {
		if o.Key == key {
			return o.Content
		}
	}
	return nil
}

func (w *world) List(kind core.Kind, namespace string) []core.Object {
	w.look(strings.TrimSpace("list " + string(kind) + " " + namespace))
	var objects []core.Object
	for _, o := range w.objects {
		if o.Key.Kind == kind && (namespace == "" || namespace == o.Key.Namespace) {
			objects = append(objects, o)
		}
	}
	return objects
}

func (w *world) look(at string) {
	if !slices.Contains(w.looks, at) {
		w.looks = append(w.looks, at)
	}
}

func (*world) Held(core.Key) []core.Content { return nil }
func (*world) Work() []core.Item            { return nil }
func (*world) InFlight() []core.Item        { return nil }
func (*world) Timers() []core.Item          { return nil }

// tree is a content that is given by its fields.
type tree struct{ fields any }

func (t tree) Fields() any { return t.fields }

func (t tree) Canonical() string {
	text, err := json.Marshal(t.fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// worldOf reads objects from YAML.
func worldOf(t rapid.TB, documents string) *world {
	t.Helper()
	w := &world{}
	for document := range strings.SplitSeq(documents, "---\n") {
		text, err := yaml.ToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		key := core.Key{Kind: core.Kind(object.GroupVersionKind().GroupKind().String()), Namespace: object.GetNamespace(), Name: object.GetName()}
		w.objects = append(w.objects, core.Object{Key: key, Content: tree{object.Object}})
	}
	slices.SortFunc(w.objects, func(a, b core.Object) int { return a.Key.Compare(b.Key) })
	return w
}

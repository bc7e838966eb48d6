package informer

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/transport"
	"github.com/orrery-dev/orrery/core"
)

var (
	errUnstarted   = errors.New("not started")
	configMapsKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	configMaps     = Form{Kind: configMapsKind, As: Typed}
)

// state is a store with a few objects, and the run of somebody who reads it.
type state struct {
	t       *testing.T
	server  *kube.Server
	objects []core.Object
	calls   []string
}

func (s *state) Get(key core.Key) core.Content {
	for _, o := range s.objects {
		if o.Key == key {
			return o.Content
		}
	}
	return nil
}

func (s *state) Held(core.Key) []core.Content { return nil }

func (s *state) List(kind core.Kind, namespace string) []core.Object {
	return slices.DeleteFunc(slices.Clone(s.objects), func(o core.Object) bool {
		return o.Key.Kind != kind || namespace != "" && o.Key.Namespace != namespace
	})
}

func (s *state) Do(call core.Call) core.Response {
	s.calls = append(s.calls, map[core.Source]string{core.Live: "live ", core.Cached: "cached "}[call.Source()]+call.String())
	answer, err := s.server.Answer(s, call)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Response
}

func configMap(name, app string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": app}}}
}

// newState has the ConfigMaps a and b and the Node n.
func newState(t *testing.T, indexes Indexes) *state {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(scheme)
	if err != nil {
		t.Fatal(err)
	}
	if server, err = server.WithFieldIndexes(indexes.ForServer(scheme)...); err != nil {
		t.Fatal(err)
	}
	initial, err := server.Initial(configMap("a", "x"), configMap("b", "y"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	if err != nil {
		t.Fatal(err)
	}
	return &state{t: t, server: server, objects: initial.Objects}
}

func names(objects []client.Object) string {
	var all []string
	for _, o := range objects {
		all = append(all, o.GetName())
	}
	return strings.Join(all, " ")
}

func TestView(t *testing.T) {
	byApp := Index{Form: configMaps, Field: "app"}
	indexes := Indexes{}
	if err := indexes.Add(byApp.Form, byApp.Field, func(o client.Object) ([]string, error) { return []string{o.GetLabels()["app"]}, nil }); err != nil {
		t.Fatal(err)
	}
	s := newState(t, indexes)
	view := View{Server: s.server, Decoder: NewDecoder(s.server.Scheme()), Current: new(transport.Current), Unstarted: errUnstarted}
	key := client.ObjectKey{Namespace: "default", Name: "a"}
	if _, err := view.Get(t.Context(), configMaps, key); !errors.Is(err, errUnstarted) {
		t.Errorf("while nothing runs: %v", err)
	}
	if _, err := (&View{Server: s.server, Decoder: NewDecoder(s.server.Scheme()), Current: new(transport.Current)}).Get(t.Context(), configMaps, key); !errors.Is(err, errNotStarted) {
		t.Errorf("while nothing runs, without an error for it: %v", err)
	}
	view.Current.Begin(s)
	object, err := view.Get(t.Context(), configMaps, key)
	if found, ok := object.(*corev1.ConfigMap); err != nil || !ok || found.Labels["app"] != "x" || found.Kind != "ConfigMap" {
		t.Errorf("got %v, %v", object, err)
	}
	if _, err := view.Get(t.Context(), Form{Kind: corev1.SchemeGroupVersion.WithKind("Node")}, client.ObjectKey{Namespace: "default", Name: "n"}); err != nil {
		t.Errorf("a Node has no namespace: %v", err)
	}
	nothing, err := labels.Parse("app in (x),app notin (x)")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of    Form
		which Selection
		want  string
	}{
		{configMaps, Selection{}, "a b"},
		{configMaps, Selection{Namespace: "other"}, ""},
		{configMaps, Selection{Namespace: "default", Labels: labels.SelectorFromSet(labels.Set{"app": "y"})}, "b"},
		{configMaps, Selection{Labels: nothing}, ""},
		{configMaps, Selection{Labels: labels.Nothing()}, ""},
		{configMaps, Selection{Indexes: byApp.Term("y")}, "b"},
		{Form{Kind: corev1.SchemeGroupVersion.WithKind("Node")}, Selection{Namespace: "default"}, ""},
	} {
		found, err := view.List(t.Context(), test.of, test.which)
		if err != nil || names(found) != test.want {
			t.Errorf("%+v: %q, %v, want %q", test.which, names(found), err, test.want)
		}
	}
	want := []string{
		"cached get ConfigMap default/a", "cached get Node n", "cached list ConfigMap", "cached list ConfigMap in other",
		"cached list ConfigMap in default with app=y", "cached list ConfigMap with app in (x),app notin (x)", "cached list ConfigMap where app=y",
	}
	if !slices.Equal(s.calls, want) {
		t.Errorf("calls: %q, want %q", s.calls, want)
	}
	// The REST mapper knows these, but no object has such a kind, so that an informer would never deliver one.
	for _, name := range []string{"pod", "ConfigMapList"} {
		of := Form{Kind: corev1.SchemeGroupVersion.WithKind(name), As: Untyped}
		if err := view.Serves(of, nil); !meta.IsNoMatchError(errors.Unwrap(err)) {
			t.Errorf("an informer for %s: %v", name, err)
		}
		if _, err := view.Get(t.Context(), of, key); !meta.IsNoMatchError(err) {
			t.Errorf("a cached %s: %v", name, err)
		}
	}
	if err := view.Serves(Form{Kind: corev1.SchemeGroupVersion.WithKind("Gizmo"), As: Untyped}, nil); err == nil || !strings.Contains(err.Error(), "or its Go type to the scheme") {
		t.Errorf("a kind that is not served: %v", err)
	}
}

func TestIndexes(t *testing.T) {
	indexes := Indexes{}
	values := func(client.Object) ([]string, error) { return nil, nil }
	for _, test := range []struct {
		of          Form
		field, fail string
	}{
		{configMaps, "app", ""},
		{configMaps, "app", "indexer conflict"},
		{Form{Kind: configMapsKind, As: Untyped}, "app", ""},
		{configMaps, "a,b", ""},
	} {
		err := indexes.Add(test.of, test.field, values)
		if (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
			t.Errorf("%s: %v, want %q", test.field, err, test.fail)
		}
	}
	var called []string
	for _, x := range indexes.ForServer(runtime.NewScheme()) {
		called = append(called, x.Field)
	}
	if !slices.Equal(called, []string{"a%2Cb", "app", "app (untyped)"}) {
		t.Errorf("indexes: %q", called)
	}
}

func TestDecode(t *testing.T) {
	raw := []byte(`{"metadata": {"name": "a"}, "spec": {"replicas": 3, "ratio": 0.5}}`)
	object, err := Form{Kind: configMapsKind, As: Untyped}.decode(raw, runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"replicas": int64(3), "ratio": 0.5},
	}
	if got := object.(*unstructured.Unstructured).Object; !reflect.DeepEqual(got, want) {
		t.Errorf("decoded is %#v, want %#v", got, want)
	}
}

// handler notes what it is shown.
type handler struct{ shown []any }

func (h *handler) OnAdd(o any, _ bool) { h.shown = append(h.shown, "added", o) }
func (h *handler) OnUpdate(old, o any) { h.shown = append(h.shown, "updated", old, o) }
func (h *handler) OnDelete(o any)      { h.shown = append(h.shown, "deleted", o) }

func TestDeliver(t *testing.T) {
	s := newState(t, nil)
	key := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	content := s.Get(key)
	first, second, untyped, other := new(handler), new(handler), new(handler), new(handler)
	watches := []Watch{
		{Form: configMaps, Handler: first}, {Form: configMaps, Handler: second},
		{Form: Form{Kind: configMapsKind, As: Untyped}, Handler: untyped},
		{Form: Form{Kind: corev1.SchemeGroupVersion.WithKind("Pod")}, Handler: other},
	}
	if kinds := Kinds(watches); !slices.Equal(kinds, []core.Kind{"ConfigMap", "Pod"}) {
		t.Errorf("kinds: %v", kinds)
	}
	Deliver(s.server, NewDecoder(s.server.Scheme()), new(Loans), watches, core.Event{Key: key, New: content})
	added, ok := first.shown[1].(*corev1.ConfigMap)
	if !ok || added.Name != "a" || added.Kind != "" || added.ResourceVersion == "" {
		t.Errorf("shown %v", first.shown)
	}
	if second.shown[1] != any(added) {
		t.Error("handlers are shown different objects")
	}
	if tree, ok := untyped.shown[1].(*unstructured.Unstructured); !ok || tree.GetKind() != "ConfigMap" {
		t.Errorf("shown %v", untyped.shown)
	}
	if len(other.shown) > 0 {
		t.Errorf("a handler of another kind is shown %v", other.shown)
	}
	for _, test := range []struct {
		event core.Event
		want  string
	}{
		{core.Event{Key: key, Old: content, New: content}, "updated"},
		{core.Event{Key: key, Old: content}, "deleted"},
		{core.Event{Key: key, Old: content, Missed: true}, "deleted"},
	} {
		first.shown = nil
		Deliver(s.server, NewDecoder(s.server.Scheme()), new(Loans), watches, test.event)
		if first.shown[0] != any(test.want) {
			t.Errorf("%+v: %v", test.event, first.shown)
		}
	}
	if missed, ok := first.shown[1].(cache.DeletedFinalStateUnknown); !ok || missed.Key != "default/a" {
		t.Errorf("shown %v", first.shown)
	}
}

func TestSynced(t *testing.T) {
	synced, err := NewSynced()
	if err != nil || !synced.HasSynced() {
		t.Errorf("there is something to wait for: %v", err)
	}
}

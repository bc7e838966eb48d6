package kube

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

var (
	widgetKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	gadgetKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
	fleetKind      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Fleet"}
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// tree is shorthand for JSON objects in tests.
type tree = map[string]any

// tester is what tests, fuzz targets and properties have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a store that is a map, with a server in front of it. It records what was
// read of it.
type world struct {
	t       tester
	server  *Server
	objects map[core.Key]core.Content
	reads   []string
	// seen are the objects that reads have returned.
	seen map[core.Key]core.Content
	// held are the versions that answers have shown since the last step ended.
	held map[core.Key][]core.Content
}

var (
	_ core.Snapshot       = (*world)(nil)
	_ core.EffectRecorder = (*world)(nil)
)

func newWorld(t tester, options ...Option) *world {
	t.Helper()
	return emptyWorld(t, newTestServer(t, options...))
}

func emptyWorld(t tester, server *Server) *world {
	return &world{t: t, server: server, objects: map[core.Key]core.Content{}, seen: map[core.Key]core.Content{}, held: map[core.Key][]core.Content{}}
}

func newTestServer(t tester, options ...Option) *Server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(scheme, append(options, DefinitionFiles("testdata/widgets.yaml"))...)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func (w *world) Get(key core.Key) core.Content {
	w.reads = append(w.reads, "get "+key.String())
	if content := w.objects[key]; content != nil {
		w.seen[key] = content
	}
	return w.objects[key]
}

func (w *world) List(kind core.Kind, namespace string) []core.Object {
	w.reads = append(w.reads, "list "+string(kind)+" in "+namespace)
	var objects []core.Object
	for _, key := range slices.SortedFunc(maps.Keys(w.objects), core.Key.Compare) {
		if key.Kind == kind && (namespace == "" || key.Namespace == namespace) {
			objects = append(objects, core.Object{Key: key, Content: w.objects[key]})
			w.seen[key] = w.objects[key]
		}
	}
	return objects
}

func (w *world) Held(key core.Key) []core.Content { return w.held[key] }

// shown records the versions that an answer shows.
func (w *world) shown(response core.Response) {
	for _, o := range response.(*Response).Versions() {
		w.held[o.Key] = append(w.held[o.Key], o.Content)
	}
}

func (w *world) Do(call core.Call) core.Response {
	answer, err := w.server.Answer(w, call)
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(answer.Writes)
	w.shown(answer.Response)
	return answer.Response
}

func (w *world) apply(writes []core.Write) {
	for _, write := range writes {
		if write.Content == nil {
			delete(w.objects, write.Key)
		} else {
			w.objects[write.Key] = write.Content
		}
	}
}

// settle ends a step.
func (w *world) settle() {
	for key, content := range w.objects {
		w.objects[key] = w.server.Normalize(key, []core.Content{content}, nil)[0]
	}
	clear(w.held)
}

// do makes a request, and returns the answer and how many writes it had.
func (w *world) do(request *Request) (*Response, int) {
	w.t.Helper()
	answer, err := w.server.Answer(w, request)
	if err != nil {
		w.t.Fatalf("%s: %v", request, err)
	}
	w.apply(answer.Writes)
	w.shown(answer.Response)
	return answer.Response.(*Response), len(answer.Writes)
}

// must makes a request that is done, and returns the object.
func (w *world) must(request *Request) *unstructured.Unstructured {
	w.t.Helper()
	response, _ := w.do(request)
	if response.Status != nil {
		w.t.Fatalf("%s: %s", request, response)
	}
	object := &unstructured.Unstructured{Object: tree{}}
	if response.Object != nil {
		if err := jsontree.Decode(response.Object, &object.Object); err != nil {
			w.t.Fatal(err)
		}
	}
	return object
}

// refuse makes a request that must be refused, with the code and message, and must
// write nothing.
func (w *world) refuse(request *Request, code int32, message string) {
	w.t.Helper()
	response, writes := w.do(request)
	switch {
	case response.Status == nil:
		w.t.Fatalf("%s is done, want %d %s", request, code, message)
	case response.Status.Code != code || response.Status.Message != message:
		w.t.Fatalf("%s: got %d %s\nwant %d %s", request, response.Status.Code, response.Status.Message, code, message)
	case writes > 0:
		w.t.Fatalf("%s is refused, and yet it writes", request)
	}
}

// unsupported makes a request that must be reported as not modelled.
func (w *world) unsupported(request *Request) string {
	w.t.Helper()
	_, err := w.server.Answer(w, request)
	var unsupported *core.Unsupported
	if !errors.As(err, &unsupported) {
		w.t.Fatalf("%s: got %v, want an unsupported call", request, err)
	}
	return unsupported.Reason
}

// object makes the JSON of an object from its metadata and other fields.
func object(kind schema.GroupVersionKind, metadata tree, fields tree) []byte {
	o := tree{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata}
	maps.Copy(o, fields)
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}

func encode(o *unstructured.Unstructured) []byte {
	text, err := json.Marshal(o.Object)
	if err != nil {
		panic(err)
	}
	return text
}

func request(verb Verb, kind schema.GroupVersionKind, name string) *Request {
	r := &Request{Verb: verb, Kind: kind, Namespace: "default", Name: name}
	if kind == fleetKind {
		r.Namespace = ""
	}
	return r
}

// creation creates an object, with what every object of its kind must have.
func creation(kind schema.GroupVersionKind, metadata tree, fields tree) *Request {
	r := request(Create, kind, "")
	r.Body = object(kind, metadata, complete(kind, fields))
	return r
}

// complete adds to the fields of an object what its kind cannot do without.
func complete(kind schema.GroupVersionKind, fields tree) tree {
	all := tree{}
	maps.Copy(all, fields)
	completed := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(jsonOf(all))}
	running := func(path ...string) {
		if len(jsontree.ListAt(completed, append(path, "containers")...)) == 0 {
			jsontree.Set(completed.Object, []any{tree{"name": "c", "image": "c:1"}}, append(path, "containers")...)
		}
	}
	suggest := func(value any, path ...string) {
		if jsontree.At(completed, path...) == nil {
			jsontree.Set(completed.Object, value, path...)
		}
	}
	switch kind.Kind {
	case "Pod":
		running("spec")
	case "Job":
		running("spec", "template", "spec")
		suggest("Never", "spec", "template", "spec", "restartPolicy")
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet":
		running("spec", "template", "spec")
		if jsontree.At(completed, "spec", "selector") == nil {
			jsontree.Set(completed.Object, "1", "spec", "selector", "matchLabels", "x")
			jsontree.Set(completed.Object, "1", "spec", "template", "metadata", "labels", "x")
		}
	case "Service":
		if jsontree.At(completed, "spec", "clusterIP") != "None" && jsontree.At(completed, "spec", "type") != "ExternalName" {
			suggest([]any{tree{"port": int64(80)}}, "spec", "ports")
		}
	}
	return completed.Object
}

// jsonOf is a tree as it is after it was sent.
func jsonOf(fields tree) tree {
	var sent tree
	if err := jsontree.Decode(jsontree.Canonical(fields), &sent); err != nil {
		panic(err)
	}
	return sent
}

func updating(kind schema.GroupVersionKind, o *unstructured.Unstructured) *Request {
	r := request(Update, kind, o.GetName())
	r.Body = encode(o)
	return r
}

func patching(kind schema.GroupVersionKind, name string, patchType types.PatchType, patch string) *Request {
	r := request(Patch, kind, name)
	r.PatchType, r.Body = patchType, []byte(patch)
	return r
}

// ofStatus turns a request into one for the status.
func ofStatus(r *Request) *Request {
	r.Subresource = "status"
	return r
}

// widget creates a Widget.
func (w *world) widget(name string, fields tree) *unstructured.Unstructured {
	w.t.Helper()
	return w.must(creation(widgetKind, tree{"name": name}, fields))
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if string(jsontree.Canonical(got)) != string(jsontree.Canonical(want)) {
		t.Errorf("%s: got %s, want %s", what, jsontree.Canonical(got), jsontree.Canonical(want))
	}
}

// invalid is the message of a server about an invalid object.
func invalid(kind, name string, err *field.Error) string {
	return kind + ` "` + name + `" is invalid: ` + err.Error()
}

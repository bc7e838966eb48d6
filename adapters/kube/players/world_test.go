package players

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/core"
)

var (
	widgetKind    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	gadgetKind    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
	fleetKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Fleet"}
	podKind       = corev1.SchemeGroupVersion.WithKind("Pod")
	configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
	claimKind     = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind    = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
)

// tree is shorthand for JSON objects in tests.
type tree = map[string]any

// world is a store that is a map, with a server in front of it.
type world struct {
	t       *testing.T
	server  *kube.Server
	objects map[core.Key]core.Content
	// held are the versions that answers have shown since the last step ended.
	held map[core.Key][]core.Content
}

var (
	_ core.Snapshot       = (*world)(nil)
	_ core.EffectRecorder = (*world)(nil)
)

func newWorld(t *testing.T, options ...kube.Option) *world {
	t.Helper()
	return &world{t: t, server: newTestServer(t, options...), objects: map[core.Key]core.Content{}, held: map[core.Key][]core.Content{}}
}

func newTestServer(t *testing.T, options ...kube.Option) *kube.Server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(scheme, append(options, kube.DefinitionFiles("../testdata/widgets.yaml"))...)
	if err != nil {
		t.Fatal(err)
	}
	return server
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
func (w *world) Held(key core.Key) []core.Content { return w.held[key] }

// Do implements [core.EffectRecorder].
func (w *world) Do(call core.Call) core.Response {
	w.t.Helper()
	answer, err := w.server.Answer(w, call)
	if err != nil {
		w.t.Fatalf("%s: %v", call, err)
	}
	for _, write := range answer.Writes {
		if write.Content == nil {
			delete(w.objects, write.Key)
		} else {
			w.objects[write.Key] = write.Content
		}
	}
	for _, o := range answer.Response.(*kube.Response).Versions() {
		w.held[o.Key] = append(w.held[o.Key], o.Content)
	}
	return answer.Response
}

// settle ends a step.
func (w *world) settle() {
	for key, content := range w.objects {
		w.objects[key] = w.server.Normalize(key, []core.Content{content}, nil)[0]
	}
	clear(w.held)
}

// must makes a request that is done, and returns the object.
func (w *world) must(request *kube.Request) *unstructured.Unstructured {
	w.t.Helper()
	response := w.Do(request).(*kube.Response)
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

// refuse makes a request that must be refused, with the code and message.
func (w *world) refuse(request *kube.Request, code int32, message string) {
	w.t.Helper()
	response := w.Do(request).(*kube.Response)
	if response.Status == nil || response.Status.Code != code || response.Status.Message != message {
		w.t.Fatalf("%s: got %s\nwant %d %s", request, response, code, message)
	}
}

func request(verb kube.Verb, kind schema.GroupVersionKind, name string) *kube.Request {
	r := &kube.Request{Verb: verb, Kind: kind, Namespace: "default", Name: name}
	if kind == fleetKind {
		r.Namespace = ""
	}
	return r
}

// creation creates an object. A Pod has a container.
func creation(kind schema.GroupVersionKind, metadata tree, fields tree) *kube.Request {
	object := &unstructured.Unstructured{Object: tree{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata}}
	maps.Copy(object.Object, fields)
	if kind == podKind {
		jsontree.Set(object.Object, []any{tree{"name": "c", "image": "c:1"}}, "spec", "containers")
	}
	r := request(kube.Create, kind, "")
	r.Body = jsontree.Canonical(object.Object)
	return r
}

func updating(kind schema.GroupVersionKind, o *unstructured.Unstructured) *kube.Request {
	r := request(kube.Update, kind, o.GetName())
	r.Body = jsontree.Canonical(o.Object)
	return r
}

func patching(kind schema.GroupVersionKind, name string, patchType types.PatchType, patch string) *kube.Request {
	r := request(kube.Patch, kind, name)
	r.PatchType, r.Body = patchType, []byte(patch)
	return r
}

// ofStatus turns a request into one for the status.
func ofStatus(r *kube.Request) *kube.Request {
	r.Subresource = "status"
	return r
}

// everywhere takes the namespace from a request.
func everywhere(r *kube.Request) *kube.Request {
	r.Namespace = ""
	return r
}

// widget creates a Widget.
func (w *world) widget(name string, fields tree) *unstructured.Unstructured {
	w.t.Helper()
	return w.must(creation(widgetKind, tree{"name": name}, fields))
}

func ownerReference(owner *unstructured.Unstructured) tree {
	return tree{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(),
		"uid": string(owner.GetUID()), "controller": true, "blockOwnerDeletion": true,
	}
}

// claim is what a claim to a volume must say.
func claim() tree {
	return tree{"spec": tree{"accessModes": []any{"ReadWriteOnce"}, "resources": tree{"requests": tree{"storage": "1Gi"}}}}
}

// volume is what a volume must say.
func volume() tree {
	return tree{"spec": tree{"accessModes": []any{"ReadWriteOnce"}, "capacity": tree{"storage": "1Gi"}, "hostPath": tree{"path": "/x"}}}
}

// using is what a Pod says that uses a claim.
func using(claim, node string) tree {
	return tree{"spec": tree{"nodeName": node, "volumes": []any{tree{"name": "v", "persistentVolumeClaim": tree{"claimName": claim}}}}}
}

func union(a, b map[core.Key]core.Content) map[core.Key]core.Content {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if string(jsontree.Canonical(got)) != string(jsontree.Canonical(want)) {
		t.Errorf("%s: got %s, want %s", what, jsontree.Canonical(got), jsontree.Canonical(want))
	}
}

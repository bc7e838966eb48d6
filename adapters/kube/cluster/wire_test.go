package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

var (
	widgetKind    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
)

func TestRequestsOverHTTP(t *testing.T) {
	const configMaps = "/api/v1/namespaces/default/configmaps"
	tests := []struct {
		name    string
		request kube.Request
		want    exchanged
	}{
		{
			"get", kube.Request{Verb: kube.Get, Kind: configMapKind, Namespace: "default", Name: "a"},
			exchanged{method: "GET", path: configMaps + "/a"},
		},
		{
			"get of a cluster-scoped object", kube.Request{Verb: kube.Get, Kind: namespaceKind, Name: "a"},
			exchanged{method: "GET", path: "/api/v1/namespaces/a"},
		},
		{
			"get in a version that is not the preferred one",
			kube.Request{Verb: kube.Get, Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}, Namespace: "default", Name: "a"},
			exchanged{method: "GET", path: "/apis/example.com/v1beta1/namespaces/default/widgets/a"},
		},
		{
			"a name that is no word of a URL", kube.Request{Verb: kube.Get, Kind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, Name: "a/b?c"},
			exchanged{method: "GET", path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%2Fb%3Fc"},
		},
		{
			"list of all namespaces", kube.Request{Verb: kube.List, Kind: configMapKind},
			exchanged{method: "GET", path: "/api/v1/configmaps"},
		},
		{
			"list with all there is to ask",
			kube.Request{Verb: kube.List, Kind: configMapKind, Namespace: "default", LabelSelector: "app=x,tier!=db", FieldSelector: "metadata.name=a", Limit: 3, Continue: "next"},
			exchanged{method: "GET", path: configMaps, query: "continue=next&fieldSelector=metadata.name%3Da&labelSelector=app%3Dx%2Ctier%21%3Ddb&limit=3"},
		},
		{
			"create", kube.Request{Verb: kube.Create, Kind: configMapKind, Namespace: "default", Name: "a", Body: []byte(`{"x":1}`), FieldManager: "me"},
			exchanged{"POST", configMaps, "fieldManager=me", "application/json", `{"x":1}`},
		},
		{
			"create of a subresource", kube.Request{Verb: kube.Create, Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Subresource: "eviction", Namespace: "default", Name: "a", Body: []byte(`{}`)},
			exchanged{"POST", "/api/v1/namespaces/default/pods/a/eviction", "", "application/json", `{}`},
		},
		{
			"update", kube.Request{Verb: kube.Update, Kind: configMapKind, Namespace: "default", Name: "a", Body: []byte(`{}`), DryRun: true},
			exchanged{"PUT", configMaps + "/a", "dryRun=All", "application/json", `{}`},
		},
		{
			"update of the status", kube.Request{Verb: kube.Update, Kind: widgetKind, Subresource: "status", Namespace: "default", Name: "a", Body: []byte(`{}`)},
			exchanged{"PUT", "/apis/example.com/v1/namespaces/default/widgets/a/status", "", "application/json", `{}`},
		},
		{
			"merge patch", kube.Request{Verb: kube.Patch, Kind: configMapKind, Namespace: "default", Name: "a", PatchType: types.MergePatchType, Body: []byte(`{}`)},
			exchanged{"PATCH", configMaps + "/a", "", "application/merge-patch+json", `{}`},
		},
		{
			"apply", kube.Request{Verb: kube.Patch, Kind: configMapKind, Namespace: "default", Name: "a", PatchType: types.ApplyPatchType, Body: []byte(`{}`), FieldManager: "me", Force: true},
			exchanged{"PATCH", configMaps + "/a", "fieldManager=me&force=true", "application/apply-patch+yaml", `{}`},
		},
		{
			"delete", kube.Request{Verb: kube.Delete, Kind: configMapKind, Namespace: "default", Name: "a"},
			exchanged{"DELETE", configMaps + "/a", "", "application/json", `{"kind":"DeleteOptions","apiVersion":"v1"}`},
		},
		{
			"delete with all there is to ask",
			kube.Request{
				Verb: kube.Delete, Kind: configMapKind, Namespace: "default", Name: "a", DryRun: true, GracePeriodSeconds: ptr.To[int64](0),
				Propagation: "Foreground", PreconditionUID: "u", PreconditionResourceVersion: "7",
			},
			exchanged{"DELETE", configMaps + "/a", "dryRun=All", "application/json",
				`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Foreground","dryRun":["All"]}`},
		},
		{
			"deletecollection", kube.Request{Verb: kube.DeleteCollection, Kind: configMapKind, Namespace: "default", LabelSelector: "app=x"},
			exchanged{"DELETE", configMaps, "labelSelector=app%3Dx", "application/json", `{"kind":"DeleteOptions","apiVersion":"v1"}`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			a.answers[test.want.method+" "+test.want.path] = answer{http.StatusOK, `{}`}
			response, err := c.Do(context.Background(), &test.request, core.RecordedCall{})
			if err != nil {
				t.Fatal(err)
			}
			if response.(*kube.Response).Err() != nil {
				t.Errorf("it is refused: %s", response)
			}
			if want := []exchanged{test.want}; !reflect.DeepEqual(a.asked, want) {
				t.Errorf("sent\n%+v, want\n%+v", a.asked, want)
			}
		})
	}
}

func TestResponsesFromHTTP(t *testing.T) {
	const (
		object   = "GET /api/v1/namespaces/default/configmaps/a"
		list     = "GET /api/v1/configmaps"
		conflict = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"it was changed","reason":"Conflict","code":409}`
	)
	get := kube.Request{Verb: kube.Get, Kind: configMapKind, Namespace: "default", Name: "a"}
	cached := get
	cached.FromCache = true
	tests := []struct {
		name    string
		request kube.Request
		at      string
		answer  answer
		// want is the response in words, identity what the controller is sent.
		want, identity string
		// fails is in the error, if there is to be one.
		fails string
	}{
		{name: "an object", request: get, at: object, answer: answer{200, `{"data":{"k":"v"}}`}, want: "ok", identity: `{"data":{"k":"v"}}`},
		{name: "a refusal", request: get, at: object, answer: answer{409, conflict}, want: "409 Conflict: it was changed"},
		{
			name: "a refusal that shows the lines that differ", request: get, at: object, want: "422 Invalid: spec is immutable",
			answer: answer{422, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"spec is immutable\n@@ -6,7 +6,7 @@\n-1\n+2","reason":"Invalid","code":422,` +
				`"details":{"causes":[{"message":"immutable\n@@ -6,7 +6,7 @@"}]}}`},
		},
		{name: "nothing there", request: get, want: `404 NotFound: things "a" not found`},
		{name: "nothing there, in the words of a cache", request: cached, want: `404 NotFound: ConfigMap "a" not found`},
		{
			name: "another refusal of a cached read", request: cached, at: object, answer: answer{409, conflict},
			want: "409 Conflict: it was changed",
		},
		{
			name: "what is sent for a delete does not matter", at: "DELETE /api/v1/namespaces/default/configmaps/a", answer: answer{200, `{"kind":"Status"}`},
			request: kube.Request{Verb: kube.Delete, Kind: configMapKind, Namespace: "default", Name: "a"}, want: "ok",
		},
		{name: "an empty list", request: kube.Request{Verb: kube.List, Kind: configMapKind}, at: list, answer: answer{200, `{"items":null}`}, want: "0 items", identity: `{"items":[]}`},
		{
			name: "a list with an object of the server's own", request: kube.Request{Verb: kube.List, Kind: configMapKind}, at: list,
			answer: answer{200, `{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"namespace":"kube-system","name":"x"}},{"metadata":{"namespace":"default","name":"a"}}]}`},
			want:   "1 item",
			identity: `{"items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}],` +
				`"metadata":{"resourceVersion":"7"}}`,
		},
		{name: "a list of texts", request: kube.Request{Verb: kube.List, Kind: configMapKind}, at: list, answer: answer{200, `{"items":["x"]}`}, fails: "is no object"},
		{name: "a list that is none", request: kube.Request{Verb: kube.List, Kind: configMapKind}, at: list, answer: answer{200, `[]`}, fails: "the server's answer is no object"},
		{name: "no status", request: get, at: object, answer: answer{502, "bad gateway"}, fails: "the server answers 502 Bad Gateway: bad gateway"},
		{name: "another object than a status", request: get, at: object, answer: answer{500, `{"kind":"ConfigMap"}`}, fails: "500"},
		{name: "an unknown kind", request: kube.Request{Verb: kube.Get, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Comet"}}, fails: "Comet"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			a.answers[test.at] = test.answer
			response, err := c.Do(context.Background(), &test.request, core.RecordedCall{})
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("error %v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if response.String() != test.want {
				t.Errorf("response %q, want %q", response, test.want)
			}
			if test.identity != "" && response.Identity() != test.identity {
				t.Errorf("sent %s, want %s", response.Identity(), test.identity)
			}
		})
	}
}

// otherCall is a call that no API server knows.
type otherCall struct{ core.Call }

func TestCallsOfOtherWorlds(t *testing.T) {
	c, a := newCluster(t)
	if _, err := c.Do(context.Background(), otherCall{}, core.RecordedCall{}); err == nil || !strings.Contains(err.Error(), "cannot answer a cluster.otherCall") {
		t.Errorf("error %v", err)
	}
	if len(a.asked) > 0 {
		t.Errorf("it was sent: %v", a.asked)
	}
}

func TestVersion(t *testing.T) {
	c, a := newCluster(t)
	if _, err := c.Version(context.Background()); err == nil || !strings.Contains(err.Error(), "asking for the version") {
		t.Errorf("without one: error %v", err)
	}
	a.answers["GET /version"] = answer{200, `{"major":"1","gitVersion":"v1.99.0"}`}
	if got, err := c.Version(context.Background()); err != nil || got != "v1.99.0" {
		t.Errorf("version %q, error %v", got, err)
	}
	a.answers["GET /version"] = answer{200, `[]`}
	if _, err := c.Version(context.Background()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("of a list: error %v", err)
	}
}

func TestObjects(t *testing.T) {
	c, a := newCluster(t)
	a.objects["/api/v1/namespaces/default/configmaps/a"] = node{"data": node{"k": "v"}}
	here := core.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}
	objects, err := c.Objects(context.Background(), []core.Key{{Kind: "ConfigMap", Namespace: "default", Name: "gone"}, here})
	if err != nil {
		t.Fatal(err)
	}
	want := []core.TraceObject{{Kind: "ConfigMap", Namespace: "default", Name: "a", Fields: node{"data": node{"k": "v"}}}}
	if !reflect.DeepEqual(objects, want) {
		t.Errorf("objects %v, want %v", objects, want)
	}

	a.answers["GET /api/v1/namespaces/default/configmaps/a"] = answer{500, "broken"}
	objects, err = c.Objects(context.Background(), []core.Key{here, {Kind: "Comet", Name: "x"}})
	if err == nil || !strings.Contains(err.Error(), "ConfigMap default/a: ") || !strings.Contains(err.Error(), "Comet x: ") || len(objects) > 0 {
		t.Errorf("objects %v, error %v", objects, err)
	}
}

// TestBodiesArriveWhole holds a body that was read at the other end against what was sent.
func TestBodiesArriveWhole(t *testing.T) {
	c, a := newCluster(t)
	body, err := json.Marshal(node{"metadata": node{"name": "a"}, "data": node{"k": strings.Repeat("é", 1<<16)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(context.Background(), &kube.Request{Verb: kube.Create, Kind: configMapKind, Namespace: "default", Body: body}, core.RecordedCall{}); err != nil {
		t.Fatal(err)
	}
	if a.asked[0].body != string(body) {
		t.Errorf("%d bytes arrived, want %d", len(a.asked[0].body), len(body))
	}
}

package cluster

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

// placed is an object at the start of a run. Its uid is its name, its owners are named.
func placed(kind core.Kind, apiVersion, namespace, name string, owners ...string) core.TraceObject {
	word, _, _ := strings.Cut(string(kind), ".")
	meta := node{"name": name, "uid": "uid of " + name, "resourceVersion": "1", "generation": json.Number("1"), "creationTimestamp": "2000-01-01T00:00:00Z"}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	var references []any
	for _, owner := range owners {
		references = append(references, node{"kind": "X", "name": owner, "uid": "uid of " + owner})
	}
	if references != nil {
		meta["ownerReferences"] = references
	}
	return core.TraceObject{Kind: kind, Namespace: namespace, Name: name, Fields: node{"apiVersion": apiVersion, "kind": word, "metadata": meta}}
}

// with adds fields to the metadata of an object.
func with(object core.TraceObject, fields node) core.TraceObject {
	for name, value := range fields {
		metadata(object.Fields)[name] = value
	}
	return object
}

// having adds a field to an object.
func having(object core.TraceObject, name string, value any) core.TraceObject {
	object.Fields.(node)[name] = value
	return object
}

func TestPopulate(t *testing.T) {
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		namespaces = "/api/v1/namespaces"
		gadgets    = "/apis/example.com/v1/namespaces/default/gadgets"
		widgets    = "/apis/example.com/v1/namespaces/default/widgets"
	)
	configMap := func(name string, owners ...string) core.TraceObject {
		return placed("ConfigMap", "v1", "default", name, owners...)
	}
	tests := []struct {
		name    string
		objects []core.TraceObject
		want    []string
	}{
		{name: "nothing"},
		{
			"objects in their order, and their namespaces",
			[]core.TraceObject{configMap("b"), configMap("a"), placed("ConfigMap", "v1", "another", "c")},
			[]string{
				"POST " + namespaces + "/another", "POST " + namespaces + "/default",
				"POST " + configMaps + "/b", "POST " + configMaps + "/a", "POST " + namespaces + "/another/configmaps/c",
			},
		},
		{
			"owners first",
			[]core.TraceObject{configMap("a", "b", "c"), configMap("b", "c"), configMap("c")},
			[]string{"POST " + namespaces + "/default", "POST " + configMaps + "/c", "POST " + configMaps + "/b", "POST " + configMaps + "/a"},
		},
		{
			"namespaces that come with the objects, after their owners",
			[]core.TraceObject{placed("ConfigMap", "v1", "team", "a"), placed("Namespace", "v1", "", "team", "f"), placed("Fleet.example.com", "example.com/v1", "", "f")},
			[]string{"POST /apis/example.com/v1/fleets/f", "POST " + namespaces + "/team", "POST " + namespaces + "/team/configmaps/a"},
		},
		{
			"a status, where there is one to write",
			[]core.TraceObject{
				having(placed("Gadget.example.com", "example.com/v1", "default", "g"), "status", node{"ready": true}),
				having(placed("Widget.example.com", "example.com/v1", "default", "w"), "status", node{"ready": true}),
			},
			[]string{
				"POST " + namespaces + "/default", "POST " + gadgets + "/g", "PUT " + gadgets + "/g/status",
				"POST " + widgets + "/w", "PUT " + widgets + "/w/status",
			},
		},
		{
			"in the version that it is recorded in",
			[]core.TraceObject{placed("Widget.example.com", "example.com/v1beta1", "", "w")},
			[]string{"POST /apis/example.com/v1beta1/widgets/w"},
		},
		{
			"deleted last, where that had begun",
			[]core.TraceObject{
				with(placed("Namespace", "v1", "", "team"), node{"deletionTimestamp": "2000-01-01T00:00:00Z", "deletionGracePeriodSeconds": json.Number("0")}),
				placed("ConfigMap", "v1", "team", "a"),
			},
			[]string{"POST " + namespaces + "/team", "POST " + namespaces + "/team/configmaps/a", "DELETE " + namespaces + "/team"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			a.answers["PUT "+gadgets+"/g/status"] = answer{404, `{"kind":"Status","reason":"NotFound","code":404}`}
			before, err := json.Marshal(test.objects)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Populate(context.Background(), test.objects); err != nil {
				t.Fatal(err)
			}
			// At the end it asks for the revision.
			got, want := a.log(), append(test.want, "GET "+namespaces)
			if !slices.Equal(got, want) {
				t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if after, err := json.Marshal(test.objects); err != nil || string(after) != string(before) {
				t.Errorf("the recorded objects were changed to %s: %v", after, err)
			}
		})
	}
}

// TestPopulatedObjects looks at what is sent: what the server gives an object itself is
// left out, and references have the uids that it gave.
func TestPopulatedObjects(t *testing.T) {
	c, a := newCluster(t)
	owner := having(placed("Widget.example.com", "example.com/v1", "default", "owner"), "status", node{"ready": true})
	a.answers["PUT /apis/example.com/v1/namespaces/default/widgets/owner/status"] = answer{404, `{"kind":"Status","reason":"NotFound","code":404}`}
	owned := with(placed("ConfigMap", "v1", "default", "owned", "owner"), node{"labels": node{"l": "x"}, "finalizers": []any{"f/f"}, "deletionTimestamp": "2000-01-01T00:00:00Z"})
	if err := c.Populate(context.Background(), []core.TraceObject{owned, owner}); err != nil {
		t.Fatal(err)
	}
	sent := a.asked[slices.Index(a.log(), "POST /api/v1/namespaces/default/configmaps/owned")]
	var got node
	if err := json.Unmarshal([]byte(sent.body), &got); err != nil {
		t.Fatal(err)
	}
	uid := metadata(a.objects["/apis/example.com/v1/namespaces/default/widgets/owner"])["uid"]
	want := node{"apiVersion": "v1", "kind": "ConfigMap", "metadata": node{
		"namespace": "default", "name": "owned", "labels": node{"l": "x"}, "finalizers": []any{"f/f"},
		"ownerReferences": []any{node{"kind": "X", "name": "owner", "uid": uid}},
	}}
	if uid == nil || !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
}

// TestPopulateWhatIsThere starts a run with an object that every server has.
func TestPopulateWhatIsThere(t *testing.T) {
	c, a := newCluster(t)
	a.objects["/api/v1/namespaces/default"] = node{"metadata": node{"name": "default", "uid": "33333333-3333-4333-8333-333333333333"}}
	if err := c.Populate(context.Background(), []core.TraceObject{placed("Namespace", "v1", "", "default")}); err != nil {
		t.Fatal(err)
	}
	if got, want := a.log(), []string{"POST /api/v1/namespaces/default", "PUT /api/v1/namespaces/default", "GET /api/v1/namespaces"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	if got := c.uids.real["uid of default"]; got != "33333333-3333-4333-8333-333333333333" {
		t.Errorf("its uid is taken to be %q", got)
	}
	if c.own(core.Key{Kind: "Namespace", Name: "default"}, nil) {
		t.Error("it is still left out of lists")
	}
}

// TestPopulateAges starts a run of objects of different ages: they are created in their order, those of different ages
// in different seconds.
func TestPopulateAges(t *testing.T) {
	c, a := newCluster(t)
	c.server = c.server.Aged([][]core.Kind{{"ConfigMap"}}).(*kube.Server)
	var objects []core.TraceObject
	for _, o := range []struct{ name, at string }{{"late", "2000-01-01T00:00:02Z"}, {"early", "2000-01-01T00:00:01Z"}, {"later", "2000-01-01T00:00:02Z"}} {
		objects = append(objects, with(placed("ConfigMap", "v1", "default", o.name), node{"creationTimestamp": o.at}))
	}
	began := time.Now()
	if err := c.Populate(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("they were created within %v", took)
	}
	var created []string
	for _, sent := range a.log() {
		if name, found := strings.CutPrefix(sent, "POST /api/v1/namespaces/default/configmaps/"); found {
			created = append(created, name)
		}
	}
	if want := []string{"early", "late", "later"}; !slices.Equal(created, want) {
		t.Errorf("created are %q, want %q: %q", created, want, a.log())
	}
}

// TestPopulateDefinitions starts a run with a definition that was installed before, and is left as it is.
func TestPopulateDefinitions(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, a := newClusterOf(t, scheme)
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
	a.objects[path] = node{"metadata": node{"name": "widgets.example.com", "uid": "33333333-3333-4333-8333-333333333333"}}
	if err := c.Populate(context.Background(), []core.TraceObject{placed("CustomResourceDefinition.apiextensions.k8s.io", "apiextensions.k8s.io/v1", "", "widgets.example.com")}); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(a.log(), func(sent string) bool { return strings.HasPrefix(sent, "PUT") }) {
		t.Errorf("sent %q", a.log())
	}
	if got := c.uids.real["uid of widgets.example.com"]; got != "33333333-3333-4333-8333-333333333333" {
		t.Errorf("its uid is taken to be %q", got)
	}
}

func TestPopulateRefuses(t *testing.T) {
	tests := []struct {
		name   string
		object core.TraceObject
		want   string
	}{
		{"an owner that is not there", placed("ConfigMap", "v1", "default", "a", "gone"), "ConfigMap default/a cannot be created on a real server: an owner"},
		{"no fields", core.TraceObject{Kind: "ConfigMap", Name: "a", Fields: "text"}, "ConfigMap a has no fields"},
		{"an unknown kind", placed("Comet", "v1", "", "a"), "creating Comet a: "},
		{"a refusal", placed("Secret", "v1", "default", "a"), "creating Secret default/a: it is too late"},
		{"a refused namespace", placed("ConfigMap", "v1", "late", "a"), "creating ConfigMap late/a: it is too late"},
		{"a refused status", having(placed("Widget.example.com", "example.com/v1", "default", "a"), "status", node{}), "creating Widget.example.com default/a: it is too late"},
		{
			"a refused delete", with(placed("Pod", "v1", "default", "a"), node{"deletionTimestamp": "2000-01-01T00:00:00Z"}),
			"deleting Pod default/a: it is too late",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a := newCluster(t)
			late := answer{409, `{"kind":"Status","reason":"Conflict","code":409,"message":"it is too late"}`}
			for _, place := range []string{
				"POST /api/v1/namespaces/default/secrets", "POST /api/v1/namespaces/late/configmaps",
				"PUT /apis/example.com/v1/namespaces/default/widgets/a/status", "DELETE /api/v1/namespaces/default/pods/a",
			} {
				a.answers[place] = late
			}
			err := c.Populate(context.Background(), []core.TraceObject{test.object})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

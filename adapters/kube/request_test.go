package kube

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
)

func TestRequestInWords(t *testing.T) {
	for want, r := range map[string]*Request{
		"get Widget default/a":                       request(Get, widgetKind, "a"),
		"get Fleet f":                                request(Get, fleetKind, "f"),
		"list Pod in default with app=x":             {Verb: List, Kind: podKind, Namespace: "default", LabelSelector: "app=x"},
		"list Pod where spec.nodeName=n (at most 3)": {Verb: List, Kind: podKind, FieldSelector: "spec.nodeName=n", Limit: 3},
		"create Widget default/a":                    creation(widgetKind, tree{"name": "a"}, nil),
		"create Widget default/a-*":                  creation(widgetKind, tree{"generateName": "a-"}, nil),
		"create Widget default/(unreadable body)":    {Verb: Create, Kind: widgetKind, Namespace: "default", Body: []byte("{")},
		"update Widget default/a (status)":           {Verb: Update, Kind: widgetKind, Namespace: "default", Name: "a", Subresource: "status"},
		"patch (merge) Widget default/a (status)":    ofStatus(patching(widgetKind, "a", types.MergePatchType, "{}")),
		"dry-run delete Widget default/a":            {Verb: Delete, Kind: widgetKind, Namespace: "default", Name: "a", DryRun: true},
		"deletecollection Widget in default":         request(DeleteCollection, widgetKind, ""),
		"patch (json) Widget default/a":              patching(widgetKind, "a", types.JSONPatchType, "[]"),
		"patch (apply) Widget default/a":             patching(widgetKind, "a", types.ApplyPatchType, "{}"),
		"patch (strategic) Widget default/a":         patching(widgetKind, "a", types.StrategicMergePatchType, "{}"),
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRequestIdentityAndSource(t *testing.T) {
	a, b := request(Get, widgetKind, "a"), request(Get, widgetKind, "a")
	if a.Identity() != b.Identity() {
		t.Error("equal requests have different identities")
	}
	b.DryRun = true
	if a.Identity() == b.Identity() {
		t.Error("different requests have one identity")
	}
	if a.Source() != core.Live {
		t.Error("a live read is not live")
	}
	b.FromCache = true
	if b.Source() != core.Cached {
		t.Error("a cached read is not cached")
	}
}

// TestEnqueue has an item be put into a queue at once, or be given a timer, by different calls.
func TestEnqueue(t *testing.T) {
	server, item := newTestServer(t), core.Item{Strategy: "web", Request: "a"}
	identities := map[string]bool{}
	for want, call := range map[string]*Enqueue{
		"enqueue a": {Item: core.Item{Request: "a"}}, "enqueue a later": {Item: core.Item{Request: "a"}, Later: true},
		"enqueue web(a)": {Item: item}, "enqueue web(a) later": {Item: item, Later: true},
	} {
		answer, err := server.Answer(nil, call)
		now, later := []core.Item{call.Item}, []core.Item(nil)
		if call.Later {
			now, later = later, now
		}
		if err != nil || !slices.Equal(answer.Enqueue, now) || !slices.Equal(answer.EnqueueAfter, later) || len(answer.Writes) > 0 {
			t.Errorf("%s: %+v, %v", call, answer, err)
		}
		if call.String() != want || call.Source() != core.Live {
			t.Errorf("%q is not %q, or not live", call, want)
		}
		identities[call.Identity()] = true
	}
	identities[(&Enqueue{Item: core.Item{Request: "a later"}}).Identity()] = true
	if len(identities) != 5 {
		t.Errorf("different calls have one identity: %v", identities)
	}
}

func TestResponses(t *testing.T) {
	w := widgetsWorld(t)
	for _, test := range []struct {
		request *Request
		want    string
	}{
		{request(Get, widgetKind, "a"), "ok"},
		{request(List, widgetKind, ""), "3 items"},
		{&Request{Verb: List, Kind: widgetKind, LabelSelector: "color=blue"}, "1 item"},
		{&Request{Verb: List, Kind: podKind}, "0 items"},
		{request(Get, widgetKind, "x"), `404 NotFound: widgets.example.com "x" not found`},
		{&Request{Verb: Get, Kind: widgetKind, Namespace: "default", Name: "x", FromCache: true}, `404 NotFound: Widget.example.com "x" not found`},
		{&Request{Verb: Get, Kind: widgetKind, Name: "a", FromCache: true}, `404 NotFound: Widget.example.com "a" not found`},
		{&Request{Verb: Get, Kind: widgetKind, Namespace: "default", FromCache: true}, `404 NotFound: Widget.example.com "" not found`},
		{request(Get, widgetKind, ""), "400 BadRequest: name must be provided"},
		{request(Delete, widgetKind, "b"), "ok"},
	} {
		response, _ := w.do(test.request)
		if response.String() != test.want {
			t.Errorf("%s: got %q, want %q", test.request, response, test.want)
		}
		again, _ := w.do(test.request)
		if test.request.Verb != Delete && again.Identity() != response.Identity() {
			t.Errorf("%s: answered differently the second time", test.request)
		}
	}
	missing, _ := w.do(request(Get, widgetKind, "x"))
	if !apierrors.IsNotFound(missing.Err()) {
		t.Errorf("the error is %v", missing.Err())
	}
	if found, _ := w.do(request(Get, widgetKind, "a")); found.Err() != nil {
		t.Errorf("the error is %v", found.Err())
	}
}

type foreignCall struct{ core.Call }

func (foreignCall) String() string { return "something else" }

func TestUnsupportedCalls(t *testing.T) {
	w := newWorld(t)
	w.widget("a", nil)
	gizmo := widgetKind
	gizmo.Kind = "Gizmo"
	logs := request(Get, podKind, "p")
	logs.Subresource = "log"
	cached := request(Delete, widgetKind, "a")
	cached.FromCache = true
	for _, r := range []*Request{
		request(Get, gizmo, "a"),
		request("watch", widgetKind, "a"),
		request(Get, podKind.GroupVersion().WithKind("Binding"), "a"),
		logs, cached,
	} {
		w.unsupported(r)
	}
	if _, err := w.server.Answer(w, foreignCall{}); err == nil {
		t.Error("a call that is no request is answered")
	}
}

package kube

import (
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/core"
)

// hooks is a webhook of each sort for Widgets. One paints them red unless they have a
// color, the other refuses green ones, and remembers what it was asked.
type hooks struct {
	asked []*admissionv1.AdmissionRequest
}

func (h *hooks) all() []Webhook {
	everything := []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete}
	v1beta1 := widgetKind
	v1beta1.Version = "v1beta1"
	return []Webhook{
		{Name: "guard", Kind: v1beta1, Operations: everything, Review: func(_ core.Snapshot, r *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			h.asked = append(h.asked, r)
			if strings.Contains(string(r.Object.Raw), "green") || strings.Contains(string(r.OldObject.Raw), "precious") {
				return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "no", Reason: metav1.StatusReasonForbidden, Code: 403}}, nil
			}
			if strings.Contains(string(r.Object.Raw), "strange") {
				return nil, errors.New("strange objects are not modelled")
			}
			return &admissionv1.AdmissionResponse{Allowed: true}, nil
		}},
		{Name: "painter", Kind: widgetKind, Operations: everything[:2], Mutates: true, Review: func(_ core.Snapshot, r *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			answer := &admissionv1.AdmissionResponse{Allowed: true}
			if !strings.Contains(string(r.Object.Raw), "color") {
				answer.Patch = []byte(`[{"op":"add","path":"/spec","value":{"color":"red"}}]`)
			}
			return answer, nil
		}},
	}
}

func hookedWorld(t *testing.T, h *hooks) *world {
	t.Helper()
	server, err := newTestServer(t).WithWebhooks(h.all()...)
	if err != nil {
		t.Fatal(err)
	}
	return emptyWorld(t, server)
}

func TestWebhooks(t *testing.T) {
	h := &hooks{}
	w := hookedWorld(t, h)
	a := w.widget("a", nil)
	expect(t, "spec, painted and with the default", a.Object["spec"], tree{"color": "red", "size": 1})
	asked := h.asked[0]
	expect(t, "operation", asked.Operation, "CREATE")
	expect(t, "resource", asked.Resource.String(), "example.com/v1beta1, Resource=widgets")
	if object := string(asked.Object.Raw); !strings.Contains(object, `"red"`) || !strings.Contains(object, "example.com/v1beta1") {
		t.Errorf("the guard is asked about %s", object)
	}
	refusal := `admission webhook "guard" denied the request: no`
	green := `{"spec":{"color":"green"}}`
	w.refuse(creation(widgetKind, tree{"name": "b"}, tree{"spec": tree{"color": "green"}}), 403, refusal)
	w.refuse(patching(widgetKind, "a", types.MergePatchType, green), 403, refusal)
	w.refuse(applying(widgetKind, "c", "m", tree{"spec": tree{"color": "green"}}), 403, refusal)
	dry := patching(widgetKind, "a", types.MergePatchType, green)
	dry.DryRun = true
	w.refuse(dry, 403, refusal)
	expect(t, "dry run", *h.asked[len(h.asked)-1].DryRun, true)

	before := len(h.asked)
	w.must(ofStatus(patching(widgetKind, "a", types.MergePatchType, `{"status":{"ready":true}}`)))
	expect(t, "reviews of a status", len(h.asked)-before, 0)
	reason := w.unsupported(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"color":"strange"}}`))
	expect(t, "reason", reason, "webhook guard: strange objects are not modelled")

	w.must(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"color":"precious"}}`))
	w.refuse(request(Delete, widgetKind, "a"), 403, refusal)
	w.refuse(request(DeleteCollection, widgetKind, ""), 403, refusal)
	w.must(creation(gadgetKind, tree{"name": "g"}, tree{"spec": tree{"color": "green"}}))
}

func TestWebhooksReviewInitialObjects(t *testing.T) {
	w := hookedWorld(t, &hooks{})
	initial, err := w.server.Initial(parse(t, w.server, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}")...)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "spec", initial.Objects[0].Content.Fields().(tree)["spec"], tree{"color": "red", "size": 1})
	_, err = w.server.Initial(parse(t, w.server, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {color: green}}")...)
	if err == nil || !strings.Contains(err.Error(), "denied the request") {
		t.Errorf("got %v", err)
	}
}

func TestRefusalsOfWebhooks(t *testing.T) {
	for _, test := range []struct {
		result *metav1.Status
		code   int32
		want   string
	}{
		{nil, 400, `admission webhook "w" denied the request without explanation`},
		{&metav1.Status{Code: 200, Message: "m", Status: metav1.StatusSuccess}, 400, `admission webhook "w" denied the request: m`},
		{&metav1.Status{Code: 422, Reason: "R"}, 422, `admission webhook "w" denied the request: R`},
	} {
		server, err := newTestServer(t).WithWebhooks(Webhook{
			Name: "w", Kind: widgetKind, Operations: []admissionv1.Operation{admissionv1.Create},
			Review: func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
				return &admissionv1.AdmissionResponse{Result: test.result}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		emptyWorld(t, server).refuse(creation(widgetKind, tree{"name": "a"}, nil), test.code, test.want)
	}
}

func TestWebhookMistakes(t *testing.T) {
	gizmo := widgetKind
	gizmo.Kind = "Gizmo"
	review := func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
		return nil, nil
	}
	for want, hook := range map[string]Webhook{
		"kind Gizmo.example.com is not registered": {Name: "w", Kind: gizmo, Review: review},
		"set Review": {Name: "w", Kind: widgetKind},
	} {
		if _, err := newTestServer(t).WithWebhooks(hook); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	bad := Webhook{Name: "w", Kind: widgetKind, Mutates: true, Operations: []admissionv1.Operation{admissionv1.Create}}
	for _, patch := range []string{`{`, `[{"op":"remove","path":"/nowhere"}]`, `[{"op":"replace","path":"/spec","value":7}]`} {
		bad.Review = func(core.Snapshot, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch)}, nil
		}
		server, err := newTestServer(t).WithWebhooks(bad)
		if err != nil {
			t.Fatal(err)
		}
		w := emptyWorld(t, server)
		response, _ := w.do(creation(widgetKind, tree{"name": "a"}, tree{"spec": tree{"size": 1}}))
		if response.Status == nil || response.Status.Code < 400 {
			t.Errorf("patch %s: %s", patch, response)
		}
	}
}

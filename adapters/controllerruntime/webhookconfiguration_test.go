package controllerruntime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
)

const manifests = "testdata/webhooks/manifests.yaml"

func allow(context.Context, admission.Request) admission.Response { return admission.Allowed("") }

// refuseNew refuses everything but the creation of what is there at the start.
func refuseNew(_ context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Create && request.Name == "old" {
		return admission.Allowed("")
	}
	return admission.Denied("no")
}

// configured registers handlers where the manifests say that webhooks are.
func configured(mutate, validate admission.HandlerFunc) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		server := mgr.GetWebhookServer()
		server.Register("/mutate", &admission.Webhook{Handler: mutate})
		server.Register("/own/validator", &admission.Webhook{Handler: validate})
		server.Register("/forgotten", &admission.Webhook{Handler: validate})
		return nil
	})
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// A webhook is asked about what its rules and selectors name, at any path.
func TestConfiguredWebhooks(t *testing.T) {
	create := func(ctx context.Context, c client.Client, object client.Object) error { return c.Create(ctx, object) }
	remove := func(ctx context.Context, c client.Client, object client.Object) error { return c.Delete(ctx, object) }
	update := func(ctx context.Context, c client.Client, object client.Object) error {
		return c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
	}
	unchecked, elsewhere := widget("a", 1), widget("a", 1)
	unchecked.Labels = map[string]string{"unchecked": ""}
	elsewhere.Namespace = "kube-system"
	for name, test := range map[string]struct {
		do      func(context.Context, client.Client, client.Object) error
		object  client.Object
		refused bool
	}{
		"creation":                        {create, widget("a", 1), true},
		"creation of another kind":        {create, configMap("a", nil), false},
		"creation that is not selected":   {create, unchecked, false},
		"creation in another namespace":   {create, elsewhere, false},
		"update":                          {update, widget("old", 1), false},
		"deletion":                        {remove, widget("old", 1), true},
		"deletion of another kind":        {remove, configMap("old", nil), true},
		"deletion outside all namespaces": {remove, node("old"), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, controllerruntime.WebhookConfigurations(manifests), configured(allow, refuseNew),
				controllerruntime.ObjectValues(widget("old", 1), configMap("old", nil), node("old")),
				using(func(ctx context.Context, mgr ctrl.Manager) error {
					return test.do(ctx, mgr.GetClient(), test.object.DeepCopyObject().(client.Object))
				}))
			err := use(w)
			if !test.refused && err != nil {
				t.Errorf("got %v", err)
			}
			if test.refused && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `admission webhook "vwidget.example.org" denied the request: no`)) {
				t.Errorf("it is not refused: %v", err)
			}
			equal(t, "assumptions", w.system.Assumptions, []string{
				"The webhook unserved.example.org at /unserved is not asked: its rules are about nothing that the API server serves.",
				"The webhook at /forgotten is not run: no webhook configuration names its path.",
			})
			equal(t, "not modelled", w.system.Unmodelled, []string{
				"the webhook mwidget.example.org is asked once about a write, and not again after others have changed the object: set its reinvocationPolicy to Never",
				"the webhook elsewhere.example.org at / is not asked, as no set-up registers one that can be run there: register it, or leave it out of the webhook configurations",
			})
		})
	}
}

// The labels of a Namespace count, and it is its own namespace.
func TestConfiguredWebhooksSelectNamespaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "webhooks.yaml")
	text := `
kind: ValidatingWebhookConfiguration
webhooks:
- name: guard
  clientConfig: {service: {path: own/validator}}
  namespaceSelector: {matchLabels: {guarded: "yes"}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	namespace := func(name, guarded string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"guarded": guarded}}}
	}
	within := func(namespace string) client.Object {
		c := configMap("a", nil)
		c.Namespace = namespace
		return c
	}
	w := newWorld(t, controllerruntime.WebhookConfigurations(path),
		configured(allow, func(_ context.Context, request admission.Request) admission.Response {
			if request.Name == "yes" {
				return admission.Allowed("")
			}
			return admission.Denied("no")
		}),
		controllerruntime.ObjectValues(namespace("yes", "yes"), namespace("no", "no")),
		using(func(ctx context.Context, mgr ctrl.Manager) error {
			for object, refused := range map[client.Object]bool{
				within("yes"): true, within("no"): false, within("unknown"): false, node("a"): true,
				namespace("more", "yes"): true, namespace("other", "no"): false,
			} {
				if err := mgr.GetClient().Create(ctx, object); apierrors.IsForbidden(err) != refused {
					return fmt.Errorf("%T %s/%s: %v", object, object.GetNamespace(), object.GetName(), err)
				}
			}
			return nil
		}))
	if err := use(w); err != nil {
		t.Error(err)
	}
}

// Rules may name subresources, by themselves or with what they belong to. Webhooks are not asked about those.
func TestConfiguredWebhooksOfSubresources(t *testing.T) {
	const doubt = "the webhook guard is not asked about writes to subresources that its rules name, such as %s: leave these out of the rules if they do not matter to what is checked"
	for resources, test := range map[string]struct {
		operations, example string
		refused             bool
	}{
		"widgets":        {operations: "*", refused: true},
		"widgets/status": {operations: "UPDATE", example: "widgets/status"},
		"widgets/*":      {operations: "*", example: "widgets/status", refused: true},
		"*":              {operations: "*", refused: true},
		"*/scale":        {operations: "CREATE"},
		"*/status":       {operations: "*", example: "widgets/status"},
		"*/*":            {operations: "*", example: "widgets/status", refused: true},
	} {
		t.Run(resources, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "webhooks.yaml")
			text := fmt.Sprintf(`
kind: ValidatingWebhookConfiguration
webhooks:
- name: guard
  clientConfig: {service: {path: own/validator}}
  rules: [{apiGroups: [example.org], apiVersions: ["*"], operations: [%q], resources: [%q]}]`, test.operations, resources)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, controllerruntime.WebhookConfigurations(path), configured(allow, refuseNew),
				using(func(ctx context.Context, mgr ctrl.Manager) error { return mgr.GetClient().Create(ctx, widget("a", 1)) }))
			if err := use(w); apierrors.IsForbidden(err) != test.refused {
				t.Errorf("a creation ends with %v", err)
			}
			var want []string
			if test.example != "" {
				want = []string{fmt.Sprintf(doubt, test.example)}
			}
			equal(t, "not modelled", w.system.Unmodelled, want)
		})
	}
}

// A webhook that does not answer in its time fails the write, or is passed over.
func TestFailurePolicies(t *testing.T) {
	neverEnds(t)
	wait := func(ctx context.Context, _ admission.Request) admission.Response {
		time.Sleep(6 * time.Second) // between the timeouts of the two
		return admission.Allowed("")
	}
	crash := func(context.Context, admission.Request) admission.Response { select {} }
	for name, test := range map[string]struct {
		mutate, validate admission.HandlerFunc
		want             string
	}{
		"ignored":       {crash, allow, ""},
		"in time":       {wait, allow, ""},
		"not in time":   {allow, wait, `failed calling webhook "vwidget.example.org": failed to call webhook: context deadline exceeded`},
		"not answering": {crash, crash, `failed calling webhook "vwidget.example.org": failed to call webhook: every goroutine of it is blocked for ever`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, controllerruntime.WebhookConfigurations(manifests), configured(test.mutate, test.validate), using(createWidget))
			err := use(w)
			if test.want == "" && err != nil || test.want != "" && (!apierrors.IsInternalError(err) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestMistakesInWebhookConfigurations(t *testing.T) {
	const head = "kind: MutatingWebhookConfiguration\nwebhooks:\n- name: w\n  "
	for name, test := range map[string]struct{ text, want string }{
		"nothing":    {"kind: Service", "has no webhooks: pass the file with the MutatingWebhookConfiguration"},
		"conditions": {head + "matchConditions: [{name: a, expression: 'true'}]", "document 1, webhook w: matchConditions are not modelled"},
		"nowhere":    {head + "clientConfig: {}", "neither a service nor a url"},
		"url":        {head + "clientConfig: {url: '%'}", "invalid URL escape"},
		"selector":   {head + "clientConfig: {service: {}}\n  objectSelector: {matchExpressions: [{key: a, operator: Near}]}", "objectSelector: "},
		"namespaces": {head + "clientConfig: {service: {}}\n  namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}", "namespaceSelector: "},
		"no YAML":    {"---\n---\n\tkind", "document 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "webhooks.yaml")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := controllerruntime.New(newScheme(), controllerruntime.WebhookConfigurations(path),
				controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(setupWidgets))
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	_, err := controllerruntime.New(newScheme(), controllerruntime.WebhookConfigurations("nowhere.yaml"), controllerruntime.Setup(setupWidgets))
	if err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("got %v", err)
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// widgetHooks default the parts of a Widget to those that its config says, and refuse
// more than nine.
type widgetHooks struct {
	reader client.Reader
	writer client.Writer
}

func (h widgetHooks) Default(ctx context.Context, w *Widget) error {
	if w.Spec.Config == "" || w.Spec.Parts > 0 {
		return nil
	}
	var config corev1.ConfigMap
	if err := h.reader.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Spec.Config}, &config); err != nil {
		return err
	}
	w.Spec.Parts = len(config.Data)
	return nil
}

func (h widgetHooks) ValidateCreate(ctx context.Context, w *Widget) (admission.Warnings, error) {
	if h.writer != nil {
		if err := h.writer.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "audit"}}); err != nil {
			return nil, err
		}
	}
	if w.Spec.Parts > 9 {
		return nil, fmt.Errorf("%d are too many parts", w.Spec.Parts)
	}
	return nil, nil
}

func (h widgetHooks) ValidateUpdate(ctx context.Context, before, w *Widget) (admission.Warnings, error) {
	if w.Spec.Parts < before.Spec.Parts {
		return nil, errors.New("parts cannot be taken off")
	}
	return h.ValidateCreate(ctx, w)
}

func (widgetHooks) ValidateDelete(context.Context, *Widget) (admission.Warnings, error) {
	return nil, errors.New("deletions are not asked about")
}

// hooked registers the webhooks and a controller that runs some code.
func hooked(hooks func(ctrl.Manager) widgetHooks, code func(context.Context, client.Client) error) []controllerruntime.Option {
	return []controllerruntime.Option{
		controllerruntime.ObjectValues(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "three"}, Data: map[string]string{"a": "", "b": "", "c": ""},
		}),
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			h := hooks(mgr)
			return ctrl.NewWebhookManagedBy(mgr, &Widget{}).WithDefaulter(h).WithValidator(h).Complete()
		}),
		using(func(ctx context.Context, mgr ctrl.Manager) error { return code(ctx, mgr.GetClient()) }),
	}
}

func cachedHooks(mgr ctrl.Manager) widgetHooks { return widgetHooks{reader: mgr.GetClient()} }

func liveHooks(mgr ctrl.Manager) widgetHooks { return widgetHooks{reader: mgr.GetAPIReader()} }

func TestWebhooksAreAsked(t *testing.T) {
	for name, hooks := range map[string]func(ctrl.Manager) widgetHooks{"cached": cachedHooks, "live": liveHooks} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, hooked(hooks, func(ctx context.Context, c client.Client) error {
				made := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: WidgetSpec{Config: "three"}}
				if err := c.Create(ctx, made); err != nil {
					return err
				}
				if made.Spec.Parts != 3 {
					return fmt.Errorf("the defaulter leaves %d parts, want 3", made.Spec.Parts)
				}
				made.Spec.Parts = 10
				if err := c.Update(ctx, made); !apierrors.IsForbidden(err) ||
					!strings.Contains(err.Error(), `admission webhook "/validate-example-org-v1-widget" denied the request: 10 are too many parts`) {
					return fmt.Errorf("an update to 10 parts: %v", err)
				}
				made.Spec.Parts = 2
				if err := c.Update(ctx, made); !apierrors.IsForbidden(err) {
					return fmt.Errorf("an update to 2 parts: %v", err)
				}
				made.Spec.Parts = 4
				return errors.Join(c.Update(ctx, made), c.Delete(ctx, made))
			})...)
			equal(t, "assumptions", w.system.Assumptions, []string{
				"The webhook at /mutate-example-org-v1-widget is asked about creations and updates.",
				"The webhook at /validate-example-org-v1-widget is asked about creations and updates.",
			})
			if err := use(w); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWebhooksAreAskedAboutInitialObjects(t *testing.T) {
	none := func(context.Context, client.Client) error { return nil }
	w := newWorld(t, append(hooked(liveHooks, none), controllerruntime.ObjectValues(
		&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: WidgetSpec{Config: "three"}}))...)
	if parts := w.field("Widget.example.org", "a", "spec", "parts"); fmt.Sprint(parts) != "3" {
		t.Errorf("the initial object has %v parts, want 3", parts)
	}
	_, err := controllerruntime.New(newScheme(), append(hooked(liveHooks, none),
		controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("b", 10)))...)
	if err == nil || !strings.Contains(err.Error(), "Widget.example.org default/b: admission webhook") {
		t.Errorf("an initial object that is refused: %v", err)
	}
}

// A webhook that writes is reported, and not just let write.
func TestWebhookThatWrites(t *testing.T) {
	w := newWorld(t, hooked(
		func(mgr ctrl.Manager) widgetHooks {
			return widgetHooks{reader: mgr.GetAPIReader(), writer: mgr.GetClient()}
		},
		func(ctx context.Context, c client.Client) error { return c.Create(ctx, widget("a", 1)) },
	)...)
	_ = use(w)
	if len(w.unsupported) != 1 || !strings.Contains(w.unsupported[0].Error(), "a webhook that writes is not modelled") {
		t.Errorf("unsupported calls: %v", w.unsupported)
	}
	if w.objects[core.Key{Kind: "ConfigMap", Namespace: "default", Name: "audit"}] != nil {
		t.Error("the webhook has written")
	}
}

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
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

// breaking are webhooks for Widgets whose validator does something else first.
type breaking struct {
	widgetHooks
	do func(context.Context)
}

func (h breaking) ValidateCreate(ctx context.Context, _ *Widget) (admission.Warnings, error) {
	h.do(ctx)
	return nil, nil
}

// breakingAt registers a validator that does something, at a path of its own.
func breakingAt(path string, do func(context.Context)) controllerruntime.Option {
	return controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewWebhookManagedBy(mgr, &Widget{}).
			WithValidator(breaking{do: do}).WithValidatorCustomPath(path).RecoverPanic(false).Complete()
	})
}

// createWidget creates a Widget and returns the error of the server.
func createWidget(ctx context.Context, mgr ctrl.Manager) error {
	return mgr.GetClient().Create(ctx, widget("a", 1))
}

// A webhook that does not answer is one that a server cannot call.
func TestWebhooksThatDoNotAnswer(t *testing.T) {
	neverEnds(t)
	for name, test := range map[string]struct {
		do   func(context.Context)
		want string
	}{
		"blocked":   {func(context.Context) { <-make(chan int) }, "every goroutine of it is blocked for ever"},
		"panicking": {func(context.Context) { panic("no such part") }, "it panicked: no such part"},
		"leaving":   {func(context.Context) { runtime.Goexit() }, "it ended its goroutine instead of returning"},
		"slow":      {func(context.Context) { time.Sleep(time.Hour) }, "context deadline exceeded"},
		"patient":   {func(ctx context.Context) { <-ctx.Done() }, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, breakingAt("/own", test.do), using(createWidget))
			err := use(w)
			want := `failed calling webhook "/own": failed to call webhook: ` + test.want
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			if again := use(w); err == nil || again == nil || again.Error() != err.Error() {
				t.Errorf("the second time it is %v", again)
			}
		})
	}
}

// A webhook that is in time is not disturbed by how long it takes, nor by what it
// leaves behind.
func TestWebhookThatTakesItsTime(t *testing.T) {
	neverEnds(t)
	w := newWorld(t, breakingAt("/own", func(context.Context) {
		go func() { <-make(chan int) }()
		time.Sleep(9 * time.Second)
	}), using(createWidget))
	if err := use(w); err != nil {
		t.Error(err)
	}
}

// What a webhook keeps is not there the next time: every review has a fresh one.
func TestWebhooksForget(t *testing.T) {
	w := newWorld(t,
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			reviews := make(chan int, 1) // would be full the second time
			return ctrl.NewWebhookManagedBy(mgr, &Widget{}).
				WithValidator(breaking{do: func(context.Context) { reviews <- 1 }}).Complete()
		}),
		using(func(ctx context.Context, mgr ctrl.Manager) error {
			return errors.Join(mgr.GetClient().Create(ctx, widget("a", 1)), mgr.GetClient().Create(ctx, widget("b", 1)))
		}))
	if err := use(w); err != nil {
		t.Error(err)
	}
}

// A webhook that is told by its path alone: the handler is one of its own.
func TestHandlersOfOnesOwn(t *testing.T) {
	refuse := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Denied("no")
	})}
	w := newWorld(t,
		controllerruntime.Setup(func(mgr ctrl.Manager) error {
			mgr.GetWebhookServer().Register("/validate-example-org-v1-widget", refuse)
			mgr.GetWebhookServer().Register("/elsewhere", refuse)
			return nil
		}),
		using(createWidget))
	if err := use(w); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	equal(t, "assumptions", w.system.Assumptions, []string{
		"The webhook at /validate-example-org-v1-widget is asked about creations and updates.",
	})
	equal(t, "not modelled", w.system.Unmodelled, []string{
		"the webhook at /elsewhere is not run: give what asks it with WebhookConfigurations, or leave it out of the set-up",
	})
}

// A webhook that never answers makes a controller fail for ever: that is a finding, and
// says so.
func TestWebhookThatNeverAnswersIsFound(t *testing.T) {
	neverEnds(t)
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition),
		controllerruntime.ObjectValues(configMap("settings", nil)), controllerruntime.Properties(properties.StableConvergence()),
		breakingAt("/own", func(context.Context) { select {} }),
		controllerruntime.Reconciler("maker", func(c client.Client) reconcile.Reconciler {
			return reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, widget("a", 1)))
			})
		}, controllerruntime.For(&corev1.ConfigMap{})))
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Report.Verdict != core.Violated || len(result.Report.Findings) != 1 {
		t.Fatalf("%s, %d findings, reasons %v", result.Report.Verdict, len(result.Report.Findings), result.Report.Reasons)
	}
	if story := fmt.Sprintf("%+v", result.Report.Findings[0]); !strings.Contains(story, `failed calling webhook "/own"`) {
		t.Errorf("the finding does not name the webhook: %s", story)
	}
}

// crowd lets one ConfigMap be made, as far as it reads.
type crowd struct{ reader client.Reader }

func (c crowd) ValidateCreate(ctx context.Context, _ *corev1.ConfigMap) (admission.Warnings, error) {
	var all corev1.ConfigMapList
	if err := c.reader.List(ctx, &all); err != nil {
		return nil, err
	}
	if len(all.Items) > 0 {
		return nil, errors.New("one is enough")
	}
	return nil, nil
}

func (crowd) ValidateUpdate(context.Context, *corev1.ConfigMap, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

func (crowd) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// TestCachedReviews has a webhook that reads from a cache be a reason against a verdict where that may be stale.
func TestCachedReviews(t *testing.T) {
	for name, test := range map[string]struct {
		reads func(ctrl.Manager) client.Reader
		stale []orrery.Staleness
		want  core.Verdict
	}{
		"of a cache":                   {func(m ctrl.Manager) client.Reader { return m.GetClient() }, nil, core.Holds},
		"of a cache that is stale":     {func(m ctrl.Manager) client.Reader { return m.GetClient() }, []orrery.Staleness{{Rule: orrery.Lag(1)}}, core.Inconclusive},
		"where another cache is stale": {func(m ctrl.Manager) client.Reader { return m.GetClient() }, []orrery.Staleness{{Kind: "Widget.example.org", Rule: orrery.Lag(1)}}, core.Holds},
		"where a cache would be stale": {func(m ctrl.Manager) client.Reader { return m.GetAPIReader() }, []orrery.Staleness{{Rule: orrery.Lag(1)}}, core.Holds},
	} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 1)), controllerruntime.Properties(properties.Convergent()...),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				if err := ctrl.NewWebhookManagedBy(mgr, &corev1.ConfigMap{}).WithValidator(crowd{test.reads(mgr)}).Complete(); err != nil {
					return err
				}
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
					for _, name := range []string{"first", "second"} {
						if err := c.Create(ctx, configMap(name, nil)); err != nil && !apierrors.IsForbidden(err) && !apierrors.IsAlreadyExists(err) {
							return ctrl.Result{}, err
						}
					}
					return ctrl.Result{}, nil
				}))
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{Stale: test.stale})
		if err != nil {
			t.Fatal(err)
		}
		reasons := strings.Join(result.Report.Reasons, "\n")
		if result.Report.Verdict != test.want || (test.want == core.Inconclusive) != strings.Contains(reasons, "reads ConfigMap from a cache, and what it does when that is stale was not searched") {
			t.Errorf("%s: it says %s, want %s: %s", name, result.Report.Verdict, test.want, reasons)
		}
	}
}

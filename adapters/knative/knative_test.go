package knative_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	configmapinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/configmap"
	secretinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/secret"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/tracker"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/clientgo"
	"github.com/orrery-dev/orrery/adapters/knative"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// copier writes the value of a Secret into each ConfigMap that names one, and tracks the Secret.
type copier struct {
	client     kubernetes.Interface
	configMaps listers.ConfigMapLister
	secrets    listers.SecretLister
	tracker    tracker.Interface
	impl       *controller.Impl
	level      string
	// A goroutine resolves what it is asked for, and tells what it has finished.
	asked, finished chan types.NamespacedName
	known           map[types.NamespacedName]bool
	// result is called instead of the rest.
	result func(*copier, types.NamespacedName) error
}

// Reconcile implements [controller.Reconciler].
func (c *copier) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	if c.result != nil {
		return c.result(c, types.NamespacedName{Namespace: namespace, Name: name})
	}
	m, err := c.configMaps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.tracker.TrackReference(tracker.Reference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: m.Data["from"]}, m); err != nil {
		return err
	}
	secret, err := c.secrets.Secrets(namespace).Get(m.Data["from"])
	if apierrors.IsNotFound(err) {
		return nil // the tracker tells when it comes
	}
	if err != nil || m.Data["value"] == string(secret.Data["value"]) {
		return err
	}
	m = m.DeepCopy()
	m.Data["value"] = string(secret.Data["value"])
	_, err = c.client.CoreV1().ConfigMaps(namespace).Update(ctx, m, metav1.UpdateOptions{})
	return err
}

// newCopier is a constructor as main functions give them to sharedmain.
func newCopier(change func(context.Context, *copier)) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		configMaps, secrets := configmapinformer.Get(ctx), secretinformer.Get(ctx)
		c := &copier{client: kubeclient.Get(ctx), configMaps: configMaps.Lister(), secrets: secrets.Lister()}
		c.impl = controller.NewContext(ctx, c, controller.ControllerOptions{WorkQueueName: "copiers", Logger: logging.FromContext(ctx)})
		c.tracker = c.impl.Tracker
		cmw.Watch("config-level", func(m *corev1.ConfigMap) { c.level = m.Data["level"] })
		_, _ = configMaps.Informer().AddEventHandler(controller.HandleAll(c.impl.Enqueue))
		_, _ = secrets.Informer().AddEventHandler(controller.HandleAll(controller.EnsureTypeMeta(c.tracker.OnChanged, corev1.SchemeGroupVersion.WithKind("Secret"))))
		if change != nil {
			change(ctx, c)
		}
		return c.impl
	}
}

func process(change func(context.Context, *copier)) knative.Process {
	return knative.Process{
		Controllers: []knative.Controller{{Name: "copier", New: newCopier(change)}},
		ConfigMaps:  []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "config-level"}, Data: map[string]string{"level": "high"}}},
	}
}

func objects() clientgo.Option {
	return clientgo.ObjectValues(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"from": "s"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Data: map[string][]byte{"value": []byte("1")}},
	)
}

func check(t *testing.T, p knative.Process, options orrery.Options) core.Report {
	t.Helper()
	system := clientgo.ForTest(t, scheme.Scheme, clientgo.Setup(p.Setup), objects(), clientgo.Properties(properties.Convergent()...))
	result, err := orrery.Run(t.Context(), system, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// value returns what the ConfigMap has at the end.
func value(r core.Report) any {
	for _, o := range r.OutcomeList[0].Objects {
		if o.Kind == "ConfigMap" && o.Namespace == "default" {
			return o.Fields.(map[string]any)["data"].(map[string]any)["value"]
		}
	}
	return nil
}

// active reports whether something was found to work in the background.
func active(r core.Report) bool {
	return slices.ContainsFunc(r.Assumptions, func(a string) bool { return strings.HasPrefix(a, "What a controller does in the background") })
}

// TestCopier checks a controller with a tracker: what it tracks is a part of the state, and is lost in a crash.
func TestCopier(t *testing.T) {
	for name, options := range map[string]orrery.Options{
		"": {}, "crash": {Crashes: 1}, "lag": {Stale: []orrery.Staleness{{Rule: orrery.Lag(1)}}}, "failure": {Failures: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, process(nil), options)
			if r.Verdict != core.Holds || r.Outcomes != 1 || value(r) != "1" {
				t.Fatalf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, r.Findings)
			}
			if active(r) {
				t.Error("it is said to work in the background")
			}
			if len(r.Memory) != 1 || !strings.Contains(strings.Join(r.Memory[0].Fields, " "), "racker.exact") {
				t.Errorf("its memory is %v", r.Memory)
			}
			if !slices.Contains(r.Assumptions, "The ConfigMaps of the control plane do not change while controllers run.") {
				t.Errorf("it assumes %v", r.Assumptions)
			}
		})
	}
}

// TestResults checks what becomes of a key by the error of its reconcile.
func TestResults(t *testing.T) {
	for name, test := range map[string]struct {
		result func(*copier, types.NamespacedName) error
		want   core.Verdict
	}{
		"nothing":   {func(*copier, types.NamespacedName) error { return nil }, core.Holds},
		"skipped":   {func(*copier, types.NamespacedName) error { return controller.NewSkipKey("a") }, core.Holds},
		"permanent": {func(*copier, types.NamespacedName) error { return controller.NewPermanentError(errors.New("never")) }, core.Holds},
		"transient": {func(*copier, types.NamespacedName) error { return errors.New("not yet") }, core.Violated},
		"later":     {func(*copier, types.NamespacedName) error { return controller.NewRequeueAfter(time.Minute) }, core.Holds},
		"at once":   {func(*copier, types.NamespacedName) error { return controller.NewRequeueImmediately() }, core.Violated},
		"slow lane": {func(c *copier, key types.NamespacedName) error { c.impl.EnqueueSlowKey(key); return nil }, core.Violated},
		"by itself": {func(c *copier, key types.NamespacedName) error { c.impl.EnqueueKey(key); return nil }, core.Violated},
		"after":     {func(c *copier, key types.NamespacedName) error { c.impl.EnqueueKeyAfter(key, time.Minute); return nil }, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, process(func(_ context.Context, c *copier) { c.result = test.result }), orrery.Options{})
			if r.Verdict != test.want {
				t.Errorf("%s, want %s: %v %v", r.Verdict, test.want, r.Reasons, r.Findings)
			}
		})
	}
}

// TestBackground checks a constructor that starts a goroutine until its context is over, as that of a resolver:
// reconciles leave keys to it, and it enqueues them when it is done.
func TestBackground(t *testing.T) {
	p := process(func(ctx context.Context, c *copier) {
		const some = 4
		c.asked, c.finished, c.known = make(chan types.NamespacedName, some), make(chan types.NamespacedName, some), map[types.NamespacedName]bool{}
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case key := <-c.asked:
					c.finished <- key
					c.impl.EnqueueKey(key)
				}
			}
		}()
		c.result = func(c *copier, key types.NamespacedName) error {
			select {
			case done := <-c.finished:
				c.known[done] = true
			default:
			}
			m, err := c.configMaps.ConfigMaps(key.Namespace).Get(key.Name)
			if err != nil || m.Data["value"] == "resolved" {
				return err
			}
			if !c.known[key] {
				c.asked <- key
				return nil
			}
			m = m.DeepCopy()
			m.Data["value"] = "resolved"
			_, err = c.client.CoreV1().ConfigMaps(key.Namespace).Update(context.Background(), m, metav1.UpdateOptions{})
			return err
		}
	})
	r := check(t, p, orrery.Options{})
	if r.Outcomes != 1 || value(r) != "resolved" || !active(r) {
		t.Errorf("%s with %d outcomes: %v %v", r.Verdict, r.Outcomes, r.Reasons, r.Findings)
	}
}

// TestConfiguration checks a constructor that asks for a ConfigMap of the control plane by its name, and a reconciler
// that does: with the objects of the API server before it.
func TestConfiguration(t *testing.T) {
	const namespace, name = "control-plane", "config-size"
	maps := []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"size": "large"}}}
	for want, there := range map[string][]client.Object{
		"large then large": nil,
		"large then small": {&corev1.ConfigMap{ObjectMeta: maps[0].ObjectMeta, Data: map[string]string{"size": "small"}}},
	} {
		p := process(func(ctx context.Context, c *copier) {
			early, err := c.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			c.result = func(c *copier, key types.NamespacedName) error {
				ctx := context.Background()
				m, err := c.configMaps.ConfigMaps(key.Namespace).Get(key.Name)
				if err != nil || key.Name != "a" || m.Data["value"] != "" {
					return err
				}
				late, err := c.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if _, err := c.client.CoreV1().ConfigMaps(namespace).Get(ctx, "another", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Errorf("a ConfigMap that is not there: %v", err)
				}
				m = m.DeepCopy()
				m.Data["value"] = early.Data["size"] + " then " + late.Data["size"]
				_, err = c.client.CoreV1().ConfigMaps(key.Namespace).Update(ctx, m, metav1.UpdateOptions{})
				return err
			}
		})
		p.ConfigMaps = append(p.ConfigMaps, maps...)
		system := clientgo.ForTest(t, scheme.Scheme, clientgo.Setup(p.Setup), objects(), clientgo.ObjectValues(there...), clientgo.Properties(properties.Convergent()...))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if r.Verdict != core.Holds || value(r) != want {
			t.Errorf("%s, %v: %v %v", r.Verdict, value(r), r.Reasons, r.Findings)
		}
		if active(r) {
			t.Error("it is said to work in the background, because of a request")
		}
	}
}

// TestMistakes wants errors that say what to change.
func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct {
		process knative.Process
		want    string
	}{
		"no constructor": {knative.Process{Controllers: []knative.Controller{{Name: "none"}}}, `controller "none" has no constructor`},
		"no controller": {knative.Process{Controllers: []knative.Controller{{Name: "none", New: func(context.Context, configmap.Watcher) *controller.Impl { return nil }}}},
			"its constructor returned nothing"},
		"no configuration": {knative.Process{Controllers: []knative.Controller{{Name: "copier", New: newCopier(nil)}}}, "config-level"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientgo.New(scheme.Scheme, clientgo.Setup(test.process.Setup), objects())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

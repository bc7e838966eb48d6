package controllerruntime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// marking is a set-up of a controller that marks ConfigMaps, and does something else before.
func marking(before func(ctrl.Manager) func(context.Context, *corev1.ConfigMap) error) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		first, c := before(mgr), mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			var m corev1.ConfigMap
			if err := c.Get(ctx, r.NamespacedName, &m); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if err := first(ctx, &m); err != nil || m.Labels["marked"] != "" {
				return ctrl.Result{}, err
			}
			m.Labels = map[string]string{"marked": "yes"}
			return ctrl.Result{}, c.Update(ctx, &m)
		}))
	}
}

func marked(t *testing.T, setup func(ctrl.Manager) error) core.Report {
	t.Helper()
	system := controllerruntime.ForTest(t, scheme.Scheme, controllerruntime.Setup(setup), controllerruntime.ObjectValues(configMap("a", nil)))
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// TestBroadcastersOfASetUp has a set-up start a broadcaster of events by itself: the events are lost, as those of the
// manager's recorders are. Events that a controller makes as any other object are there.
func TestBroadcastersOfASetUp(t *testing.T) {
	neverEnds(t) // nobody shuts the broadcasters down
	r := marked(t, marking(func(mgr ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		b := record.NewBroadcaster()
		b.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(mgr.GetConfig()).CoreV1().Events("")})
		recorder := b.NewRecorder(mgr.GetScheme(), corev1.EventSource{Component: "c"})
		return func(ctx context.Context, m *corev1.ConfigMap) error {
			recorder.Event(m, "Normal", "Seen", "seen")
			own := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "own"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"}}
			if err := mgr.GetClient().Create(ctx, own); client.IgnoreAlreadyExists(err) != nil {
				return err
			}
			return mgr.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(own), own)
		}
	}))
	if r.Verdict != core.Holds || len(r.OutcomeList) != 1 {
		t.Errorf("%s, %v, %v", r.Verdict, r.Reasons, r.OutcomeList)
	}
}

// TestCallsFromOutside has a set-up start a goroutine that asks the API server, which is in no bubble until it is known
// that it goes on beside the runs.
func TestCallsFromOutside(t *testing.T) {
	neverEnds(t)
	r := marked(t, marking(func(mgr ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		asked, c := make(chan string, 1<<10), mgr.GetClient()
		go func() {
			for name := range asked {
				m := configMap(name, nil)
				m.Name += "-seen"
				_ = c.Create(context.Background(), m)
			}
		}()
		return func(_ context.Context, m *corev1.ConfigMap) error {
			if !strings.HasSuffix(m.Name, "-seen") {
				asked <- m.Name
				time.Sleep(time.Millisecond)
			}
			return nil
		}
	}))
	if r.Verdict != core.Holds || len(r.OutcomeList) != 1 || len(r.OutcomeList[0].Objects) != 2 {
		t.Errorf("%s, %v, %v", r.Verdict, r.Reasons, r.OutcomeList)
	}
}

// TestDiscoveryOfWhatIsNotThere has code ask whether a cluster has kinds that it does not have, in a set-up and in a
// reconcile.
func TestDiscoveryOfWhatIsNotThere(t *testing.T) {
	absent := func(mgr ctrl.Manager, of string) error {
		found, err := discovery.NewDiscoveryClientForConfig(mgr.GetConfig())
		if err != nil {
			return err
		}
		if _, err = found.ServerResourcesForGroupVersion(of); apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	r := marked(t, marking(func(mgr ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
		if err := absent(mgr, "route.openshift.io/v1"); err != nil {
			t.Error(err)
		}
		return func(context.Context, *corev1.ConfigMap) error { return absent(mgr, "monitoring.coreos.com/v1") }
	}))
	if r.Verdict != core.Holds || len(r.OutcomeList) != 1 {
		t.Errorf("%s, %v", r.Verdict, r.Reasons)
	}
}

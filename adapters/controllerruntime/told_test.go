package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// reconcilesConfigMaps sets up a controller of ConfigMaps.
func reconcilesConfigMaps(name string, do func(context.Context, client.Client, *corev1.ConfigMap) (ctrl.Result, error)) controllerruntime.Option {
	return controllerruntime.Reconciler(name, func(c client.Client) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			o := &corev1.ConfigMap{}
			if err := c.Get(ctx, r.NamespacedName, o); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			return do(ctx, c, o)
		})
	}, controllerruntime.For(&corev1.ConfigMap{}))
}

// TestTimesThatUsersWriteBack has a user read an object and write it back: the times in it are still those that were
// read off the clock, and count in no outcome.
func TestTimesThatUsersWriteBack(t *testing.T) {
	change := controllerruntime.Change("go", configMap("written", nil), func(o *corev1.ConfigMap) { metav1.SetMetaDataLabel(&o.ObjectMeta, "go", "yes") })
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("written", nil), configMap("lease", nil)), controllerruntime.Scenario(change),
		reconcilesConfigMaps("writer", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
			now := time.Now().UTC().Format(time.RFC3339)
			switch {
			case o.Name != "written":
				return ctrl.Result{}, nil
			case o.Annotations["seen"] == "":
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "seen", now)
			case o.Labels["go"] != "" && o.Annotations["at"] == "":
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "at", now)
			default:
				return ctrl.Result{}, nil
			}
			return ctrl.Result{}, c.Update(ctx, o)
		}),
		reconcilesConfigMaps("expirer", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
			switch {
			case o.Name != "lease" || o.Labels["expired"] != "":
				return ctrl.Result{}, nil
			case time.Since(o.CreationTimestamp.Time) < time.Hour:
				return ctrl.Result{RequeueAfter: time.Hour}, nil
			}
			metav1.SetMetaDataLabel(&o.ObjectMeta, "expired", "yes")
			return ctrl.Result{}, c.Update(ctx, o)
		}))
	system.Properties = []core.Property{properties.SameOutcome()}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds {
		t.Errorf("%s %q %+v", r.Verdict, r.Reasons, r.Findings)
	}
}

// TestTimesAreIdentities has objects be told apart by the time that a controller wrote into each: that such times do
// not count where outcomes are compared makes none of them the same.
func TestTimesAreIdentities(t *testing.T) {
	startedAt := func(fields any) string {
		data, _ := fields.(map[string]any)["data"].(map[string]any)
		at, _ := data["startedAt"].(string)
		return at
	}
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("first", nil), configMap("second", nil)),
		reconcilesConfigMaps("writer", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
			switch {
			case o.Data["startedAt"] != "":
				return ctrl.Result{}, nil
			case o.Name == "second" && time.Since(o.CreationTimestamp.Time) < time.Hour:
				return ctrl.Result{RequeueAfter: time.Hour}, nil
			}
			o.Data = map[string]string{"startedAt": time.Now().UTC().Format(time.RFC3339)}
			return ctrl.Result{}, c.Update(ctx, o)
		}))
	system.Properties = []core.Property{properties.NoDuplicates("ConfigMap", startedAt), properties.SameOutcome()}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds {
		t.Errorf("%s %q %+v", r.Verdict, r.Reasons, r.Findings)
	}
}

package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

// TestHotLoopsOfWhoComparesTimes has controllers write the time into what they watch, and compare times besides: a moment earlier
// they would do something else, and still they wake themselves for ever.
func TestHotLoopsOfWhoComparesTimes(t *testing.T) {
	written := func(o *corev1.ConfigMap, name string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, o.Annotations[name])
		if err != nil {
			return time.Time{}
		}
		return at
	}
	for name, test := range map[string]struct {
		do   func(o *corev1.ConfigMap, now time.Time)
		want core.Verdict
	}{
		"it renews what is older": {func(o *corev1.ConfigMap, now time.Time) {
			if written(o, "renewed").Before(now) {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "renewed", now.Format(time.RFC3339Nano))
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "by", "it")
			}
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, "seen", now.Format(time.RFC3339Nano))
		}, core.Violated},
		"it leaves what is ahead": {func(o *corev1.ConfigMap, now time.Time) {
			if !now.Before(written(o, "seen")) {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "seen", now.Format(time.RFC3339Nano))
			}
		}, core.Inconclusive},
		"it renews what is old": {func(o *corev1.ConfigMap, now time.Time) {
			if now.Sub(written(o, "renewed")) > time.Hour {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "renewed", now.Format(time.RFC3339Nano))
			}
		}, core.Holds},
		"it writes once": {func(o *corev1.ConfigMap, now time.Time) {
			if written(o, "seen").IsZero() {
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "seen", now.Format(time.RFC3339Nano))
			}
		}, core.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(configMap("a", nil)), controllerruntime.Properties(properties.Convergent()...),
				reconcilesConfigMaps("writer", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
					test.do(o, time.Now().UTC())
					return ctrl.Result{RequeueAfter: 2 * time.Hour}, c.Update(ctx, o)
				}))
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := result.Report; r.Verdict != test.want {
				t.Errorf("%s %v, want %s", r.Verdict, r.Reasons, test.want)
			}
		})
	}
}

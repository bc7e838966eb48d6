package controllerruntime_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/ltl"
)

// TestVersionHeldInBackground has a goroutine update an object that a reconcile has read. Where it was changed
// meanwhile, and changed back, that is a conflict all the same.
func TestVersionHeldInBackground(t *testing.T) {
	labels := reconcilesConfigMaps("labeler", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
		if o.Name != "a" || o.Labels["v"] != "0" {
			return ctrl.Result{}, nil
		}
		if err := c.Create(ctx, configMap("read", nil)); err != nil {
			return ctrl.Result{}, client.IgnoreAlreadyExists(err)
		}
		o.Data = map[string]string{"done": "yes"}
		go func() { _ = c.Update(context.Background(), o) }()
		return ctrl.Result{}, nil
	})
	setting := func(v string) controllerruntime.Action {
		return controllerruntime.Change("set "+v, configMap("a", nil), func(o *corev1.ConfigMap) { o.Labels = map[string]string{"v": v} })
	}
	system := controllerruntime.ForTest(t, newScheme(), labels,
		controllerruntime.ObjectValues(configMap("a", map[string]string{"v": "0"})),
		controllerruntime.Scenario(setting("1"), setting("0")))
	fields := func(s core.State, name string) *unstructured.Unstructured {
		content := s.Get(core.Key{Kind: "ConfigMap", Namespace: "default", Name: name})
		if content == nil {
			return nil
		}
		return &unstructured.Unstructured{Object: content.Fields().(map[string]any)}
	}
	done := func(s core.State) bool { return fields(s, "a").Object["data"] != nil }
	stale := func(s core.State) bool {
		return fields(s, "read") != nil && fields(s, "a").GetLabels()["v"] == "1" && !done(s)
	}
	property, err := ltl.Claim{Name: "stale", Formula: "G (stale -> G !done)", Atoms: []ltl.Atom{{Name: "stale", State: stale}, {Name: "done", State: done}}}.Property()
	if err != nil {
		t.Fatal(err)
	}
	system.Properties = []core.Property{property}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Holds || len(r.Memory) == 0 || !r.Memory[0].Background {
		t.Errorf("%s with %+v: %v %v", r.Verdict, r.Memory, r.Reasons, r.Findings)
	}
}

package controllerruntime_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	utilsets "k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/core"
)

// TestNamesThatAreSorted has a controller draw names, sort them, and create objects in that order: that is another one
// in each run. What one of them is told by its place among the names is chance.
func TestNamesThatAreSorted(t *testing.T) {
	long(t)
	for name, test := range map[string]struct {
		note func(m *corev1.ConfigMap, ids []string, at int)
		want core.Verdict
	}{
		"nothing":             {func(*corev1.ConfigMap, []string, int) {}, core.Holds},
		"its own":             {func(m *corev1.ConfigMap, ids []string, at int) { m.Labels["id"] = ids[at] }, core.Holds},
		"the first of them":   {func(m *corev1.ConfigMap, ids []string, _ int) { m.Labels["leader"] = ids[0] }, core.Holds},
		"how it comes to one": {func(m *corev1.ConfigMap, ids []string, at int) { m.Labels["odd"] = string('0' + rune(ids[at][0])%2) }, core.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			r := marked(t, marking(func(mgr ctrl.Manager) func(context.Context, *corev1.ConfigMap) error {
				c := mgr.GetClient()
				return func(ctx context.Context, m *corev1.ConfigMap) error {
					if m.Name != "a" || m.Labels["marked"] != "" {
						return nil
					}
					ids := utilsets.New[string]()
					for len(ids) < 2 {
						ids.Insert(rand.String(10))
					}
					sorted := utilsets.List(ids)
					for at, id := range sorted {
						made := configMap("a-"+id, map[string]string{"marked": "no"})
						test.note(made, sorted, at)
						if err := client.IgnoreAlreadyExists(c.Create(ctx, made)); err != nil {
							return err
						}
					}
					return nil
				}
			}))
			if r.Verdict != test.want {
				t.Errorf("%s, want %s: %v", r.Verdict, test.want, r.Reasons)
			}
		})
	}
}

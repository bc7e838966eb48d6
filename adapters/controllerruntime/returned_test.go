package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

// TestVersionsThatComeBack has users change a ConfigMap, and back, while a controller has noted in another object which
// version it has seen. A server would name the last version anew. Here it has the name of the first, which matters to
// those only who compare the two.
func TestVersionsThatComeBack(t *testing.T) {
	long(t)
	versions := func(o *corev1.ConfigMap) string { return "version " + o.ResourceVersion }
	contents := func(o *corev1.ConfigMap) string { return "content " + o.Data["x"] }
	for name, test := range map[string]struct {
		note     func(*corev1.ConfigMap) string
		compares bool
		last     string
		want     string
	}{
		"versions that are compared":            {versions, true, "1", "roller heeds whether a version is the one that was noted in another object, and ConfigMap default/config becomes again what it was"},
		"versions that are noted only":          {versions, false, "1", ""},
		"contents":                              {contents, true, "1", ""},
		"versions of which none comes back":     {versions, true, "3", ""},
		"versions that the other object shares": {func(o *corev1.ConfigMap) string { return "x" + o.ResourceVersion + "x" }, true, "1", "roller heeds"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configMap("config", nil)
			config.Data = map[string]string{"x": "1"}
			set := func(name, from, to string) controllerruntime.Action {
				return controllerruntime.Action{Name: name, Do: func(ctx context.Context, c client.Client) error {
					o := &corev1.ConfigMap{}
					if err := c.Get(ctx, client.ObjectKeyFromObject(config), o); err != nil {
						return err
					}
					if o.Data["x"] != from {
						return core.ErrNotEnabled
					}
					o.Data["x"] = to
					return c.Update(ctx, o)
				}}
			}
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.ObjectValues(config, configMap("state", nil)),
				controllerruntime.Scenario(set("change", "1", "2"), set("change again", "2", test.last)),
				reconcilesConfigMaps("roller", func(ctx context.Context, c client.Client, o *corev1.ConfigMap) (ctrl.Result, error) {
					state := &corev1.ConfigMap{}
					if err := c.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "state"}, state); err != nil || o.Name != "config" {
						return ctrl.Result{}, err
					}
					seen := test.note(o)
					if test.compares && state.Annotations["seen"] == seen {
						return ctrl.Result{}, nil
					}
					metav1.SetMetaDataAnnotation(&state.ObjectMeta, "seen", seen)
					return ctrl.Result{}, c.Update(ctx, state)
				}))
			for _, options := range []orrery.Options{{Workers: 1}, {Workers: 2}, {Reduction: orrery.NoReduction}} {
				result, err := orrery.Run(t.Context(), system, options)
				if err != nil {
					t.Fatal(err)
				}
				r := result.Report
				said := slices.ContainsFunc(r.Reasons, func(reason string) bool {
					return strings.Contains(reason, "heeds") && strings.Contains(reason, test.want)
				})
				if want := test.want != ""; said != want || (r.Verdict == core.Inconclusive) != want {
					t.Errorf("%s: %v %v, want %q", r.Verdict, r.Reasons, r.Findings, test.want)
				}
			}
		})
	}
}

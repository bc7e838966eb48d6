package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: deploymentSpec()}
}

func TestActionsOfUsers(t *testing.T) {
	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	untyped.SetNamespace("default")
	untyped.SetName("d")
	for _, test := range []struct {
		action controllerruntime.Action
		name   string
		calls  []string
		kind   core.Kind
		object string
		path   []string
		want   any
	}{
		{
			action: controllerruntime.Create(widget("b", 4)), name: "create Widget default/b",
			calls: []string{"live create Widget default/b"},
			kind:  "Widget.example.org", object: "b", path: []string{"spec", "parts"}, want: 4,
		}, {
			action: controllerruntime.Delete(untyped), name: "delete Deployment default/d",
			calls: []string{"live delete Deployment default/d"},
		}, {
			action: controllerruntime.Scale(deployment("d"), 3), name: "scale Deployment default/d to 3",
			calls: []string{"live patch (merge) Deployment default/d (scale)"},
			kind:  "Deployment.apps", object: "d", path: []string{"spec", "replicas"}, want: 3,
		}, {
			action: controllerruntime.Scale(untyped, 0), name: "scale Deployment default/d to 0",
			calls: []string{"live patch (merge) Deployment default/d (scale)"},
			kind:  "Deployment.apps", object: "d", path: []string{"spec", "replicas"}, want: 0,
		}, {
			action: controllerruntime.Change("pause d", deployment("d"), func(d *appsv1.Deployment) { d.Spec.Paused = true }), name: "pause d",
			calls: []string{"live get Deployment default/d", "live update Deployment default/d"},
			kind:  "Deployment.apps", object: "d", path: []string{"spec", "paused"}, want: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, controllerruntime.Setup(setupWidgets), controllerruntime.ObjectValues(deployment("d")), controllerruntime.Scenario(test.action))
			action := w.system.Scenario.Actions[0]
			if action.Name != test.name {
				t.Errorf("it is called %q", action.Name)
			}
			start := w.objects
			for range 2 { // Each run starts anew.
				w.objects = map[core.Key]core.Content{}
				for key, content := range start {
					w.objects[key] = content
				}
				if err := action.Do(w); err != nil {
					t.Fatal(err)
				}
				equal(t, "calls", w.said(), test.calls)
				if test.kind == "" {
					if w.Get(core.Key{Kind: "Deployment.apps", Namespace: "default", Name: "d"}) != nil {
						t.Error("it is still there")
					}
				} else if got := w.field(test.kind, test.object, test.path...); fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			}
		})
	}
}

func TestUsersAreToldWhatIsWrong(t *testing.T) {
	for _, action := range []controllerruntime.Action{
		controllerruntime.Delete(widget("a", 1)),
		controllerruntime.Scale(deployment("d"), 1),
		controllerruntime.Change("change", widget("a", 1), func(*Widget) { t.Error("there is nothing to change") }),
	} {
		w := newWorld(t, controllerruntime.Setup(setupWidgets), controllerruntime.Scenario(action))
		if err := w.system.Scenario.Actions[0].Do(w); !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", action.Name, err)
		}
	}
	for _, test := range []struct {
		action controllerruntime.Action
		want   string
	}{
		{controllerruntime.Action{Name: "nothing"}, `action "nothing" of the scenario does nothing: set Action.Do`},
		{controllerruntime.Action{Do: func(context.Context, client.Client) error { return nil }}, "action number 1 of the scenario has no name"},
	} {
		_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.Setup(setupWidgets), controllerruntime.Scenario(test.action))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got the error %v, want %s", err, test.want)
		}
	}
}

// TestScenariosAreSearched lets a user act at any moment, once in any order and once in the
// order given, and looks at how the system can end.
func TestScenariosAreSearched(t *testing.T) {
	more := controllerruntime.Change("ask for two parts", widget("a", 0), func(w *Widget) { w.Spec.Parts = 2 })
	slowly := controllerruntime.Action{Name: "make settings, after a while", Do: func(ctx context.Context, c client.Client) error {
		time.Sleep(time.Hour)
		var a Widget
		if err := c.Get(ctx, keyA, &a); err != nil {
			return err
		}
		if a.Spec.Parts < 2 {
			return errors.New("one part needs no settings")
		}
		return c.Create(ctx, configMap("settings", nil))
	}}
	for _, test := range []struct {
		name     string
		scenario controllerruntime.Option
		// ends are the numbers of parts and of settings in the end.
		ends []string
	}{
		{"in any order", controllerruntime.Scenario(more, slowly), []string{"1 0", "2 0", "2 1"}},
		{"in order", controllerruntime.InOrder(slowly, more), []string{"1 0", "2 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := check(t, 1, orrery.Options{}, test.scenario)
			if result.Report.Verdict != core.Holds {
				t.Errorf("%s: %v %v", result.Report.Verdict, result.Report.Reasons, result.Report.Findings)
			}
			var ends []string
			for _, id := range result.Graph.Quiescent() {
				settings, parts := 0, 0
				for _, o := range result.Graph.State(id).List("ConfigMap", "") {
					if o.Key.Name == "settings" {
						settings++
					} else {
						parts++
					}
				}
				ends = append(ends, fmt.Sprint(parts, settings))
			}
			slices.Sort(ends)
			equal(t, "ends", slices.Compact(ends), test.ends)
		})
	}
}

// TestScenarioOfInvalidObject checks that a user who is to create what no API server takes is a mistake of the check.
func TestScenarioOfInvalidObject(t *testing.T) {
	setup := controllerruntime.Setup(func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("copies").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		}))
	})
	_, err := controllerruntime.New(newScheme(), setup, controllerruntime.Scenario(controllerruntime.Create(configMap("Upper_Case", nil))))
	if want := `the scenario's action "create ConfigMap default/Upper_Case": ConfigMap "Upper_Case" is invalid`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	// Without it there is nothing to do, which is no reason to say that all is well.
	system := controllerruntime.ForTest(t, newScheme(), setup)
	system.Properties = properties.Convergent()
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report; r.Verdict != core.Inconclusive || len(r.Reasons) != 1 || !strings.HasPrefix(r.Reasons[0], "nothing happened, as no controller had anything to do: add initial objects") {
		t.Errorf("%s: %q", r.Verdict, r.Reasons)
	}
}

// TestUsersWaitUntilItHasSettled has a user note how far a controller has come: once the system has settled there is
// one answer.
func TestUsersWaitUntilItHasSettled(t *testing.T) {
	note := controllerruntime.Change("note", widget("a", 2), func(w *Widget) { metav1.SetMetaDataAnnotation(&w.ObjectMeta, "seen", fmt.Sprint(w.Status.Ready)) })
	for want, action := range map[string]controllerruntime.Action{"[ 0 1 2]": note, "[ 2]": note.OnceSettled()} {
		system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(widget("a", 2)), controllerruntime.Scenario(action),
			controllerruntime.Setup(func(mgr ctrl.Manager) error {
				c := mgr.GetClient()
				return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
					var w Widget
					if err := c.Get(ctx, r.NamespacedName, &w); err != nil || w.Status.Ready == 2 {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					w.Status.Ready++
					return ctrl.Result{}, c.Status().Update(ctx, &w)
				}))
			}))
		result, err := orrery.Run(t.Context(), system, orrery.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, id := range result.Graph.Quiescent() {
			for _, o := range result.Graph.State(id).List("Widget.example.org", "") {
				content := o.Content.Fields().(map[string]any)
				at, _, _ := unstructured.NestedString(content, "metadata", "annotations", "seen")
				seen = append(seen, at)
			}
		}
		slices.Sort(seen)
		if got := fmt.Sprint(slices.Compact(seen)); got != want {
			t.Errorf("%q is seen, want %q", got, want)
		}
	}
}

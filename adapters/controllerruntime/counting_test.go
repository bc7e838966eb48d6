package controllerruntime_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties/specification"
)

// countsOn is a controller that does its work once for each generation, which it notes in memory, or in an annotation if it has none.
type countsOn struct {
	client.Client
	Done map[string]int64
}

func (n *countsOn) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	w := &Widget{}
	if err := n.Get(ctx, r.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	done := fmt.Sprintf("%d-%s", w.Generation, w.Name)
	if w.Annotations["done"] == done || n.Done != nil && n.Done[w.Name] == w.Generation {
		return ctrl.Result{}, nil
	}
	w.Annotations["parts"] = fmt.Sprint(w.Spec.Parts)
	if n.Done == nil {
		w.Annotations["done"] = done
	} else {
		n.Done[w.Name] = w.Generation
	}
	return ctrl.Result{}, n.Update(ctx, w)
}

// TestGenerationsThatAreNotedElsewhere checks controllers that are right: what users ask for later is done, too. The server has to count generations for that, as nobody else knows which of them a text
// or a number means.
func TestGenerationsThatAreNotedElsewhere(t *testing.T) {
	for name, memory := range map[string]map[string]int64{"in an annotation": nil, "in memory": {}} {
		t.Run(name, func(t *testing.T) {
			old := widget("a", 1)
			old.Annotations = map[string]string{"parts": "none"}
			more := controllerruntime.Change("ask for more", old, func(w *Widget) { w.Spec.Parts = 2 })
			system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.ObjectValues(old), controllerruntime.Scenario(more.OnceSettled()),
				controllerruntime.APIServer(kube.CountGenerations("Widget.example.org")),
				controllerruntime.Setup(func(mgr ctrl.Manager) error {
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(&countsOn{mgr.GetClient(), maps.Clone(memory)})
				}))
			follows, err := specification.Of(system).Formula(`G F "widgets.all(w, w.metadata.annotations['parts'] == string(w.spec.parts))"`)
			if err != nil {
				t.Fatal(err)
			}
			system.Properties = append(system.Properties, follows)
			result, err := orrery.Run(t.Context(), system, orrery.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Report.Verdict != core.Holds {
				t.Errorf("%s: %v %v, want %s", result.Report.Verdict, result.Report.Reasons, result.Report.Findings, core.Holds)
			}
		})
	}
}

// TestGenerationsOfUnknownKinds names a kind that nobody serves.
func TestGenerationsOfUnknownKinds(t *testing.T) {
	_, err := controllerruntime.New(newScheme(), controllerruntime.CRDBytes(widgetDefinition), controllerruntime.APIServer(kube.CountGenerations("Widget")),
		controllerruntime.Setup(func(ctrl.Manager) error { return nil }))
	if err == nil || !strings.Contains(err.Error(), "Widget.example.org") {
		t.Errorf("%v, want an error that names the kind", err)
	}
}

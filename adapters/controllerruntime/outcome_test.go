package controllerruntime_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/core"
)

func TestObjectsOfAnOutcome(t *testing.T) {
	w := newWorld(t, controllerruntime.Setup(setupWidgets),
		controllerruntime.ObjectValues(widget("a", 1), widget("b", 2), configMap("a", nil)))
	var objects []core.TraceObject
	for _, object := range w.system.Initial[0].Objects {
		key := object.Key
		objects = append(objects, core.TraceObject{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Fields: object.Content.Fields()})
	}
	scheme := newScheme()

	widgets, err := controllerruntime.List[*Widget](scheme, objects)
	if err != nil || len(widgets) != 2 || widgets[0].Name != "a" || widgets[1].Spec.Parts != 2 {
		t.Errorf("list: %v, %v", widgets, err)
	}
	b, err := controllerruntime.Get[*Widget](scheme, objects, "default/b")
	if err != nil || b.Spec.Parts != 2 {
		t.Errorf("get: %v, %v", b, err)
	}
	none, err := controllerruntime.List[*corev1.Pod](scheme, objects)
	if err != nil || none != nil {
		t.Errorf("list of a kind without objects: %v, %v", none, err)
	}
	for name, get := range map[string]func() error{
		"missing": func() error {
			_, err := controllerruntime.Get[*Widget](scheme, objects, "default/c")
			return err
		},
		"other namespace": func() error {
			_, err := controllerruntime.Get[*Widget](scheme, objects, "b")
			return err
		},
		"not in the scheme": func() error {
			_, err := controllerruntime.List[*unknown](scheme, objects)
			return err
		},
		"no fields": func() error {
			_, err := controllerruntime.List[*Widget](scheme, []core.TraceObject{{Kind: "Widget.example.org", Name: "x"}})
			return err
		},
		"other fields": func() error {
			_, err := controllerruntime.List[*Widget](scheme, []core.TraceObject{{Kind: "Widget.example.org", Name: "x", Fields: map[string]any{"spec": "?"}}})
			return err
		},
	} {
		if get() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// unknown is a type of no scheme.
type unknown struct{ Widget }

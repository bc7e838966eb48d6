package controllerruntime_test

import (
	"context"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/core"
)

const (
	widgetDefinitionName = "widgets.example.org"
	definitionKind       = core.Kind("CustomResourceDefinition.apiextensions.k8s.io")
)

// definedScheme is a scheme that has the kind of definitions.
func definedScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := newScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// Definitions that are installed can be read, as objects of a cluster that serves their kinds.
func TestDefinitionsAreObjects(t *testing.T) {
	read := using(func(ctx context.Context, mgr ctrl.Manager) error {
		named := &metav1.PartialObjectMetadata{}
		named.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: widgetDefinitionName}, named); err != nil {
			return err
		}
		return mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: widgetDefinitionName}, &apiextensionsv1.CustomResourceDefinition{})
	})
	given := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(widgetDefinition, given); err != nil {
		t.Fatal(err)
	}
	labelled := given.DeepCopy()
	labelled.Labels = map[string]string{"by": "user"}
	for name, test := range map[string]struct {
		definition controllerruntime.Option
		objects    []client.Object
		found      bool
		labels     map[string]string
	}{
		"installed":            {definition: controllerruntime.CRDBytes(widgetDefinition), found: true},
		"served only":          {definition: controllerruntime.APIServer(kube.Definitions(given))},
		"given as objects too": {definition: controllerruntime.CRDBytes(widgetDefinition), objects: []client.Object{labelled}, found: true, labels: labelled.Labels},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := definedScheme(t)
			system := controllerruntime.ForTest(t, scheme, test.definition, controllerruntime.ObjectValues(test.objects...), controllerruntime.GarbageCollection(), read)
			if err := use(worldOf(t, system)); test.found && err != nil || !test.found && !apierrors.IsNotFound(err) {
				t.Errorf("reading it ends with %v", err)
			}
			if !test.found {
				return
			}
			d := &apiextensionsv1.CustomResourceDefinition{}
			fields, _ := worldOf(t, system).Get(core.Key{Kind: definitionKind, Name: widgetDefinitionName}).Fields().(map[string]any)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, d); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(d.Labels, test.labels) {
				t.Errorf("its labels are %v", d.Labels)
			}
			if test.labels != nil {
				return
			}
			equal(t, "stored versions", d.Status.StoredVersions, []string{"v1"})
			if !reflect.DeepEqual(d.Status.AcceptedNames, d.Spec.Names) {
				t.Errorf("accepted are %v, the names are %v", d.Status.AcceptedNames, d.Spec.Names)
			}
			for _, c := range d.Status.Conditions {
				if c.Status != apiextensionsv1.ConditionTrue {
					t.Errorf("condition %s is %s", c.Type, c.Status)
				}
			}
			for _, s := range system.Strategies {
				for _, kind := range s.Describe().Watches {
					if kind == definitionKind {
						t.Errorf("%s looks after definitions, which nobody works with", s.Describe().Name)
					}
				}
			}
		})
	}
}

// A scheme without the kind of definitions has no such objects.
func TestDefinitionsWithoutKind(t *testing.T) {
	system := controllerruntime.ForTest(t, newScheme(), controllerruntime.CRDBytes(widgetDefinition), using(func(context.Context, ctrl.Manager) error { return nil }))
	if objects := system.Initial[0].Objects; len(objects) > 0 {
		t.Errorf("there are %v", objects)
	}
}

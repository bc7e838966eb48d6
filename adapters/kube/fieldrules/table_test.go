package fieldrules

import (
	"reflect"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// goTypes returns the Go types of Kubernetes' own kinds.
func goTypes(t *testing.T) map[string]reflect.Type {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
		coordinationv1.AddToScheme, policyv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	types := map[string]reflect.Type{}
	for kind, goType := range scheme.AllKnownTypes() {
		types[schema.GroupKind{Group: kind.Group, Kind: kind.Kind}.String()] = goType
	}
	return types
}

// TestTablesNameFieldsThatThereAre follows every path of the tables through the Go types.
func TestTablesNameFieldsThatThereAre(t *testing.T) {
	table, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	types := goTypes(t)
	type visit struct {
		*shape
		reflect.Type
	}
	seen := map[visit]bool{}
	var follow func(s *shape, goType reflect.Type, where string)
	follow = func(s *shape, goType reflect.Type, where string) {
		if seen[visit{s, goType}] {
			return
		}
		seen[visit{s, goType}] = true
		for _, m := range s.members {
			if m.dropped {
				continue // The Go type may be too old to have it.
			}
			at, path := goType, where
			for _, step := range m.path {
				path += "." + step.name
				if at = fieldOf(at, step); at == nil {
					t.Errorf("there is no %s", path)
					break
				}
			}
			for _, below := range m.shapes {
				if at != nil {
					follow(below, at, path)
				}
			}
		}
	}
	for _, kind := range table.Kinds() {
		if types[kind] == nil {
			t.Errorf("there is no kind %s", kind)
			continue
		}
		follow(table.kinds[kind], types[kind], kind)
	}
	for kind, s := range table.statuses {
		if types[kind] == nil {
			t.Errorf("there is no kind %s", kind)
			continue
		}
		follow(s, types[kind], kind)
	}
	for name, s := range table.types {
		used := false
		for v := range seen {
			used = used || v.shape == s
		}
		if !used {
			t.Errorf("no kind has a %s", name)
		}
	}
}

// fieldOf returns the type of what a step of a path leads to, nil if it leads nowhere.
func fieldOf(goType reflect.Type, step segment) reflect.Type {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if goType.Kind() != reflect.Struct {
		return nil
	}
	for i := range goType.NumField() {
		f := goType.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == step.name:
			switch step.into {
			case items, values:
				return f.Type.Elem()
			case keys:
				return f.Type.Key()
			}
			return f.Type
		case name == "" && f.Anonymous:
			if found := fieldOf(f.Type, step); found != nil {
				return found
			}
		}
	}
	return nil
}

// TestCheckedFieldsAreOfKindsThatThereAre holds the list of what is checked against the Go types.
func TestCheckedFieldsAreOfKindsThatThereAre(t *testing.T) {
	table, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(table.checked) == 0 {
		t.Error("nothing is known to be checked")
	}
	types := goTypes(t)
	for _, kind := range table.Kinds() {
		if table.checked[kind] == nil {
			t.Errorf("there are rules for %s, and the list of what is checked does not have it", kind)
		}
		if types[kind] == nil {
			t.Errorf("there is no kind %s", kind)
		}
	}
}

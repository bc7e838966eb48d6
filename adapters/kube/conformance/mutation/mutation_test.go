package mutation

import (
	"reflect"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func mutations(t *testing.T, object any, part Part) []Mutation {
	t.Helper()
	found, err := Of(reflect.TypeOf(object), part, Constants{"k8s.io/api/core/v1.RestartPolicy": {"Always", "Never"}})
	if err != nil {
		t.Fatal(err)
	}
	if found.Paths == 0 || found.Paths > len(found.All) {
		t.Errorf("%d changes of %d fields", len(found.All), found.Paths)
	}
	return found.All
}

// find returns the change of a field to a value.
func find(t *testing.T, all []Mutation, path string, value any, conflict bool) Mutation {
	t.Helper()
	for _, m := range all {
		if m.Path() == path && reflect.DeepEqual(m.Value, value) && m.Conflict == conflict {
			return m
		}
	}
	t.Fatalf("nobody sets %s to %v", path, value)
	return Mutation{}
}

func TestApply(t *testing.T) {
	pod := mutations(t, corev1.Pod{}, Spec)
	before := func() tree {
		return tree{"spec": tree{"containers": []any{tree{"name": "main"}}, "volumes": []any{tree{"name": "v", "emptyDir": tree{}}}}}
	}
	for _, test := range []struct {
		name, path string
		value      any
		conflict   bool
		want       tree
	}{
		{"a constant", "spec.restartPolicy", "Never", false,
			tree{"spec": tree{"restartPolicy": "Never", "containers": before()["spec"].(tree)["containers"], "volumes": before()["spec"].(tree)["volumes"]}}},
		{"a member of a union", "spec.volumes[0].hostPath", tree{"path": "/p"}, false,
			tree{"spec": tree{"containers": []any{tree{"name": "main"}}, "volumes": []any{tree{"name": "v", "hostPath": tree{"path": "/p"}}}}}},
		{"two of them", "spec.volumes[0].hostPath", tree{"path": "/p"}, true,
			tree{"spec": tree{"containers": []any{tree{"name": "main"}}, "volumes": []any{tree{"name": "v", "hostPath": tree{"path": "/p"}, "emptyDir": tree{}}}}}},
		{"what needs a surrounding", "spec.containers[0].livenessProbe.periodSeconds", int64(-1), false,
			tree{"spec": tree{"containers": []any{tree{"name": "main", "livenessProbe": tree{"tcpSocket": tree{"port": int64(80)}, "periodSeconds": int64(-1)}}}, "volumes": before()["spec"].(tree)["volumes"]}}},
	} {
		object := before()
		if got := find(t, pod, test.path, test.value, test.conflict).Apply(object); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if !reflect.DeepEqual(object, before()) {
			t.Errorf("%s: the object itself was changed", test.name)
		}
	}
}

func TestParts(t *testing.T) {
	deployment := mutations(t, appsv1.Deployment{}, Spec)
	find(t, deployment, "spec.template.spec.containers[0]", tree{}, false)
	for _, m := range append(deployment, mutations(t, corev1.Pod{}, Spec)...) {
		if m.path[0].name != "spec" {
			t.Errorf("%s is not in the spec", m.Path())
		}
	}
	for _, m := range mutations(t, appsv1.Deployment{}, Status) {
		if m.path[0].name != "status" {
			t.Errorf("%s is not in the status", m.Path())
		}
	}
}

// TestScaffoldsAreTypes finds the entries of scaffolds.yaml that no type has.
func TestScaffoldsAreTypes(t *testing.T) {
	known, err := readScaffolds()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(of reflect.Type) {
		switch of = pointee(of); {
		case of.Kind() == reflect.Slice || of.Kind() == reflect.Map:
			visit(of.Elem())
		case of.Kind() == reflect.Struct && !seen[of]:
			seen[of] = true
			for i := range of.NumField() {
				visit(of.Field(i).Type)
			}
		}
	}
	for _, object := range []any{
		corev1.Pod{}, corev1.Service{}, corev1.Node{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.Endpoints{}, //nolint:staticcheck // deprecated, and still used by many
		corev1.LimitRange{}, corev1.ResourceQuota{}, corev1.Event{}, appsv1.Deployment{}, appsv1.StatefulSet{}, batchv1.Job{},
		discoveryv1.EndpointSlice{}, networkingv1.Ingress{}, networkingv1.IngressClass{}, networkingv1.NetworkPolicy{}, nodev1.RuntimeClass{},
		autoscalingv2.HorizontalPodAutoscaler{}, rbacv1.ClusterRole{}, rbacv1.RoleBinding{}, storagev1.StorageClass{},
		admissionregistrationv1.ValidatingWebhookConfiguration{},
	} {
		visit(reflect.TypeOf(object))
	}
	names := map[string]bool{}
	for of := range seen {
		names[nameOf(of)] = true
	}
	for name := range known {
		if !names[name] {
			t.Errorf("no type is called %s", name)
		}
	}
}

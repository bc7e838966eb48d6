package upstream

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/orrery-dev/orrery/adapters/kube/kindrules"
)

// now is the time of all requests, which is not that of the clock.
func now() metav1.Time { return metav1.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// tree reads JSON.
func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// object is one of a kind with the metadata of a new one, and with other fields.
func object(t *testing.T, kind schema.GroupVersionKind, namespace, fields string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: tree(t, fields)}
	o.SetGroupVersionKind(kind)
	o.SetName("a")
	o.SetNamespace(namespace)
	o.SetUID("00000000-0000-0000-0000-000000000001")
	o.SetCreationTimestamp(now())
	return o
}

func create(t *testing.T, kind schema.GroupVersionKind, namespace, fields string) (*unstructured.Unstructured, error) {
	t.Helper()
	return Rules().Create(kindrules.Request{Kind: kind, Namespace: namespace, Name: "a", Now: now(), Object: object(t, kind, namespace, fields)})
}

// kinds of the tests.
func deployments() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
}

func volumes() schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
}

// deploymentWith has a container with more fields.
func deploymentWith(more string) string {
	return `{"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}},
		"spec": {"containers": [{"name": "main", "image": "img"` + more + `}]}}}}`
}

func TestCreate(t *testing.T) {
	created, err := create(t, deployments(), "default", deploymentWith(`, "ports": [{"containerPort": 80}]`))
	if err != nil {
		t.Fatal(err)
	}
	if replicas, _, _ := unstructured.NestedInt64(created.Object, "spec", "replicas"); replicas != 1 {
		t.Errorf("%d replicas, want the default", replicas)
	}
	if created.GetGeneration() != 1 {
		t.Errorf("generation %d", created.GetGeneration())
	}
	_, err = create(t, deployments(), "default", deploymentWith(`, "ports": [{"containerPort": 70000}]`))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.template.spec.containers[0].ports[0].containerPort") {
		t.Errorf("a port that there is not: %v", err)
	}
}

func TestUpdate(t *testing.T) {
	current, err := create(t, deployments(), "default", deploymentWith(""))
	if err != nil {
		t.Fatal(err)
	}
	current.SetResourceVersion("1")
	update := func(subresource, field string, value any) (*unstructured.Unstructured, error) {
		changed := current.DeepCopy()
		if err := unstructured.SetNestedField(changed.Object, value, strings.Split(field, ".")...); err != nil {
			t.Fatal(err)
		}
		return Rules().Update(kindrules.Request{
			Kind: deployments(), Subresource: subresource, Namespace: "default", Name: "a", Now: now(), Object: changed, Current: current,
		})
	}
	before := current.DeepCopy()
	if updated, err := update("", "spec.replicas", int64(3)); err != nil || updated.GetGeneration() != 2 {
		t.Errorf("%v, %v", updated, err)
	}
	if _, err := update("", "spec.replicas", int64(-3)); !apierrors.IsInvalid(err) {
		t.Errorf("a negative count: %v", err)
	}
	if updated, err := update("status", "spec.replicas", int64(3)); err != nil || !reflect.DeepEqual(updated.Object["spec"], before.Object["spec"]) {
		t.Errorf("a spec was changed with the status: %v, %v", updated, err)
	}
	if _, err := update("scale", "spec.replicas", int64(3)); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Errorf("a subresource without a strategy: %v", err)
	}
	if !reflect.DeepEqual(current, before) {
		t.Error("what is there was changed")
	}
}

// TestTimesAreThoseOfTheRequest creates a volume, whose strategy takes the time.
func TestTimesAreThoseOfTheRequest(t *testing.T) {
	const field = "lastPhaseTransitionTime"
	created, err := create(t, volumes(), "", `{"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if at, _, _ := unstructured.NestedString(created.Object, "status", field); at != "2000-01-01T00:00:00Z" {
		t.Errorf("%s is %q", field, at)
	}
}

// TestEmbeddedKinds: what is stored does not name the kind of a claim in a StatefulSet, and what is read does.
func TestEmbeddedKinds(t *testing.T) {
	created, err := create(t, deployments().GroupVersion().WithKind("StatefulSet"), "default", `{"spec": {"selector": {"matchLabels": {"app": "x"}},
		"template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "main", "image": "img"}]}},
		"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	claims, _, err := unstructured.NestedSlice(created.Object, "spec", "volumeClaimTemplates")
	if err != nil || len(claims) != 1 || claims[0].(map[string]any)["kind"] != "PersistentVolumeClaim" {
		t.Errorf("the claims are %v, %v", claims, err)
	}
}

// TestRegistrations finds kinds that are covered by name only.
func TestRegistrations(t *testing.T) {
	for name, r := range registrations() {
		kind := schema.ParseGroupKind(name)
		versions := legacyscheme.Scheme.VersionsForGroupKind(kind)
		if len(versions) == 0 {
			t.Errorf("there is no kind %s", name)
			continue
		}
		if !Rules().Covers(kind.WithVersion(versions[0].Version)) {
			t.Errorf("%s is not covered", name)
		}
		internal := kind.WithVersion("__internal")
		object, err := legacyscheme.Scheme.New(internal)
		if err != nil {
			t.Error(err)
			continue
		}
		if kinds, _, err := r.object.ObjectKinds(object); err != nil || !slices.Contains(kinds, internal) {
			t.Errorf("%s has the strategy of %v", name, kinds)
		}
	}
	if Rules().Covers(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Pod"}) {
		t.Error("a Pod of another group is covered")
	}
}

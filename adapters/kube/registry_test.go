package kube

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// gear is a kind that has a Go type and no custom resource definition.
type gear struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              gearSpec   `json:"spec"`
	Status            gearStatus `json:"status"`
}

type gearSpec struct {
	Teeth int `json:"teeth"`
}

type gearStatus struct {
	Turning bool `json:"turning,omitempty"`
}

func (g *gear) DeepCopyObject() runtime.Object {
	c := *g
	g.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// gearsWorld serves gears in two versions.
func gearsWorld(t *testing.T) (*world, schema.GroupVersionKind) {
	scheme := runtime.NewScheme()
	for _, version := range []string{"v1alpha1", "v1"} {
		kind := schema.GroupVersionKind{Group: "gears.example.com", Version: version, Kind: "Gear"}
		scheme.AddKnownTypeWithName(kind, &gear{})
	}
	server, err := NewServer(scheme)
	if err != nil {
		t.Fatal(err)
	}
	return emptyWorld(t, server), schema.GroupVersionKind{Group: "gears.example.com", Version: "v1", Kind: "Gear"}
}

func TestKindWithoutDefinition(t *testing.T) {
	w, kind := gearsWorld(t)
	g := w.must(creation(kind, tree{"name": "g"}, tree{"spec": tree{"teeth": 8, "unknown": 1}, "status": tree{"turning": true}}))
	expect(t, "namespace", g.GetNamespace(), "default")
	expect(t, "spec", g.Object["spec"], tree{"teeth": 8})
	expect(t, "status", g.Object["status"], nil)
	expect(t, "generation", g.GetGeneration(), 1)
	g.Object["status"] = tree{"turning": true}
	g = w.must(ofStatus(updating(kind, g)))
	expect(t, "status", g.Object["status"], tree{"turning": true})
	g.SetResourceVersion("")
	if response, _ := w.do(updating(kind, g)); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("an update without resourceVersion: %s", response)
	}
	if response, _ := w.do(patching(kind, "g", types.StrategicMergePatchType, `{}`)); response.Status == nil || response.Status.Code != 415 {
		t.Errorf("a strategic merge patch: %s", response)
	}
	w.refuse(&Request{Verb: List, Kind: kind, FieldSelector: "spec.teeth=8"}, 400, "field label not supported: spec.teeth")
	kind.Version = "v1alpha1"
	w.unsupported(request(Get, kind, "g"))
}

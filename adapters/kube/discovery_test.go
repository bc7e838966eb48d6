package kube_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/controlplane"
)

func TestDiscover(t *testing.T) {
	server, err := kube.NewServer(scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if kube.Release != controlplane.Version {
		t.Errorf("the server says that it is of %s, and is compared with %s", kube.Release, controlplane.Version)
	}
	answer, _ := server.Discover("/apis/apps/v1")
	list, ok := answer.(*metav1.APIResourceList)
	if !ok {
		t.Fatal("no resources of apps/v1")
	}
	found := map[string]metav1.APIResource{}
	for _, r := range list.APIResources {
		found[r.Name] = r
	}
	if d := found["deployments"]; d.Kind != "Deployment" || !d.Namespaced || d.SingularName != "deployment" {
		t.Errorf("deployments: %+v", d)
	}
	if s := found["deployments/scale"]; s.Kind != "Scale" || s.Group != "autoscaling" {
		t.Errorf("the scale of deployments: %+v", s)
	}
	if _, ok := found["deployments/status"]; !ok {
		t.Error("deployments have no status")
	}
	for path, discovery := range map[string]bool{
		"/apis/none/v1": true, "/apis/none": true, "/apis/apps/v9": true, "/api/v2": true,
		"/api/v1/pods": false, "/apis/apps/v1/deployments": false, "/openapi/v3": false,
	} {
		if answer, asks := server.Discover(path); answer != nil || asks != discovery {
			t.Errorf("%s: %v, and it is discovery: %t", path, answer, asks)
		}
	}
}

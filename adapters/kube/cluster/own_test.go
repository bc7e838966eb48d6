package cluster

import (
	"context"
	"testing"

	"github.com/orrery-dev/orrery/core"
)

func TestOwn(t *testing.T) {
	tests := []struct {
		kind            core.Kind
		namespace, name string
		want            bool
	}{
		{"Event", "default", "kubernetes.18a1", true},
		{"Event.events.k8s.io", "default", "kubernetes.18a1", true},
		{"Event", "default", ".18a1", true},
		{"Event", "default", "web.18a1", false},
		{"Event", "team", ".18a1", false},
		{"ServiceCIDR.networking.k8s.io", "", "kubernetes", true},
		{"ServiceCIDR.networking.k8s.io", "", "more", false},
		{"IPAddress.networking.k8s.io", "", "10.0.0.1", true},
		{"IPAddress.networking.k8s.io", "", "10.0.0.2", false},
		{"Service", "default", "kubernetes", true},
		{"Service", "team", "kubernetes", false},
		{"Service", "default", "web", false},
		{"Endpoints", "default", "kubernetes", true},
		{"EndpointSlice.discovery.k8s.io", "default", "kubernetes", true},
		{"Namespace", "", "default", true},
		{"Namespace", "", "kube-system", true},
		{"Namespace", "", "kubeless", false},
		{"Lease.coordination.k8s.io", "kube-system", "apiserver", true},
		{"Lease.coordination.k8s.io", "default", "apiserver", false},
		{"ConfigMap", "kube-system", "extension-apiserver-authentication", true},
		{"ConfigMap", "default", "kube-root-ca.crt", false},
		{"PriorityClass.scheduling.k8s.io", "", "system-node-critical", true},
		{"PriorityClass.scheduling.k8s.io", "", "mine", false},
		{"Widget.example.com", "default", "kubernetes", false},
	}
	for _, test := range tests {
		c, _ := newCluster(t)
		key := core.Key{Kind: test.kind, Namespace: test.namespace, Name: test.name}
		if got := c.own(key, nil); got != test.want {
			t.Errorf("%s: own is %t, want %t", key, got, test.want)
		}
		c.populated[key] = true
		if c.own(key, nil) {
			t.Errorf("%s is the server's own, though the run starts with it", key)
		}
	}
}

// TestOwnByAnnotation tells limits on requests that a server makes from those of others.
func TestOwnByAnnotation(t *testing.T) {
	c, _ := newCluster(t)
	for _, kind := range []core.Kind{"FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", "ConfigMap"} {
		key := core.Key{Kind: kind, Name: "catch-all"}
		if got, want := c.own(key, node{"apf.kubernetes.io/autoupdate-spec": "true"}), kind != "ConfigMap"; got != want {
			t.Errorf("%s with the annotation: own is %t", key, got)
		}
		if c.own(key, node{"example.com/mine": "true"}) {
			t.Errorf("%s with another annotation is the server's own", key)
		}
	}
}

// TestNamespacesThatHoldObjects makes a namespace that the run does not know of.
func TestNamespacesThatHoldObjects(t *testing.T) {
	c, _ := newCluster(t)
	objects := []core.TraceObject{placed("ConfigMap", "v1", "held", "a"), placed("Namespace", "v1", "", "known")}
	if err := c.Populate(context.Background(), objects); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"held": true, "known": false, "new": false} {
		if got := c.own(core.Key{Kind: "Namespace", Name: name}, nil); got != want {
			t.Errorf("namespace %s: own is %t, want %t", name, got, want)
		}
	}
}

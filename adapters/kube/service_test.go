package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

func (w *world) service(name string, spec tree) *unstructured.Unstructured {
	w.t.Helper()
	return w.must(creation(serviceKind, tree{"name": name}, tree{"spec": spec}))
}

func patchSpec(name, spec string) *Request {
	return patching(serviceKind, name, types.MergePatchType, `{"spec":`+spec+`}`)
}

func TestServiceGetsAnAddress(t *testing.T) {
	w := newWorld(t)
	a := w.service("a", tree{"ports": []any{tree{"port": 80}}})
	address := jsontree.At(a, "spec", "clusterIP")
	expect(t, "spec", a.Object["spec"], tree{
		"type": "ClusterIP", "clusterIP": address, "clusterIPs": []any{address}, "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
		"ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack",
		"ports": []any{tree{"port": 80, "protocol": "TCP", "targetPort": 80}},
	})
	expect(t, "status", a.Object["status"], tree{"loadBalancer": tree{}})
	asking := tree{"clusterIP": address}
	w.refuse(creation(serviceKind, tree{"name": "b"}, tree{"spec": asking}), 422,
		`Service "b" is invalid: spec.clusterIPs: Invalid value: ["`+address.(string)+`"]: failed to allocate IP `+address.(string)+`: provided IP is already allocated`)
	w.refuse(creation(serviceKind, tree{"name": "b"}, tree{"spec": tree{"clusterIP": "10.1.0.1"}}), 422,
		`Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.1.0.1"]: failed to allocate IP 10.1.0.1: the provided network does not match the current range`)
	w.must(request(Delete, serviceKind, "a"))
	expect(t, "address of the next one that asks for it", jsontree.At(w.service("b", asking), "spec", "clusterIP"), address)
	expect(t, "objects and records", len(w.objects), 2)
}

func TestServiceKeepsItsAddress(t *testing.T) {
	w := newWorld(t)
	a := w.service("a", tree{"type": "NodePort", "ports": []any{tree{"port": 80}}})
	address, port := jsontree.At(a, "spec", "clusterIP"), jsontree.ListAt(a, "spec", "ports")[0].(tree)["nodePort"]
	bare := updating(serviceKind, &unstructured.Unstructured{Object: tree{
		"metadata": tree{"name": "a"}, "spec": tree{"type": "NodePort", "ports": []any{tree{"port": 80}}},
	}})
	same, writes := w.do(bare)
	if same.Status != nil || writes != 0 {
		t.Fatalf("an update that leaves out what was allocated: %s with %d writes, want none", same, writes)
	}
	w.refuse(patchSpec("a", `{"clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]}`), 422,
		`Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set`)
	a = w.must(patchSpec("a", `{"type":"ClusterIP"}`))
	expect(t, "address", jsontree.At(a, "spec", "clusterIP"), address)
	expect(t, "ports", jsontree.At(a, "spec", "ports"), []any{tree{"port": 80, "protocol": "TCP", "targetPort": 80}})
	a = w.must(patchSpec("a", `{"type":"NodePort"}`))
	expect(t, "port", jsontree.ListAt(a, "spec", "ports")[0].(tree)["nodePort"], port)
	a = w.must(patchSpec("a", `{"type":"ExternalName","externalName":"example.com"}`))
	expect(t, "address", jsontree.At(a, "spec", "clusterIP"), nil)
	expect(t, "objects and records", len(w.objects), 1)
}

func TestHeadlessService(t *testing.T) {
	w := newWorld(t)
	a := w.service("a", tree{"clusterIP": "None", "selector": tree{"x": "1"}})
	expect(t, "families", jsontree.At(a, "spec", "ipFamilies"), []any{"IPv4"})
	expect(t, "addresses", jsontree.At(a, "spec", "clusterIPs"), []any{"None"})
	b := w.service("b", tree{"clusterIP": "None"})
	expect(t, "families without a selector", jsontree.At(b, "spec", "ipFamilies"), []any{"IPv4", "IPv6"})
	expect(t, "objects and records", len(w.objects), 2)
}

func TestNodePorts(t *testing.T) {
	w := newWorld(t)
	both := []any{tree{"name": "t", "port": 53}, tree{"name": "u", "port": 53, "protocol": "UDP"}}
	a := w.service("a", tree{"type": "LoadBalancer", "ports": both, "externalTrafficPolicy": "Local"})
	port := jsontree.ListAt(a, "spec", "ports")[0].(tree)["nodePort"]
	expect(t, "port of the other protocol", jsontree.ListAt(a, "spec", "ports")[1].(tree)["nodePort"], port)
	if check := jsontree.At(a, "spec", "healthCheckNodePort"); check == nil || check == port {
		t.Errorf("the port of the health check is %v, that of the Service %v", check, port)
	}
	w.refuse(creation(serviceKind, tree{"name": "b"}, tree{"spec": tree{"type": "NodePort", "ports": []any{tree{"port": 1, "nodePort": 80}}}}), 422,
		`Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767`)
	taken := creation(serviceKind, tree{"name": "b"}, tree{"spec": tree{"type": "NodePort", "ports": []any{tree{"port": 1, "nodePort": port}}}})
	if response, _ := w.do(taken); response.Status == nil || response.Status.Code != 422 {
		t.Errorf("a port that is taken: %s", response)
	}
}

// No two Services hold the same, and the records are those of what they hold.
func TestAllocationsAreApart(t *testing.T) {
	server := newTestServer(t)
	rapid.Check(t, func(t *rapid.T) {
		w := emptyWorld(t, server)
		for range rapid.IntRange(1, 25).Draw(t, "requests") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
			spec := tree{
				"type":         rapid.SampledFrom([]string{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}).Draw(t, "type"),
				"externalName": "example.com",
				"ports":        []any{tree{"port": rapid.IntRange(1, 2).Draw(t, "port")}},
			}
			if rapid.Bool().Draw(t, "asks") {
				spec["clusterIP"] = rapid.SampledFrom([]string{"10.0.0.20", "10.0.0.21", "None"}).Draw(t, "address")
			}
			r := creation(serviceKind, tree{"name": name}, tree{"spec": spec})
			switch rapid.IntRange(0, 2).Draw(t, "verb") {
			case 1:
				r.Verb, r.Name = Update, name
			case 2:
				r = request(Delete, serviceKind, name)
			}
			w.do(r)
			want := map[core.Key]bool{}
			for key, content := range w.objects {
				for _, record := range storage.Records(key, content.(*storage.Object)) {
					if want[record] {
						t.Fatalf("%s is held twice", record)
					}
					want[record] = true
					if w.objects[record] == nil {
						t.Fatalf("%s is not recorded", record)
					}
				}
			}
			if kept := len(w.List(storage.AllocationKind, "")); kept != len(want) {
				t.Fatalf("%d records are kept, %d are needed", kept, len(want))
			}
		}
	})
}

// A policy for traffic inside of the cluster stays stored when a Service moves outside, and
// is not shown. It is gone when somebody sends back what was shown.
func TestPolicyOfAServiceThatMovesOutside(t *testing.T) {
	w := newWorld(t)
	w.must(creation(serviceKind, tree{"name": "s"}, tree{"spec": tree{"ports": []any{tree{"port": 80}}}}))
	moved := w.must(patching(serviceKind, "s", types.MergePatchType, `{"spec":{"type":"ExternalName","externalName":"example.com"}}`))
	expect(t, "policy", jsontree.At(moved, "spec", "internalTrafficPolicy"), nil)
	for i, wantWritten := range []bool{true, false} {
		response, writes := w.do(updating(serviceKind, w.must(request(Get, serviceKind, "s"))))
		if written := writes > 0; response.Status != nil || written != wantWritten {
			t.Errorf("update %d with what was shown: %s with %d writes", i+1, response, writes)
		}
	}
}

// The status of such a Service shows the policy all the same.
func TestPolicyInTheStatusOfAServiceThatMovesOutside(t *testing.T) {
	w := newWorld(t)
	w.must(creation(serviceKind, tree{"name": "s"}, tree{"spec": tree{"ports": []any{tree{"port": 80}}}}))
	w.must(patching(serviceKind, "s", types.MergePatchType, `{"spec":{"type":"ExternalName","externalName":"example.com"}}`))
	for _, r := range []*Request{request(Get, serviceKind, "s"), patching(serviceKind, "s", types.MergePatchType, `{}`)} {
		expect(t, r.String(), jsontree.At(w.must(r), "spec", "internalTrafficPolicy"), nil)
		expect(t, r.String()+" of the status", jsontree.At(w.must(of("status", r)), "spec", "internalTrafficPolicy"), "Cluster")
	}
}

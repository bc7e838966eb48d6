package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// claim is what a claim to a volume must say.
func claim() tree {
	return tree{"spec": tree{"accessModes": []any{"ReadWriteOnce"}, "resources": tree{"requests": tree{"storage": "1Gi"}}}}
}

// volume is what a volume must say.
func volume() tree {
	return tree{"spec": tree{"accessModes": []any{"ReadWriteOnce"}, "capacity": tree{"storage": "1Gi"}, "hostPath": tree{"path": "/x"}}}
}

func TestImmutableFields(t *testing.T) {
	pod := tree{"containers": []any{tree{"name": "c", "image": "1"}}}
	job := tree{"template": tree{"spec": tree{"nodeName": "n"}}}
	suspended := tree{"suspend": true, "template": tree{"spec": tree{}}}
	urgent := tree{"activeDeadlineSeconds": 5, "containers": pod["containers"]}
	gated := tree{"schedulingGates": []any{tree{"name": "g"}}}
	secretKind := corev1.SchemeGroupVersion.WithKind("Secret")
	statefulSetKind := deploymentKind.GroupVersion().WithKind("StatefulSet")
	ofClass := tree{"spec": with(claim()["spec"].(tree), tree{"storageClassName": "c"})}
	bindingKind := rbacv1.SchemeGroupVersion.WithKind("RoleBinding")
	binding := tree{"roleRef": tree{"kind": "Role", "name": "r"}}
	nodeKind := corev1.SchemeGroupVersion.WithKind("Node")
	priorityKind := schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")
	storageKind, runtimeKind := storagev1.SchemeGroupVersion.WithKind("StorageClass"), nodev1.SchemeGroupVersion.WithKind("RuntimeClass")
	networks, sliceKind := networkingv1.SchemeGroupVersion, discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
	for _, test := range []struct {
		name   string
		kind   schema.GroupVersionKind
		fields tree
		patch  string
		fails  bool
	}{
		{"image of a Pod", podKind, tree{"spec": pod}, `[{"op":"replace","path":"/spec/containers/0/image","value":"2"}]`, false},
		{"no image of a Pod", podKind, tree{"spec": pod}, `[{"op":"remove","path":"/spec/containers/0/image"}]`, true},
		{"space around the image of a Pod", podKind, tree{"spec": pod}, `[{"op":"replace","path":"/spec/containers/0/image","value":" 2"}]`, true},
		{"command of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/spec/containers/0/command","value":["x"]}]`, true},
		{"node of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/spec/nodeName","value":"n"}]`, true},
		{"containers of a Pod", podKind, tree{"spec": pod}, `[{"op":"remove","path":"/spec/containers/0"}]`, true},
		{"labels of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/metadata/labels","value":{"x":"1"}}]`, false},
		{"node selector of a gated Pod", podKind, tree{"spec": gated}, `[{"op":"add","path":"/spec/nodeSelector","value":{"x":"1"}}]`, false},
		{"node selector of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/spec/nodeSelector","value":{"x":"1"}}]`, true},
		{"deadline of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/spec/activeDeadlineSeconds","value":9}]`, false},
		{"nearer deadline of a Pod", podKind, tree{"spec": urgent}, `[{"op":"replace","path":"/spec/activeDeadlineSeconds","value":1}]`, false},
		{"later deadline of a Pod", podKind, tree{"spec": urgent}, `[{"op":"replace","path":"/spec/activeDeadlineSeconds","value":9}]`, true},
		{"no deadline of a Pod", podKind, tree{"spec": urgent}, `[{"op":"remove","path":"/spec/activeDeadlineSeconds"}]`, true},
		{"fewer gates of a Pod", podKind, tree{"spec": gated}, `[{"op":"remove","path":"/spec/schedulingGates/0"}]`, false},
		{"more gates of a Pod", podKind, tree{"spec": gated}, `[{"op":"add","path":"/spec/schedulingGates/-","value":{"name":"h"}}]`, true},
		{"more tolerations of a Pod", podKind, tree{"spec": pod}, `[{"op":"add","path":"/spec/tolerations/-","value":{"key":"x","operator":"Exists"}}]`, false},
		{"longer toleration of a Pod", podKind, tree{"spec": pod}, `[{"op":"replace","path":"/spec/tolerations/0/tolerationSeconds","value":9}]`, false},
		{"another toleration of a Pod", podKind, tree{"spec": pod}, `[{"op":"replace","path":"/spec/tolerations/0/operator","value":"Equal"}]`, true},
		{"selector of a Deployment", deploymentKind, nil, `[{"op":"add","path":"/spec/selector","value":{"matchExpressions":[{"key":"x","operator":"Exists"}]}}]`, true},
		{"replicas of a Deployment", deploymentKind, nil, `[{"op":"add","path":"/spec/replicas","value":2}]`, false},
		{"service of a StatefulSet", statefulSetKind, nil, `[{"op":"add","path":"/spec/serviceName","value":"x"}]`, true},
		{"replicas of a StatefulSet", statefulSetKind, nil, `[{"op":"add","path":"/spec/replicas","value":2}]`, false},
		{"template of a Job", jobKind, tree{"spec": job}, `[{"op":"add","path":"/spec/template/spec/nodeName","value":"x"}]`, true},
		{"parallelism of a Job", jobKind, tree{"spec": job}, `[{"op":"add","path":"/spec/parallelism","value":2}]`, false},
		{"completions of a Job", jobKind, tree{"spec": job}, `[{"op":"add","path":"/spec/completions","value":2}]`, true},
		{"selector of a Job", jobKind, tree{"spec": job}, `[{"op":"remove","path":"/spec/selector"}]`, true},
		{"node selector of a suspended Job", jobKind, tree{"spec": suspended}, `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"x":"1"}}]`, false},
		{"node of a suspended Job", jobKind, tree{"spec": suspended}, `[{"op":"add","path":"/spec/template/spec/nodeName","value":"x"}]`, true},
		{"data of a ConfigMap", configMapKind, tree{"data": tree{"k": "v"}}, `[{"op":"add","path":"/data/k","value":"w"}]`, false},
		{"data of a sealed ConfigMap", configMapKind, tree{"data": tree{"k": "v"}, "immutable": true}, `[{"op":"add","path":"/data/k","value":"w"}]`, true},
		{"seal of a ConfigMap", configMapKind, tree{"immutable": true}, `[{"op":"remove","path":"/immutable"}]`, true},
		{"type of a Secret", secretKind, tree{"type": "a"}, `[{"op":"replace","path":"/type","value":"b"}]`, true},
		{"volume of a claim", claimKind, claim(), `[{"op":"add","path":"/spec/volumeName","value":"v"}]`, false},
		{"first class of a claim", claimKind, claim(), `[{"op":"add","path":"/spec/storageClassName","value":"v"}]`, false},
		{"another class of a claim", claimKind, ofClass, `[{"op":"replace","path":"/spec/storageClassName","value":"v"}]`, true},
		{"size of a claim that is not bound", claimKind, claim(), `[{"op":"replace","path":"/spec/resources/requests/storage","value":"2Gi"}]`, true},
		{"mode of a claim", claimKind, claim(), `[{"op":"replace","path":"/spec/volumeMode","value":"Block"}]`, true},
		{"policy of a volume", volumeKind, volume(), `[{"op":"replace","path":"/spec/persistentVolumeReclaimPolicy","value":"Delete"}]`, false},
		{"place of a volume", volumeKind, volume(), `[{"op":"replace","path":"/spec/hostPath/path","value":"/y"}]`, true},
		{"mode of a volume", volumeKind, volume(), `[{"op":"replace","path":"/spec/volumeMode","value":"Block"}]`, true},
		{"role of a RoleBinding", bindingKind, binding, `[{"op":"replace","path":"/roleRef/name","value":"s"}]`, true},
		{"subjects of a RoleBinding", bindingKind, binding, `[{"op":"add","path":"/subjects","value":[{"kind":"User","name":"u"}]}]`, false},
		{"value of a PriorityClass", priorityKind, tree{"value": 1}, `[{"op":"replace","path":"/value","value":2}]`, true},
		{"description of a PriorityClass", priorityKind, tree{"value": 1}, `[{"op":"add","path":"/description","value":"d"}]`, false},
		{"provisioner of a StorageClass", storageKind, tree{"provisioner": "a.example.com"}, `[{"op":"replace","path":"/provisioner","value":"b"}]`, true},
		{"expansion by a StorageClass", storageKind, tree{"provisioner": "a.example.com"}, `[{"op":"add","path":"/allowVolumeExpansion","value":true}]`, false},
		{"handler of a RuntimeClass", runtimeKind, tree{"handler": "h"}, `[{"op":"replace","path":"/handler","value":"i"}]`, true},
		{"controller of an IngressClass", networks.WithKind("IngressClass"), tree{"spec": tree{"controller": "a.example.com/c"}},
			`[{"op":"replace","path":"/spec/controller","value":"b.example.com/c"}]`, true},
		{"addresses of an EndpointSlice", sliceKind, tree{"addressType": "IPv4"}, `[{"op":"replace","path":"/addressType","value":"IPv6"}]`, true},
		{"provider of a Node", nodeKind, tree{"spec": tree{"providerID": "a"}}, `[{"op":"replace","path":"/spec/providerID","value":"b"}]`, true},
		{"first provider of a Node", nodeKind, nil, `[{"op":"add","path":"/spec/providerID","value":"b"}]`, false},
		{"addresses of a Node", nodeKind, tree{"spec": tree{"podCIDR": "10.1.0.0/24"}},
			`[{"op":"replace","path":"/spec/podCIDR","value":"10.2.0.0/24"},{"op":"remove","path":"/spec/podCIDRs"}]`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.must(creation(test.kind, tree{"name": "a"}, test.fields))
			if jsontree.At(&unstructured.Unstructured{Object: test.fields}, "spec", "suspend") == true {
				w.must(ofStatus(patching(jobKind, "a", types.MergePatchType, `{"status":{"conditions":[{"type":"Suspended","status":"True"}]}}`)))
			}
			response, writes := w.do(patching(test.kind, "a", types.JSONPatchType, test.patch))
			switch {
			case test.fails && (response.Status == nil || response.Status.Code != 422):
				t.Errorf("got %s, want 422", response)
			case !test.fails && (response.Status != nil || writes == 0):
				t.Errorf("got %s with %d writes", response, writes)
			}
		})
	}
}

func TestSecretStringData(t *testing.T) {
	w := newWorld(t)
	s := w.must(creation(corev1.SchemeGroupVersion.WithKind("Secret"), tree{"name": "s"}, tree{"stringData": tree{"k": "v"}, "data": tree{"l": "dw=="}}))
	expect(t, "data", s.Object["data"], tree{"k": "dg==", "l": "dw=="})
	expect(t, "stringData", s.Object["stringData"], nil)
}

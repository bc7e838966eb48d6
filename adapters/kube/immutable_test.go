package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestImmutableFields(t *testing.T) {
	pod := tree{"containers": []any{tree{"name": "c", "image": "1"}}}
	job := tree{"template": tree{"spec": tree{"nodeName": "n"}}}
	suspended := tree{"suspend": true, "template": tree{"spec": tree{}}}
	urgent := tree{"activeDeadlineSeconds": 5, "containers": pod["containers"]}
	gated := tree{"schedulingGates": []any{tree{"name": "g"}}}
	secretKind := corev1.SchemeGroupVersion.WithKind("Secret")
	claimKind := corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	statefulSetKind := deploymentKind.GroupVersion().WithKind("StatefulSet")
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
		{"volume of a claim", claimKind, nil, `[{"op":"add","path":"/spec/volumeName","value":"v"}]`, false},
		{"class of a claim", claimKind, nil, `[{"op":"add","path":"/spec/storageClassName","value":"v"}]`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.must(creation(test.kind, tree{"name": "a"}, test.fields))
			if at(&unstructured.Unstructured{Object: test.fields}, "spec", "suspend") == true {
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

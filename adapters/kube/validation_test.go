package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// TestSpecValidation checks what is refused, by the causes: field, then message.
func TestSpecValidation(t *testing.T) {
	core, apps := corev1.SchemeGroupVersion, deploymentKind.GroupVersion()
	container := func(name, image string) tree { return tree{"name": name, "image": image} }
	workload := func(fields tree) tree {
		return tree{"spec": with(tree{
			"selector": tree{"matchLabels": tree{"x": "1"}},
			"template": tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": tree{"containers": []any{container("c", "c:1")}}},
		}, fields)}
	}
	label := "a lowercase RFC 1123 label must consist of"
	for _, test := range []struct {
		kind   schema.GroupVersionKind
		fields tree
		want   []string
	}{
		{podKind, tree{"spec": tree{}}, []string{"spec.containers: Required value"}},
		{podKind, tree{"spec": tree{"containers": []any{container("c", "c:1"), container("c", "c:2")}}}, []string{`spec.containers[1].name: Duplicate value: "c"`}},
		{podKind, tree{"spec": tree{"containers": []any{container("C", "")}}}, []string{`spec.containers[0].name: Invalid value: "C": ` + label, "spec.containers[0].image: Required value"}},
		{podKind, tree{"spec": tree{"containers": []any{container("c", "c:1")}, "restartPolicy": "Nonsense"}},
			[]string{`spec.restartPolicy: Unsupported value: "Nonsense": supported values: "Always", "OnFailure", "Never"`}},
		{podKind, tree{"spec": tree{"containers": []any{with(container("c", "c:1"), tree{"volumeMounts": []any{tree{"name": "v"}}})}}},
			[]string{`spec.containers[0].volumeMounts[0].name: Not found: "v"`, "spec.containers[0].volumeMounts[0].mountPath: Required value"}},
		{podKind, tree{"spec": tree{"containers": []any{container("c", "c:1")}, "volumes": []any{tree{"name": "v"}, tree{"name": "v"}}}},
			[]string{`spec.volumes[1].name: Duplicate value: "v"`}},
		{deploymentKind, tree{"spec": tree{"replicas": 5}}, []string{
			"spec.selector: Required value", "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
			"spec.template.spec.containers: Required value",
		}},
		{deploymentKind, workload(tree{"replicas": -1}), []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		{deploymentKind, workload(tree{"selector": tree{}}), []string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		{deploymentKind, workload(tree{"progressDeadlineSeconds": 3, "minReadySeconds": 3}),
			[]string{"spec.progressDeadlineSeconds: Invalid value: 3: must be greater than minReadySeconds"}},
		{deploymentKind, workload(tree{"strategy": tree{"type": "Recreate", "rollingUpdate": tree{}}}),
			[]string{"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{apps.WithKind("ReplicaSet"), workload(tree{"minReadySeconds": -1}), []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
		{apps.WithKind("DaemonSet"), workload(tree{"selector": tree{"matchLabels": tree{"x": "2"}}}),
			[]string{"spec.template.metadata.labels: Invalid value: {\"x\":\"1\"}: `selector` does not match template `labels`"}},
		{apps.WithKind("StatefulSet"), workload(tree{"replicas": -1}), []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		{jobKind, tree{"spec": tree{"completions": -1, "template": tree{"spec": tree{"containers": []any{container("c", "c:1")}}}}}, []string{
			"spec.completions: Invalid value: -1: must be greater than or equal to 0",
			`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
		}},
		{jobKind, tree{"spec": tree{"completionMode": "Indexed", "parallelism": 1, "template": tree{"spec": tree{"containers": []any{container("c", "c:1")}, "restartPolicy": "Never"}}}},
			[]string{"spec.completions: Required value: when completion mode is Indexed"}},
		{serviceKind, tree{"spec": tree{}}, []string{"spec.ports: Required value"}},
		{serviceKind, tree{"spec": tree{"ports": []any{tree{"port": 1}, tree{"port": 2}}}}, []string{"spec.ports[0].name: Required value", "spec.ports[1].name: Required value"}},
		{serviceKind, tree{"spec": tree{"ports": []any{tree{"port": 0}}}}, []string{
			"spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive", "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
		}},
		{serviceKind, tree{"spec": tree{"type": "Odd", "ports": []any{tree{"port": 1}}}},
			[]string{`spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`}},
		{serviceKind, tree{"spec": tree{"type": "NodePort", "clusterIP": "None", "ports": []any{tree{"port": 1}}}},
			[]string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`}},
		{serviceKind, tree{"spec": tree{"type": "ExternalName"}}, []string{"spec.externalName: Required value"}},
		{serviceKind, tree{"spec": tree{"ports": []any{tree{"port": 1, "name": "a"}, tree{"port": 1, "name": "b"}}}}, []string{"spec.ports[1]: Duplicate value"}},
		{configMapKind, tree{"data": tree{"not a key!": "1"}}, []string{`data[not a key!]: Invalid value: "not a key!": a valid config key must consist of`}},
		{configMapKind, tree{"data": tree{"k": "1"}, "binaryData": tree{"k": "MQ=="}}, []string{`data[k]: Invalid value: "k": duplicate of key present in binaryData`}},
		{core.WithKind("Secret"), tree{"type": "kubernetes.io/tls"}, []string{"data[tls.crt]: Required value", "data[tls.key]: Required value"}},
		{core.WithKind("Secret"), tree{"type": "kubernetes.io/basic-auth"}, []string{"data[username]: Required value", "data[password]: Required value"}},
		{core.WithKind("Secret"), tree{"type": "kubernetes.io/ssh-auth"}, []string{"data[ssh-privatekey]: Required value"}},
		{core.WithKind("Secret"), tree{"type": "kubernetes.io/dockerconfigjson", "data": tree{".dockerconfigjson": "e30="}}, nil},
		{core.WithKind("Secret"), tree{"type": "kubernetes.io/dockercfg", "data": tree{".dockercfg": "eA=="}}, []string{`data[.dockercfg]: Invalid value: "<secret contents redacted>"`}},
		{schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, tree{"spec": tree{"leaseDurationSeconds": 0, "leaseTransitions": -1}}, []string{
			"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0", "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
		}},
	} {
		w := newWorld(t)
		r := request(Create, test.kind, "")
		r.Body = object(test.kind, tree{"name": "a"}, test.fields)
		expectCauses(t, w, r, test.want)
	}
}

func expectCauses(t *testing.T, w *world, r *Request, want []string) {
	t.Helper()
	response, _ := w.do(r)
	var got []string
	if response.Status != nil {
		for _, cause := range response.Status.Details.Causes {
			got = append(got, cause.Field+": "+cause.Message)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got\n\t%s\nwant\n\t%s", r, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s: got\n\t%s\nwant\n\t%s", r, got[i], want[i])
		}
	}
}

func TestStatusValidation(t *testing.T) {
	over := "cannot be greater than status.replicas"
	for _, test := range []struct {
		kind   schema.GroupVersionKind
		status string
		want   []string
	}{
		{deploymentKind, `{"replicas":1,"readyReplicas":1}`, nil},
		{deploymentKind, `{"replicas":1,"readyReplicas":9}`, []string{"status.readyReplicas: Invalid value: 9: " + over}},
		{deploymentKind, `{"replicas":3,"readyReplicas":1,"availableReplicas":2}`, []string{"status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas"}},
		{deploymentKind, `{"unavailableReplicas":-1}`, []string{"status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0"}},
		{deploymentKind.GroupVersion().WithKind("StatefulSet"), `{"currentReplicas":1}`, []string{"status.currentReplicas: Invalid value: 1: " + over}},
		{deploymentKind.GroupVersion().WithKind("ReplicaSet"), `{"fullyLabeledReplicas":1}`, []string{"status.fullyLabeledReplicas: Invalid value: 1: " + over}},
		{jobKind, `{"ready":1}`, []string{"status.ready: Invalid value: 1: cannot set more ready pods than active"}},
		{serviceKind, `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`,
			[]string{"status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"}},
	} {
		w := newWorld(t)
		w.must(creation(test.kind, tree{"name": "a"}, nil))
		expectCauses(t, w, ofStatus(patching(test.kind, "a", types.MergePatchType, `{"status":`+test.status+`}`)), test.want)
	}
}

// A server checks some things more than once.
func TestFinalizersMustSayWhoseTheyAre(t *testing.T) {
	cause := `metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`
	for _, test := range []struct {
		kind      schema.GroupVersionKind
		onUpdates int
	}{
		{configMapKind, 2}, {deploymentKind, 1}, {schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, 0}, {widgetKind, 0},
	} {
		w := newWorld(t)
		causes := []string{cause}
		if test.onUpdates == 0 {
			causes = nil
		}
		expectCauses(t, w, creation(test.kind, tree{"name": "b", "finalizers": []any{"mine"}}, nil), causes)
		w.must(creation(test.kind, tree{"name": "a", "finalizers": []any{"kubernetes"}}, nil))
		for len(causes) < test.onUpdates {
			causes = append(causes, cause)
		}
		expectCauses(t, w, patching(test.kind, "a", types.MergePatchType, `{"metadata":{"finalizers":["mine"]}}`), causes)
	}
}

// What was invalid before its definition changed stays as it is, if it is not touched.
func TestInvalidFieldsAreLetPassUnchanged(t *testing.T) {
	w := newWorld(t)
	w.widget("a", tree{"spec": tree{"size": 1}})
	key := keyOfWidget("a")
	broken := w.objects[key].(*storage.Object).Copy()
	jsontree.Set(broken.Object, int64(-5), "spec", "size")
	w.objects[key] = storage.New(broken.Object, 0)
	w.must(patching(widgetKind, "a", types.MergePatchType, `{"spec":{"color":"red"}}`))
	expectCauses(t, w, patching(widgetKind, "a", types.MergePatchType, `{"spec":{"size":-6}}`), []string{"spec.size: Invalid value: -6"})
}

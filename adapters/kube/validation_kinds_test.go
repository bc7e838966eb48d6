package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// TestValidationOfOtherKinds checks what is refused of the kinds that controllers make besides
// those that run Pods, by the causes: field, then message.
func TestValidationOfOtherKinds(t *testing.T) {
	kind := func(group, name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}
	}
	const rbac = "rbac.authorization.k8s.io"
	role, clusterRole, binding := kind(rbac, "Role"), kind(rbac, "ClusterRole"), kind(rbac, "RoleBinding")
	ingress, policy := kind("networking.k8s.io", "Ingress"), kind("networking.k8s.io", "NetworkPolicy")
	slice, class := kind("discovery.k8s.io", "EndpointSlice"), kind("networking.k8s.io", "IngressClass")
	webhooks := kind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")
	scaler := schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
	path := func(fields tree) tree {
		return tree{"spec": tree{"rules": []any{tree{"http": tree{"paths": []any{fields}}}}}}
	}
	backend := tree{"service": tree{"name": "s", "port": tree{"number": 80}}}
	target := tree{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
	job := tree{"spec": tree{"template": tree{"spec": tree{"restartPolicy": "Never", "containers": []any{tree{"name": "c", "image": "c:1"}}}}}}
	rules := func(fields tree) tree { return tree{"rules": []any{fields}} }
	paths := "spec.rules[0].http.paths[0]."
	for _, test := range []struct {
		kind   schema.GroupVersionKind
		fields tree
		want   []string
	}{
		{role, rules(tree{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}), nil},
		{role, rules(tree{}), []string{
			"rules[0].verbs: Required value: verbs must contain at least one value",
			"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
			"rules[0].resources: Required value: resource rules must supply at least one resource",
		}},
		{role, rules(tree{"nonResourceURLs": []any{"/x"}, "verbs": []any{"get"}}),
			[]string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`}},
		{clusterRole, rules(tree{"nonResourceURLs": []any{"/x"}, "verbs": []any{"get"}}), nil},
		{clusterRole, tree{"aggregationRule": tree{}},
			[]string{"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"}},
		{binding, tree{"roleRef": tree{"kind": "Thing"}, "subjects": []any{tree{"kind": "ServiceAccount", "name": "S"}, tree{"kind": "Thing"}}}, []string{
			`roleRef.kind: Unsupported value: "Thing": supported values: "Role", "ClusterRole"`, "roleRef.name: Required value",
			`subjects[0].name: Invalid value: "S": a lowercase RFC 1123 subdomain`,
			"subjects[1].name: Required value", `subjects[1].kind: Unsupported value: "Thing": supported values: "ServiceAccount", "User", "Group"`,
		}},
		{kind(rbac, "ClusterRoleBinding"), tree{"roleRef": tree{"kind": "Role", "name": "r"}, "subjects": []any{tree{"kind": "ServiceAccount", "name": "s"}}},
			[]string{`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`, "subjects[0].namespace: Required value"}},
		{ingress, tree{"spec": tree{}}, []string{"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
		{ingress, path(tree{"path": "/", "pathType": "Prefix", "backend": backend}), nil},
		{ingress, path(tree{"path": "/", "backend": backend}), []string{paths + "pathType: Required value: pathType must be specified"}},
		{ingress, path(tree{"path": "x//y", "pathType": "Exact", "backend": backend}),
			[]string{paths + `path: Invalid value: "x//y": must be an absolute path`, paths + `path: Invalid value: "x//y": must not contain '//'`}},
		{ingress, path(tree{"pathType": "ImplementationSpecific", "backend": tree{}}),
			[]string{paths + `backend: Invalid value: "": resource or service backend is required`}},
		{ingress, path(tree{"path": "/", "pathType": "Odd", "backend": tree{"service": tree{"name": "s"}}}), []string{
			paths + `pathType: Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
			paths + "backend: Required value: port name or number is required",
		}},
		{ingress, tree{"spec": tree{"rules": []any{tree{"host": "1.2.3.4"}}, "tls": []any{tree{"hosts": []any{"*"}}}}}, []string{
			`spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`, `spec.tls[0].hosts[0]: Invalid value: "*": a wildcard DNS-1123 subdomain`,
		}},
		{class, tree{"spec": tree{"controller": "nonsense"}}, []string{`spec.controller: Invalid value: "nonsense": must be a domain-prefixed path`}},
		{class, tree{"spec": tree{"controller": "a.example.com/c", "parameters": tree{"kind": "K", "name": "n", "scope": "Namespace"}}},
			[]string{"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"}},
		{policy, tree{"spec": tree{"podSelector": tree{}, "policyTypes": []any{"Nonsense"}}},
			[]string{`spec.policyTypes[0]: Unsupported value: "Nonsense": supported values: "Ingress", "Egress"`}},
		{policy, tree{"spec": tree{"podSelector": tree{}, "ingress": []any{tree{
			"from":  []any{tree{}, tree{"ipBlock": tree{"cidr": "10.0.0.0/8", "except": []any{"11.0.0.0/16"}}}},
			"ports": []any{tree{"port": 70000}, tree{"endPort": 5}},
		}}}}, []string{
			"spec.ingress[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
			"spec.ingress[0].ports[1].endPort: Invalid value: 5: may not be specified when `port` is not specified",
			"spec.ingress[0].from[0]: Required value: must specify a peer",
			`spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of ` + "`cidr`",
		}},
		{slice, tree{"endpoints": []any{}}, []string{"addressType: Required value"}},
		{slice, tree{"addressType": "IPv4", "endpoints": []any{tree{"addresses": []any{}}, tree{"addresses": []any{"nonsense", "127.0.0.1", "2001:db8::1"}}}}, []string{
			"endpoints[0].addresses: Required value: must contain at least 1 address",
			`endpoints[1].addresses[0]: Invalid value: "nonsense": must be a valid IP address`,
			`endpoints[1].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range`,
			`endpoints[1].addresses: Invalid value: "2001:db8::1": must be an IPv4 address`,
		}},
		{kind("", "Endpoints"), tree{"subsets": []any{tree{"addresses": []any{tree{"ip": "nonsense"}}, "ports": []any{tree{"port": 0}}}}}, []string{
			`subsets[0].addresses[0].ip: Invalid value: "nonsense": must be a valid IP address`,
			`subsets[0].addresses[0].ip: Invalid value: "nonsense": must be a valid IP address`,
			"subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
		}},
		{kind("", "PersistentVolumeClaim"), tree{"spec": tree{"accessModes": []any{"ReadWriteOncePod", "ReadOnlyMany"}, "resources": tree{"requests": tree{"storage": "0"}}}}, []string{
			"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes", `spec.resources[storage]: Invalid value: "0": must be greater than zero`,
		}},
		{kind("", "PersistentVolume"), tree{"spec": tree{"persistentVolumeReclaimPolicy": "Keep"}}, []string{
			"spec.accessModes: Required value", "spec.capacity: Required value", `spec.capacity: Unsupported value: null: supported values: "storage"`,
			`spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"`,
			"spec: Required value: must specify a volume type",
		}},
		{kind("storage.k8s.io", "StorageClass"), tree{"volumeBindingMode": "Later"}, []string{
			"provisioner: Required value", `volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"`,
		}},
		{kind("scheduling.k8s.io", "PriorityClass"), tree{"value": 2000000000}, []string{"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
		{kind("node.k8s.io", "RuntimeClass"), tree{}, []string{"handler: Required value"}},
		{kind("", "Node"), tree{"spec": tree{"taints": []any{tree{"key": "a"}, tree{"key": "a", "effect": "NoSchedule"}, tree{"key": "a", "effect": "NoSchedule"}}}}, []string{
			"metadata.taints[0].effect: Required value", "metadata.taints[2]: Duplicate value",
		}},
		{budgetKind, tree{"spec": tree{"minAvailable": -1, "maxUnavailable": "150%"}}, []string{
			"spec: Invalid value", "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
			`spec.maxUnavailable: Invalid value: "150%": must not be greater than 100%`,
		}},
		{budgetKind, tree{"spec": tree{"minAvailable": "half"}}, []string{`spec.minAvailable: Invalid value: "half": a valid percent string`}},
		{scaler, tree{"spec": tree{"minReplicas": 2, "scaleTargetRef": target}}, []string{
			"spec.maxReplicas: Required value: must be set and greater than 0", "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
		}},
		{scaler, tree{"spec": tree{"maxReplicas": 2, "scaleTargetRef": tree{"kind": "Deployment"}}}, []string{
			"spec.scaleTargetRef.name: Required value", `spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group`,
		}},
		{kind("batch", "CronJob"), tree{"spec": tree{"schedule": "TZ=UTC @daily", "concurrencyPolicy": "Sometimes", "jobTemplate": job}}, []string{
			`spec.schedule: Invalid value: "TZ=UTC @daily": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`,
			`spec.concurrencyPolicy: Unsupported value: "Sometimes": supported values: "Allow", "Forbid", "Replace"`,
		}},
		{kind("batch", "CronJob"), tree{"spec": tree{"jobTemplate": tree{"spec": tree{"template": job["spec"].(tree)["template"], "selector": tree{}, "parallelism": -1}}}}, []string{
			"spec.schedule: Required value", "spec.jobTemplate.spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
			"spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
		}},
		{kind("apps", "ControllerRevision"), tree{"revision": -1}, []string{
			"revision: Invalid value: -1: must be greater than or equal to 0", "data: Required value: data is mandatory",
		}},
		{kind("", "Event"), tree{"involvedObject": tree{"namespace": "other"}}, []string{`involvedObject.namespace: Invalid value: "other": does not match event.namespace`}},
		{kind("", "Event"), tree{"involvedObject": tree{"kind": "Node"}}, nil},
		{kind("", "Event"), tree{"eventTime": "2000-01-01T00:00:00.000000Z", "reportingComponent": "c", "reportingInstance": "i", "reason": strings.Repeat("x", 129)}, []string{
			"action: Required value", `reason: Invalid value: "": can have at most 128 characters`,
		}},
		{kind("certificates.k8s.io", "CertificateSigningRequest"), tree{"spec": tree{"request": "eA==", "signerName": "s", "expirationSeconds": 5, "usages": []any{"any", "any"}}}, []string{
			`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`, `spec.usages[1]: Duplicate value: "any"`,
			`spec.signerName: Invalid value: "s": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
			"spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds",
		}},
		{webhooks, tree{"webhooks": []any{tree{"name": "short", "clientConfig": tree{"service": tree{"name": "s"}}}}}, []string{
			`webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots`,
			"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
			"webhooks[0].clientConfig.service.name: Required value",
			"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
		}},
		{webhooks, tree{"webhooks": []any{tree{
			"name": "a.example.com", "clientConfig": tree{}, "sideEffects": "Some", "timeoutSeconds": 31, "admissionReviewVersions": []any{"v9"},
			"rules": []any{tree{"operations": []any{"*", "CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"}}},
		}}}, []string{
			`webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
			`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`,
			"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
			"webhooks[0].clientConfig: Required value: exactly one of url or service is required",
			`webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`,
		}},
	} {
		w := newWorld(t)
		r := request(Create, test.kind, "")
		r.Body = object(test.kind, tree{"name": "a"}, test.fields)
		expectCauses(t, w, r, test.want)
	}
}

// Strategies that contradict themselves are refused.
func TestValidationOfStrategies(t *testing.T) {
	apps := deploymentKind.GroupVersion()
	for _, test := range []struct {
		kind   string
		fields tree
		want   []string
	}{
		{"StatefulSet", tree{"updateStrategy": tree{"type": "OnDelete", "rollingUpdate": tree{}}},
			[]string{"spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'"}},
		{"StatefulSet", tree{"updateStrategy": tree{"type": "RollingUpdate", "rollingUpdate": tree{"partition": -1, "maxUnavailable": 0}}}, []string{
			"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0",
		}},
		{"StatefulSet", tree{"podManagementPolicy": "Odd", "serviceName": "Odd Name"}, []string{
			`spec.podManagementPolicy: Invalid value: "Odd": must be 'OrderedReady' or 'Parallel'`, `spec.serviceName: Invalid value: "Odd Name": a lowercase RFC 1123 label`,
		}},
		{"DaemonSet", tree{"updateStrategy": tree{"type": "OnDelete"}}, nil},
		{"DaemonSet", tree{"updateStrategy": tree{"rollingUpdate": tree{"maxUnavailable": 0}}},
			[]string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		{"DaemonSet", tree{"updateStrategy": tree{"rollingUpdate": tree{"maxUnavailable": "10%", "maxSurge": 1}}},
			[]string{"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
	} {
		expectCauses(t, newWorld(t), creation(apps.WithKind(test.kind), tree{"name": "a"}, tree{"spec": test.fields}), test.want)
	}
}

// Some kinds have counts of their own, which only the server writes.
func TestWhatTheServerKeepsOfOtherKinds(t *testing.T) {
	w := newWorld(t)
	const annotation = "deprecated.daemonset.template.generation"
	daemons := deploymentKind.GroupVersion().WithKind("DaemonSet")
	d := w.must(creation(daemons, tree{"name": "d"}, nil))
	expect(t, "generation of a new template", d.GetAnnotations(), tree{annotation: "1"})
	d = w.must(patching(daemons, "d", types.MergePatchType, `{"metadata":{"annotations":{"`+annotation+`":"7"}},"spec":{"minReadySeconds":1}}`))
	expect(t, "after a change elsewhere", d.GetAnnotations()[annotation], "1")
	d = w.must(patching(daemons, "d", types.MergePatchType, `{"metadata":{"annotations":null},"spec":{"template":{"spec":{"hostNetwork":true}}}}`))
	expect(t, "after a change of the template", d.GetAnnotations()[annotation], "2")
	expect(t, "generation", d.GetGeneration(), 3)
	w.settle()
	expect(t, "at the end of a step", w.must(request(Get, daemons, "d")).GetAnnotations()[annotation], "1")

	nodes := corev1.SchemeGroupVersion.WithKind("Node")
	n := w.must(creation(nodes, tree{"name": "n"}, tree{"spec": tree{"podCIDR": "10.1.0.0/24"}, "status": tree{"phase": "Running"}}))
	expect(t, "spec of a new Node", n.Object["spec"], tree{
		"podCIDR": "10.1.0.0/24", "podCIDRs": []any{"10.1.0.0/24"}, "taints": []any{tree{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}},
	})
	expect(t, "status of a new Node", jsontree.At(n, "status", "phase"), "Running")

	volumes := corev1.SchemeGroupVersion.WithKind("PersistentVolume")
	v := w.must(creation(volumes, tree{"name": "v"}, volume()))
	expect(t, "status of a new volume", v.Object["status"], tree{"phase": "Pending", "lastPhaseTransitionTime": "2000-01-01T00:00:00Z"})
	expect(t, "path of a volume", jsontree.At(v, "spec", "hostPath"), tree{"path": "/x", "type": ""})
	v = w.must(ofStatus(patching(volumes, "v", types.MergePatchType, `{"status":{"phase":"Bound","lastPhaseTransitionTime":null}}`)))
	expect(t, "status of a bound volume", v.Object["status"], tree{"phase": "Bound", "lastPhaseTransitionTime": "2000-01-01T00:00:00Z"})

	classes := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
	w.must(creation(classes, tree{"name": "c"}, tree{"value": 1}))
	c := w.must(patching(classes, "c", types.MergePatchType, `{"description":"d"}`))
	expect(t, "generation of a PriorityClass", c.GetGeneration(), 1)
}

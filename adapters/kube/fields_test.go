package kube

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
)

// TestFieldsThatARealServerRefuses is what a real kube-apiserver 1.36 said to fields of small
// objects, as TestFields in conformance found.
func TestFieldsThatARealServerRefuses(t *testing.T) {
	const (
		container  = "containers: [{name: main, image: img, "
		template   = "selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {"
		invalid    = "FieldValueInvalid "
		required   = "FieldValueRequired "
		supported  = "FieldValueNotSupported "
		forbidden  = "FieldValueForbidden "
		autoscaler = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
		volume     = "capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
	)
	for _, test := range []struct {
		apiVersion, kind, spec string
		want                   []string
	}{
		{"v1", "Pod", container + "ports: [{containerPort: 70000}]}]", []string{invalid + "spec.containers[0].ports[0].containerPort"}},
		{"apps/v1", "Deployment", template + container + "ports: [{containerPort: 70000}]}]}}", []string{invalid + "spec.template.spec.containers[0].ports[0].containerPort"}},
		{"apps/v1", "StatefulSet", template + container + "ports: [{containerPort: 70000}]}]}}", []string{invalid + "spec.template.spec.containers[0].ports[0].containerPort"}},
		{"batch/v1", "Job", "template: {spec: {restartPolicy: Never, " + container + "imagePullPolicy: Nonsense}]}}", []string{supported + "spec.template.spec.containers[0].imagePullPolicy"}},
		{"batch/v1", "CronJob", `schedule: "99 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ` + container + "}]}}}}", []string{invalid + "spec.schedule"}},
		{"batch/v1", "CronJob", `schedule: "@daily", timeZone: Nowhere/Else, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ` + container + "}]}}}}", []string{invalid + "spec.timeZone"}},
		{"v1", "Pod", container + "livenessProbe: {}}]", []string{required + "spec.containers[0].livenessProbe"}},
		{"v1", "Pod", container + "livenessProbe: {tcpSocket: {port: 80}, successThreshold: 3}}]", []string{invalid + "spec.containers[0].livenessProbe.successThreshold"}},
		{"v1", "Pod", container + "readinessProbe: {httpGet: {port: Not Valid!}}}]", []string{invalid + "spec.containers[0].readinessProbe.httpGet.port"}},
		{"v1", "Pod", container + "resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]", []string{invalid + "spec.containers[0].resources.requests"}},
		{"v1", "Pod", container + "resources: {limits: {nonsense: 1}}}]", []string{
			invalid + "spec.containers[0].resources.limits[nonsense]", invalid + "spec.containers[0].resources.limits[nonsense]",
			invalid + "spec.containers[0].resources.requests[nonsense]", invalid + "spec.containers[0].resources.requests[nonsense]",
		}},
		{"v1", "Pod", container + "env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]", []string{invalid + "spec.containers[0].env[0].value"}},
		{"v1", "Pod", container + "env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.restartPolicy}}}]}]", []string{supported + "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"}},
		{"v1", "Pod", container + "volumeMounts: [{name: v, mountPath: /m}]}]", []string{"FieldValueNotFound spec.containers[0].volumeMounts[0].name"}},
		{"v1", "Pod", "volumes: [{name: v, hostPath: {path: /a/../b}}], " + container + "}]", []string{invalid + "spec.volumes[0].hostPath.path"}},
		{"v1", "Pod", "volumes: [{name: v, emptyDir: {}, configMap: {name: c}}], " + container + "}]", []string{forbidden + "spec.volumes[0].emptyDir"}},
		{"v1", "Pod", "tolerations: [{key: k, operator: Exists, tolerationSeconds: 0}], " + container + "}]", []string{invalid + "spec.tolerations[0].effect"}},
		{"v1", "Pod", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}}, " + container + "}]",
			[]string{required + "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"}},
		{"v1", "Pod", "topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}], " + container + "}]", []string{invalid + "spec.topologySpreadConstraints[0].maxSkew"}},
		{"v1", "Pod", "initContainers: [{name: i, image: img, livenessProbe: {tcpSocket: {port: 80}}}], " + container + "}]", []string{forbidden + "spec.initContainers[0].livenessProbe"}},
		{"v1", "Pod", "dnsPolicy: None, " + container + "}]", []string{required + "spec.dnsConfig"}},
		{"v1", "Pod", "activeDeadlineSeconds: 0, " + container + "}]", []string{invalid + "spec.activeDeadlineSeconds"}},
		{"apps/v1", "Deployment", template + "activeDeadlineSeconds: 3, " + container + "}]}}", []string{forbidden + "spec.template.spec.activeDeadlineSeconds"}},
		{"apps/v1", "Deployment", "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}, " + template + container + "}]}}", []string{invalid + "spec.strategy.rollingUpdate.maxUnavailable"}},
		{"v1", "PersistentVolume", volume + "nfs: {server: s, path: relative/path}", []string{invalid + "spec.nfs.path"}},
		{"v1", "PersistentVolume", volume + "local: {path: /p}", []string{required + "spec.nodeAffinity"}},
		{"v1", "PersistentVolume", volume + "csi: {driver: d.example.com}", []string{required + "spec.csi.volumeHandle"}},
		{"v1", "Service", "ports: [{port: 80}], trafficDistribution: a-name", []string{supported + "spec.trafficDistribution"}},
		{"v1", "Service", "ports: [{port: 80}], externalTrafficPolicy: Local", []string{invalid + "spec.externalTrafficPolicy"}},
		{"autoscaling/v2", "HorizontalPodAutoscaler", autoscaler + "metrics: [{}]", []string{required + "spec.metrics[0].type"}},
		{"autoscaling/v2", "HorizontalPodAutoscaler", autoscaler + "behavior: {scaleUp: {policies: [{type: Pods, value: 0, periodSeconds: 1}]}}", []string{invalid + "spec.behavior.scaleUp.policies[0].value"}},
		{"v1", "ResourceQuota", "hard: {nonsense: 1}", []string{invalid + "spec.hard[nonsense]"}},
		{"v1", "LimitRange", "limits: [{type: Pod, default: {cpu: 1}}]", []string{forbidden + "spec.limits[0].default"}},
		{"v1", "Pod", "resources: {requests: {cpu: 1}}, initContainers: [{name: kept, image: img, restartPolicy: Always, resources: {requests: {cpu: 600m}}}], " +
			container + "resources: {requests: {cpu: 600m}}}]", []string{invalid + "spec.resources.requests[cpu]"}},
		{"v1", "Pod", "resources: {limits: {cpu: 1, memory: 1Gi}}, " + container + "resources: {requests: {cpu: 0, memory: 0}, limits: {cpu: 2, memory: 2Gi}}}]",
			[]string{invalid + "spec.containers[0][cpu].limits", invalid + "spec.containers[0][memory].limits"}},
		{"v1", "Pod", "resourceClaims: [{name: a, resourceClaimName: c}, {name: ba, resourceClaimName: c}], " + container + "resources: {claims: [{name: ba, request: x}, {name: a}, {name: ba}]}}]",
			[]string{"FieldValueDuplicate spec.containers[0].resources.claims[2]"}},
		{"v1", "Namespace", "finalizers: [Nonsense]", []string{invalid + "spec.finalizers"}},
		{"v1", "Pod", "overhead: {pods: 1}, " + container + "}]", []string{invalid + "spec.overhead.limits[pods]"}},
	} {
		w := newWorld(t)
		r := creation(schema.FromAPIVersionAndKind(test.apiVersion, test.kind), tree{"name": "a"}, tree{"spec": fromYAML(t, test.spec)})
		response, _ := w.do(r)
		if got := refusedFields(response); !slices.Equal(got, test.want) {
			t.Errorf("%s {%s}: %q, not %q", test.kind, test.spec, got, test.want)
		}
	}
}

func fromYAML(t *testing.T, fields string) tree {
	t.Helper()
	var object tree
	if err := yaml.Unmarshal([]byte("{"+fields+"}"), &object); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return object
}

// refusedFields are the reasons and fields of the causes of a refusal.
func refusedFields(response *Response) []string {
	var fields []string
	if response.Status != nil {
		for _, cause := range response.Status.Details.Causes {
			fields = append(fields, string(cause.Type)+" "+cause.Field)
		}
	}
	return fields
}

// TestFieldsBehindGates: a field whose feature gate is off is not kept.
func TestFieldsBehindGates(t *testing.T) {
	w := newWorld(t)
	spec := fromYAML(t, "selector: {matchLabels: {app: x}}, updateStrategy: {rollingUpdate: {partition: 1, maxUnavailable: 2}}, "+
		"template: {metadata: {labels: {app: x}}, spec: {containers: [{name: main, image: img}]}}")
	set := w.must(creation(deploymentKind.GroupVersion().WithKind("StatefulSet"), tree{"name": "a"}, tree{"spec": spec}))
	expect(t, "what is kept of the strategy", jsontree.At(set, "spec", "updateStrategy", "rollingUpdate"), any(tree{"partition": int64(1)}))
}

// TestSourcesOfClaims: the two fields for what a claim is filled with say the same.
func TestSourcesOfClaims(t *testing.T) {
	claim := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	for source, want := range map[string]string{
		"dataSource: {kind: PersistentVolumeClaim, name: b}":                                                `{"dataSource":{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"b"},"dataSourceRef":{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"b"}}`,
		"dataSource: {apiGroup: example.com, kind: Own, name: b}":                                           `{}`,
		"dataSourceRef: {apiGroup: example.com, kind: Own, name: b}":                                        `{"dataSource":{"apiGroup":"example.com","kind":"Own","name":"b"},"dataSourceRef":{"apiGroup":"example.com","kind":"Own","name":"b"}}`,
		"dataSourceRef: {kind: PersistentVolumeClaim, name: b, namespace: other}":                           `{}`,
		"dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: b}, volumeMode: Block": `{"dataSource":{"apiGroup":"snapshot.storage.k8s.io","kind":"VolumeSnapshot","name":"b"},"dataSourceRef":{"apiGroup":"snapshot.storage.k8s.io","kind":"VolumeSnapshot","name":"b"}}`,
	} {
		made := newWorld(t).must(creation(claim, tree{"name": "a"}, tree{"spec": fromYAML(t, "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, "+source)}))
		kept, err := json.Marshal(jsontree.Without(jsontree.At(made, "spec"), "accessModes", "resources", "volumeMode"))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, source, string(kept), want)
	}
}

// TestResourcesOfPods: what all containers of a Pod need together is completed by what each of
// them needs.
func TestResourcesOfPods(t *testing.T) {
	const sidecar = "initContainers: [{name: kept, image: img, restartPolicy: Always, resources: {requests: {cpu: 300m}}}, {name: first, image: img, resources: {requests: {cpu: 2, memory: 1Gi}}}], "
	for spec, want := range map[string]string{
		"resources: {limits: {cpu: 0.0001, memory: 1Gi}}":                          `{"limits":{"cpu":"1m","memory":"1Gi"},"requests":{"cpu":"1m","memory":"1Gi"}}`,
		"resources: {requests: {cpu: 1}}":                                          `{"requests":{"cpu":"1"}}`,
		sidecar + "resources: {limits: {cpu: 4}}":                                  `{"limits":{"cpu":"4"},"requests":{"cpu":"2300m","memory":"1Gi"}}`,
		sidecar + "resources: {limits: {cpu: 4, memory: 2Gi}, requests: {cpu: 3}}": `{"limits":{"cpu":"4","memory":"2Gi"},"requests":{"cpu":"3","memory":"1Gi"}}`,
	} {
		made := newWorld(t).must(creation(podKind, tree{"name": "a"}, tree{"spec": fromYAML(t, spec)}))
		expect(t, spec, string(jsontree.Canonical(jsontree.At(made, "spec", "resources"))), want)
	}
}

// TestStatusAsItIsStored: amounts are rounded up, and what is behind a gate is dropped.
func TestStatusAsItIsStored(t *testing.T) {
	w := newWorld(t)
	w.must(creation(podKind, tree{"name": "a"}, nil))
	pod := w.must(ofStatus(patching(podKind, "a", types.MergePatchType, `{"status": {"resources": {"limits": {"cpu": "0.0001"}},
		"containerStatuses": [{"name": "c", "image": "c:1", "imageID": "", "ready": true, "restartCount": 0, "allocatedResources": {"cpu": "0.0001"}}],
		"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "c", "resources": {"cpu": "1"}}]}}`)))
	expect(t, "the limits", jsontree.At(pod, "status", "resources", "limits", "cpu"), "1m")
	expect(t, "what a container was given", jsontree.Without(jsontree.ListAt(pod, "status", "containerStatuses")[0])["allocatedResources"], tree{"cpu": "1m"})
	expect(t, "claims behind a gate", jsontree.At(pod, "status", "nodeAllocatableResourceClaimStatuses"), nil)
	claim := podKind.GroupVersion().WithKind("PersistentVolumeClaim")
	w.must(creation(claim, tree{"name": "a"}, tree{"spec": fromYAML(t, "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")}))
	claimed := w.must(ofStatus(patching(claim, "a", types.MergePatchType, `{"status": {"capacity": {"storage": "0.0001"}}}`)))
	expect(t, "the capacity", jsontree.At(claimed, "status", "capacity", "storage"), "1m")
}

// TestManagersOfWhatWasSent: who sends an empty list, or one of two fields that say the same,
// manages what the server makes of it.
func TestManagersOfWhatWasSent(t *testing.T) {
	w := newWorld(t, ManagedFields())
	role := schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}
	made := w.must(creation(role, tree{"name": "a"}, tree{"rules": []any{}}))
	expect(t, "the rules", made.Object["rules"], nil)
	expect(t, "who manages none", made.GetManagedFields()[0].FieldsV1, tree{"f:rules": tree{}})
	w.must(creation(podKind, tree{"name": "a"}, nil))
	pod := w.must(ofStatus(patching(podKind, "a", types.MergePatchType, `{"status": {"podIP": "10.1.2.3"}}`)))
	expect(t, "who manages an address", pod.GetManagedFields()[1].FieldsV1,
		tree{"f:status": tree{"f:podIP": tree{}, "f:podIPs": tree{".": tree{}, `k:{"ip":"10.1.2.3"}`: tree{".": tree{}, "f:ip": tree{}}}}})
}

// TestGenerationsOfWhatIsNotKept: some kinds count a generation for what a server does not store.
func TestGenerationsOfWhatIsNotKept(t *testing.T) {
	const slices, networks, hooks = "discovery.k8s.io", "networking.k8s.io", "admissionregistration.k8s.io"
	for _, test := range []struct{ group, kind, object, patch string }{
		{slices, "EndpointSlice", "addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}], ports: []", `{"endpoints": [{"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}]}`},
		{networks, "NetworkPolicy", "spec: {podSelector: {}}", `{"spec": {"egress": []}}`},
		{hooks, "MutatingWebhookConfiguration", "webhooks: []", `{"webhooks": []}`},
	} {
		w := newWorld(t)
		kind := schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}
		made := w.must(creation(kind, tree{"name": "a"}, fromYAML(t, test.object)))
		changed := w.must(patching(kind, "a", types.MergePatchType, test.patch))
		expect(t, "the generation of a "+test.kind, changed.GetGeneration(), 2)
		expect(t, "what is stored of a "+test.kind, jsontree.Without(changed.Object, "metadata"), jsontree.Without(made.Object, "metadata"))
		expect(t, "the generation without a change", w.must(patching(kind, "a", types.MergePatchType, `{"metadata": {"annotations": {"a": "b"}}}`)).GetGeneration(), 2)
	}
}

// TestWhoAsksForCertificates: a server says itself who that is, and here it is nobody in particular.
func TestWhoAsksForCertificates(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}
	asked := tree{"request": pemOfRequest(t), "signerName": "example.com/s", "usages": []any{"client auth"}}
	claimed := with(maps.Clone(asked), fromYAML(t, "username: somebody, groups: [g], uid: u, extra: {a: [b]}"))
	expect(t, "what is kept", newWorld(t).must(creation(kind, tree{"name": "a"}, tree{"spec": claimed})).Object["spec"], asked)
}

// uncheckedOf are the fields of an object in the world that nobody checks.
func (w *world) uncheckedOf(t *testing.T, object *unstructured.Unstructured) []string {
	t.Helper()
	for _, content := range w.objects {
		if o, ok := content.(*storage.Object); ok && o.Meta().GetUID() == object.GetUID() && o.Meta().GetUID() != "" {
			fields, remedy := o.Unchecked()
			if remedy == "" {
				t.Error("nobody says what can be done")
			}
			return fields
		}
	}
	t.Fatalf("%s is not there", object.GetName())
	return nil
}

// TestUncheckedFields: what is set and not checked is told of the object that has it.
func TestUncheckedFields(t *testing.T) {
	w := newWorld(t)
	pod := tree{"containers": []any{tree{"name": "main", "image": "img", "ports": []any{tree{"containerPort": 80}}}}}
	template := tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": with(pod, tree{"resources": tree{"claims": []any{}}})}
	deployment := w.must(creation(deploymentKind, tree{"name": "a"}, tree{"spec": tree{"selector": tree{"matchLabels": tree{"x": "1"}}, "template": template}}))
	expect(t, "of a Deployment whose Pods share no claims", w.uncheckedOf(t, deployment), nil)
	node := w.must(creation(podKind.GroupVersion().WithKind("Node"), tree{"name": "n"}, tree{"status": tree{"addresses": []any{tree{"type": "Hostname", "address": "n"}}}}))
	expect(t, "of a Node with an address", w.uncheckedOf(t, node), []string{"status.addresses"})
	flow := w.must(creation(schema.GroupVersionKind{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "PriorityLevelConfiguration"},
		tree{"name": "b"}, tree{"spec": tree{"type": "Exempt"}}))
	expect(t, "of a kind that was not held against a real server", w.uncheckedOf(t, flow)[0], "spec")
	expect(t, "of a custom resource", w.uncheckedOf(t, w.widget("c", nil)), nil)
}

// TestSimpleObjectsAreChecked: what nobody can avoid, because the server sets it or every controller does, is not told
// to be unchecked.
func TestSimpleObjectsAreChecked(t *testing.T) {
	const conditions = `"conditions": [{"type": "T", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2000-01-01T00:00:00Z"}]`
	for _, test := range []struct{ apiVersion, kind, fields, status string }{
		{"v1", "ConfigMap", "data: {a: b}, binaryData: {c: aGk=}", ""},
		{"v1", "Secret", "stringData: {a: b}", ""},
		{"v1", "ServiceAccount", "secrets: [{name: s}], imagePullSecrets: [{name: s}]", ""},
		{"v1", "Namespace", "", `"phase": "Active", ` + conditions},
		{"v1", "Service", "spec: {type: LoadBalancer, selector: {app: x}, ports: [{name: http, port: 80, targetPort: 8080}]}", `"loadBalancer": {"ingress": [{"ip": "10.1.2.3"}]}, ` + conditions},
		{"v1", "PersistentVolumeClaim", "spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}",
			`"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}`},
		{"v1", "Pod", "spec: {serviceAccountName: s, nodeName: node, containers: [{name: c, image: i, command: [a], args: [b], env: [{name: A, value: b}], " +
			"resources: {requests: {cpu: 1, memory: 1Gi}}, ports: [{containerPort: 80}], readinessProbe: {httpGet: {port: 80}}, volumeMounts: [{name: v, mountPath: /v}]}], " +
			"volumes: [{name: v, configMap: {name: c}}]}",
			`"phase": "Running", "podIP": "10.1.2.3", "hostIP": "10.1.2.4", "startTime": "2000-01-01T00:00:00Z", "conditions": [{"type": "Ready", "status": "True"}],
			"containerStatuses": [{"name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2000-01-01T00:00:00Z"}}}]`},
		{"apps/v1", "Deployment", "spec: {replicas: 2, strategy: {type: Recreate}}", `"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 2, ` + conditions},
		{"batch/v1", "Job", "spec: {completions: 1, parallelism: 1, backoffLimit: 1, ttlSecondsAfterFinished: 1}", `"active": 1, "ready": 1, "startTime": "2000-01-01T00:00:00Z"`},
	} {
		w := newWorld(t)
		kind := schema.FromAPIVersionAndKind(test.apiVersion, test.kind)
		at := func(r *Request) *Request {
			if test.kind == "Namespace" {
				r.Namespace = ""
			}
			return r
		}
		made := w.must(at(creation(kind, tree{"name": "a"}, fromYAML(t, test.fields))))
		expect(t, "of a new "+test.kind, w.uncheckedOf(t, made), nil)
		if test.status != "" {
			made = w.must(at(ofStatus(patching(kind, "a", types.MergePatchType, `{"status": {`+test.status+`}}`))))
			expect(t, "of the status of a "+test.kind, w.uncheckedOf(t, made), nil)
		}
	}
}

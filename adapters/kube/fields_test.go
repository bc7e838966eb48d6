package kube

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
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
	expect(t, "what is kept of the strategy", at(set, "spec", "updateStrategy", "rollingUpdate"), any(tree{"partition": int64(1)}))
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
		kept, err := json.Marshal(without(at(made, "spec"), "accessModes", "resources", "volumeMode"))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, source, string(kept), want)
	}
}

// TestUncheckedFields: what is set and not checked is told of the object that has it.
func TestUncheckedFields(t *testing.T) {
	w := newWorld(t)
	unchecked := func(object *unstructured.Unstructured) []string {
		for _, content := range w.objects {
			if o, ok := content.(*Object); ok && o.meta().GetUID() == object.GetUID() && o.meta().GetUID() != "" {
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
	pod := tree{"containers": []any{tree{"name": "main", "image": "img", "ports": []any{tree{"containerPort": 80}}}}}
	expect(t, "of a Pod", unchecked(w.must(creation(podKind, tree{"name": "a"}, tree{"spec": pod}))), nil)
	template := tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": with(pod, tree{"runtimeClassName": "a"})}
	deployment := w.must(creation(deploymentKind, tree{"name": "a"}, tree{"spec": tree{"selector": tree{"matchLabels": tree{"x": "1"}}, "template": template}}))
	expect(t, "of a Deployment whose Pods have a RuntimeClass", unchecked(deployment), []string{"spec.template.spec.runtimeClassName"})
	flow := w.must(creation(schema.GroupVersionKind{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "PriorityLevelConfiguration"},
		tree{"name": "b"}, tree{"spec": tree{"type": "Exempt"}}))
	expect(t, "of a kind that was not held against a real server", unchecked(flow)[0], "spec")
	expect(t, "of a custom resource", unchecked(w.widget("c", nil)), nil)
}

package kube

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// podDefaults are those of any specification of Pods, with one container.
func podDefaults(container tree) tree {
	container["imagePullPolicy"] = "IfNotPresent"
	container["resources"] = tree{}
	container["terminationMessagePath"] = "/dev/termination-log"
	container["terminationMessagePolicy"] = "File"
	return tree{
		"containers": []any{container}, "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
		"securityContext": tree{}, "terminationGracePeriodSeconds": 30,
	}
}

func with(fields tree, more tree) tree {
	for name, value := range more {
		fields[name] = value
	}
	return fields
}

func TestDefaults(t *testing.T) {
	app := func() tree { return tree{"name": "app", "image": "app:1"} }
	template := func() tree {
		return tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": tree{"containers": []any{app()}}}
	}
	completed := tree{"metadata": tree{"labels": tree{"x": "1"}}, "spec": podDefaults(app())}
	selector := tree{"matchLabels": tree{"x": "1"}}
	for _, test := range []struct {
		kind  schema.GroupVersionKind
		given tree
		want  tree
	}{
		{
			deploymentKind,
			tree{"spec": tree{"selector": selector, "template": template()}},
			tree{"spec": tree{
				"selector": selector, "template": completed, "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
				"strategy": tree{"type": "RollingUpdate", "rollingUpdate": tree{"maxSurge": "25%", "maxUnavailable": "25%"}},
			}, "status": tree{}},
		},
		{
			deploymentKind,
			tree{"spec": tree{"selector": selector, "template": template(), "replicas": 0, "strategy": tree{"type": "Recreate"}}},
			tree{"spec": tree{
				"selector": selector, "template": completed, "replicas": 0, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
				"strategy": tree{"type": "Recreate"},
			}, "status": tree{}},
		},
		{
			appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
			tree{"spec": tree{"selector": selector, "template": template(), "volumeClaimTemplates": []any{with(claim(), tree{"metadata": tree{"name": "v"}})}}},
			tree{"spec": tree{
				"selector": selector, "template": completed, "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
				"updateStrategy":                       tree{"type": "RollingUpdate", "rollingUpdate": tree{"partition": 0}},
				"persistentVolumeClaimRetentionPolicy": tree{"whenDeleted": "Retain", "whenScaled": "Retain"}, "serviceName": "",
				"volumeClaimTemplates": []any{tree{
					"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": tree{"name": "v"},
					"spec": with(claim()["spec"].(tree), tree{"volumeMode": "Filesystem"}), "status": tree{"phase": "Pending"},
				}},
			}, "status": tree{"replicas": 0, "availableReplicas": 0}},
		},
		{
			appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
			tree{"spec": tree{"selector": selector, "template": template()}},
			tree{"spec": tree{
				"selector": selector, "template": completed, "revisionHistoryLimit": 10,
				"updateStrategy": tree{"type": "RollingUpdate", "rollingUpdate": tree{"maxSurge": 0, "maxUnavailable": 1}},
			}, "status": tree{"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0}},
		},
		{
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
			tree{"spec": tree{"selector": selector, "template": template()}},
			tree{"spec": tree{"selector": selector, "template": completed, "replicas": 1}, "status": tree{"replicas": 0}},
		},
		{
			corev1.SchemeGroupVersion.WithKind("Secret"),
			tree{"stringData": tree{"k": "v"}},
			tree{"type": "Opaque", "data": tree{"k": "dg=="}},
		},
		{
			corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
			claim(),
			tree{"spec": with(claim()["spec"].(tree), tree{"volumeMode": "Filesystem"}), "status": tree{"phase": "Pending"}},
		},
		{
			networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
			tree{"spec": tree{"egress": []any{tree{"ports": []any{tree{"port": 53}}}}}},
			tree{"spec": tree{
				"podSelector": tree{}, "policyTypes": []any{"Ingress", "Egress"},
				"egress": []any{tree{"ports": []any{tree{"port": 53, "protocol": "TCP"}}}},
			}},
		},
		{
			rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
			tree{"roleRef": tree{"kind": "Role", "name": "r"}, "subjects": []any{tree{"kind": "User", "name": "u"}, tree{"kind": "ServiceAccount", "name": "s"}}},
			tree{
				"roleRef": tree{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
				"subjects": []any{
					tree{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "u"}, tree{"kind": "ServiceAccount", "name": "s"},
				},
			},
		},
		{
			discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
			tree{"addressType": "IPv4", "ports": []any{tree{"port": 80}}},
			tree{"addressType": "IPv4", "endpoints": nil, "ports": []any{tree{"name": "", "port": 80, "protocol": "TCP"}}},
		},
		{
			autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
			tree{"spec": tree{"maxReplicas": 3, "scaleTargetRef": tree{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}},
			tree{"spec": tree{
				"maxReplicas": 3, "minReplicas": 1, "scaleTargetRef": tree{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
				"metrics": []any{tree{"type": "Resource", "resource": tree{"name": "cpu", "target": tree{"type": "Utilization", "averageUtilization": 80}}}},
			}, "status": tree{"currentMetrics": nil, "desiredReplicas": 0}},
		},
	} {
		t.Run(test.kind.Kind, func(t *testing.T) {
			w := newWorld(t)
			w.must(creation(test.kind, tree{"name": "a"}, test.given))
			got := w.must(request(Get, test.kind, "a"))
			for _, name := range []string{"apiVersion", "kind", "metadata"} {
				delete(got.Object, name)
			}
			expect(t, test.kind.Kind, got.Object, test.want)
			// The first write of a claim is always one.
			first := 0
			if test.kind == claimKind {
				first = 1
			}
			for _, want := range []int{first, 0} {
				if _, writes := w.do(patchOfNothing(test.kind)); writes != want {
					t.Errorf("a patch that changes nothing has %d writes, want %d", writes, want)
				}
			}
		})
	}
}

func TestNewPod(t *testing.T) {
	w := newWorld(t)
	pod := w.must(creation(podKind, tree{"name": "p"}, tree{"spec": tree{"containers": []any{tree{"name": "app", "image": "app:1"}}}}))
	toleration := func(taint string) tree {
		return tree{"key": "node.kubernetes.io/" + taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
	}
	expect(t, "spec", pod.Object["spec"], with(podDefaults(tree{"name": "app", "image": "app:1"}), tree{
		"enableServiceLinks": true, "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
		"tolerations": []any{toleration("not-ready"), toleration("unreachable")},
	}))
	expect(t, "status", pod.Object["status"], tree{"phase": "Pending", "qosClass": "BestEffort"})
}

func TestPodPriority(t *testing.T) {
	w := newWorld(t)
	class := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
	low := creation(class, tree{"name": "low"}, tree{"value": 7})
	low.Namespace = ""
	w.must(low)
	named := func(name, class string) *Request {
		return creation(podKind, tree{"name": name}, tree{"spec": tree{"priorityClassName": class}})
	}
	expect(t, "priority", jsontree.At(w.must(named("a", "low")), "spec", "priority"), 7)
	expect(t, "priority", jsontree.At(w.must(named("b", "system-node-critical")), "spec", "priority"), 2_000_001_000)
	w.refuse(named("c", "high"), 403, `pods "c" is forbidden: no PriorityClass with name high was found`)
	w.refuse(creation(podKind, tree{"name": "d"}, tree{"spec": tree{"priority": 5}}), 403,
		`pods "d" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`)
	usual := creation(class, tree{"name": "usual"}, tree{"value": 3, "globalDefault": true})
	usual.Namespace = ""
	w.must(usual)
	pod := w.must(named("e", ""))
	expect(t, "priority", jsontree.At(pod, "spec", "priority"), 3)
	expect(t, "class", jsontree.At(pod, "spec", "priorityClassName"), "usual")
}

func TestQualityOfService(t *testing.T) {
	container := func(requests, limits tree) tree {
		return tree{"name": "c", "image": "c:1", "resources": tree{"requests": requests, "limits": limits}}
	}
	both := func(cpu, memory string) tree { return tree{"cpu": cpu, "memory": memory} }
	for _, test := range []struct {
		want       string
		containers []any
	}{
		{"BestEffort", []any{container(nil, nil)}},
		{"BestEffort", []any{container(tree{"cpu": "0"}, nil)}},
		{"Burstable", []any{container(tree{"cpu": "1"}, nil)}},
		{"Burstable", []any{container(nil, tree{"cpu": "1"})}},
		{"Guaranteed", []any{container(nil, both("1", "1Gi"))}},
		{"Guaranteed", []any{container(both("1000m", "1Gi"), both("1", "1Gi"))}},
		{"Burstable", []any{container(nil, both("1", "1Gi")), tree{"name": "d", "image": "d:1"}}},
		{"Burstable", []any{container(both("1", "1Gi"), both("2", "1Gi"))}},
	} {
		w := newWorld(t)
		pod := w.must(creation(podKind, tree{"name": "p"}, tree{"spec": tree{"containers": test.containers}}))
		expect(t, "class", jsontree.At(pod, "status", "qosClass"), test.want)
	}
}

func TestNewJob(t *testing.T) {
	w := newWorld(t)
	job := w.must(creation(jobKind, tree{"name": "j"}, tree{"spec": tree{"template": tree{"metadata": tree{"labels": tree{"mine": "1"}}}}}))
	uid := string(job.GetUID())
	labels := tree{
		"mine": "1", "job-name": "j", "batch.kubernetes.io/job-name": "j",
		"controller-uid": uid, "batch.kubernetes.io/controller-uid": uid,
	}
	expect(t, "labels of the template", jsontree.At(job, "spec", "template", "metadata", "labels"), labels)
	expect(t, "labels", job.GetLabels(), labels)
	expect(t, "selector", jsontree.At(job, "spec", "selector"), tree{"matchLabels": tree{"batch.kubernetes.io/controller-uid": uid}})
	for name, want := range map[string]any{
		"parallelism": 1, "completions": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": false,
		"manualSelector": false, "podReplacementPolicy": "TerminatingOrFailed",
	} {
		expect(t, name, jsontree.At(job, "spec", name), want)
	}
}

func TestNamespaceDefaults(t *testing.T) {
	w := newWorld(t)
	kind := corev1.SchemeGroupVersion.WithKind("Namespace")
	r := creation(kind, tree{"name": "n"}, nil)
	r.Namespace = ""
	n := w.must(r)
	expect(t, "labels", n.GetLabels(), tree{"kubernetes.io/metadata.name": "n"})
	expect(t, "spec", n.Object["spec"], tree{"finalizers": []any{"kubernetes"}})
	expect(t, "status", n.Object["status"], tree{"phase": "Active"})
	generated := creation(kind, tree{"generateName": "g-"}, nil)
	generated.Namespace = ""
	g := w.must(generated)
	expect(t, "labels", g.GetLabels(), tree{"kubernetes.io/metadata.name": g.GetName()})
}

// patchOfNothing patches the object named a with nothing.
func patchOfNothing(kind schema.GroupVersionKind) *Request {
	return patching(kind, "a", "application/merge-patch+json", `{}`)
}

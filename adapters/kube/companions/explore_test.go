package companions_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/orrery-dev/orrery"
	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/properties"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func labels() map[string]string { return map[string]string{"app": "a"} }

func selector() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: labels()} }

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels()},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}},
	}
}

func replicaSet(replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: named("r"), Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector(), Template: template()}}
}

func statefulSet(replicas int32, change func(*appsv1.StatefulSetSpec)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: named("s"), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector(), ServiceName: "s", Template: template(),
	}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func job(change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{Template: template(), BackoffLimit: ptr.To[int32](1)}}
	j.Spec.Template.Labels = nil
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	change(&j.Spec)
	return j
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

// explore checks a system of companions, besides a controller that does nothing.
func explore(t *testing.T, with []companions.Companion, objects []client.Object, actions ...controllerruntime.Action) core.Report {
	t.Helper()
	system, err := controllerruntime.New(scheme.Scheme,
		controllerruntime.ObjectValues(objects...),
		controllerruntime.Companions(with...),
		controllerruntime.Reconciler("idle", func(client.Client) reconcile.Reconciler {
			return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
		}, controllerruntime.For(&corev1.ConfigMap{})),
		controllerruntime.Scenario(actions...),
		controllerruntime.GarbageCollection(),
		controllerruntime.VolumeProtection(),
		controllerruntime.Properties(properties.Convergent()...),
	)
	if err != nil {
		t.Fatal(err)
	}
	result, err := orrery.Run(t.Context(), system, orrery.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// summaries say of each outcome which Pods there are, in which phase and whether they are ready, and which claims, with
// their owners.
func summaries(report core.Report) []string {
	var all []string
	for _, outcome := range report.OutcomeList {
		text := ""
		for _, object := range outcome.Objects {
			o := &unstructured.Unstructured{Object: object.Fields.(map[string]any)}
			phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
			switch o.GetKind() {
			case "Job":
				conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
				for _, c := range conditions {
					text += fmt.Sprint(c.(map[string]any)["type"], "; ")
				}
			case "Pod":
				ready := ""
				conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
				for _, c := range conditions {
					if c := c.(map[string]any); c["type"] == "Ready" && c["status"] == "True" {
						ready = ", ready"
					}
				}
				statuses, _, _ := unstructured.NestedSlice(o.Object, "status", "containerStatuses")
				for _, status := range statuses {
					if restarts := status.(map[string]any)["restartCount"]; restarts != int64(0) {
						ready += fmt.Sprintf(", restarted %v", restarts)
					}
				}
				if reason, _, _ := unstructured.NestedString(o.Object, "status", "reason"); reason != "" {
					phase += " for " + reason
				}
				text += fmt.Sprintf("%s %s%s; ", o.GetName(), phase, ready)
			case "CronJob":
				active, _, _ := unstructured.NestedSlice(o.Object, "status", "active")
				text += fmt.Sprintf("%d active; ", len(active))
			case "EndpointSlice":
				endpoints, _, _ := unstructured.NestedSlice(o.Object, "endpoints")
				text += fmt.Sprintf("%d endpoints", len(endpoints))
				for _, e := range endpoints {
					conditions := e.(map[string]any)["conditions"].(map[string]any)
					text += fmt.Sprintf(", ready %v", conditions["ready"])
				}
				text += "; "
			case "Endpoints":
				subsets, _, _ := unstructured.NestedSlice(o.Object, "subsets")
				text += fmt.Sprintf("%d subsets; ", len(subsets))
			case "PersistentVolumeClaim":
				owner := ""
				for _, reference := range o.GetOwnerReferences() {
					owner += " of " + reference.Kind
				}
				text += fmt.Sprintf("claim %s %s%s; ", o.GetName(), phase, owner)
			}
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// TestConvergent checks that companions come to rest, always at the same, and how many states that takes.
func TestConvergent(t *testing.T) {
	sets := []companions.Companion{companions.ReplicaSets(), companions.Pods()}
	stateful := []companions.Companion{companions.StatefulSets(), companions.Pods(), companions.VolumeClaims()}
	gone := []companions.Companion{companions.StatefulSets(), companions.VolumeClaims(), companions.Pods(companions.OnNode(func(*corev1.Pod) string { return "" }))}
	// What scaling does to claims is in the random scenarios of package builtin.
	withClaims := func(whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) {
			s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*claim("data")}
			s.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenScaled: whenScaled, WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			}
		}
	}
	waiting := &corev1.Pod{ObjectMeta: named("p"), Spec: template().Spec}
	waiting.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
	}}}
	gated := &corev1.Pod{ObjectMeta: named("p"), Spec: template().Spec}
	gated.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	once := &corev1.Pod{ObjectMeta: named("p"), Spec: template().Spec}
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	worked := []companions.Companion{companions.Jobs(), companions.Pods()}
	indexed := func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](2), ptr.To[int32](2)
	}
	serving := []companions.Companion{companions.StatefulSets(), companions.Pods(), companions.EndpointSlices(), companions.Endpoints()}
	service := &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Selector: labels(), ClusterIP: corev1.ClusterIPNone}}
	daemons := []companions.Companion{companions.DaemonSets(), companions.Pods()}
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	daemonSet := &appsv1.DaemonSet{ObjectMeta: named("d"), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: template()}}
	// The server gives a Node that is created the taint of one that is not ready.
	join := controllerruntime.Action{Name: "c joins", Do: func(ctx context.Context, c client.Client) error {
		joined := node("c")
		if err := c.Create(ctx, joined); err != nil {
			return err
		}
		joined.Spec.Taints = nil
		return c.Update(ctx, joined)
	}}
	drain := controllerruntime.Change("taint b", node("b"), func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute}}
	})
	cronJob := func(policy batchv1.ConcurrencyPolicy) []client.Object {
		c := &batchv1.CronJob{ObjectMeta: named("c"), Spec: batchv1.CronJobSpec{Schedule: "@daily", ConcurrencyPolicy: policy, SuccessfulJobsHistoryLimit: ptr.To[int32](1)}}
		c.Spec.JobTemplate.Spec = job(func(*batchv1.JobSpec) {}).Spec
		return []client.Object{c}
	}
	runs := []companions.Companion{companions.CronJobs(2), companions.Jobs(), companions.Pods()}
	failing := companions.Pods(companions.Exits(func(*corev1.Pod) int32 { return 1 }))
	overrunning := func(overruns bool) []companions.Companion {
		return []companions.Companion{companions.Pods(companions.Overruns(func(*corev1.Pod) bool { return overruns }))}
	}
	timed := &corev1.Pod{ObjectMeta: named("p"), Spec: once.Spec}
	timed.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
	lasting := companions.Pods(companions.Lasts(func(pod *corev1.Pod) bool { return pod.Spec.RestartPolicy == corev1.RestartPolicyNever }))
	for _, test := range []struct {
		name     string
		with     []companions.Companion
		objects  []client.Object
		actions  []controllerruntime.Action
		outcomes []string
		states   int
	}{
		{"a ReplicaSet", sets, []client.Object{replicaSet(2)}, nil, []string{"r-zw001 Running, ready; r-zw002 Running, ready; "}, 31},
		{
			"a ReplicaSet that is scaled", sets, []client.Object{replicaSet(2)}, []controllerruntime.Action{controllerruntime.Scale(replicaSet(2), 1)},
			[]string{"r-zw001 Running, ready; ", "r-zw001 Running, ready; r-zw002 Running, ready; "}, 81,
		},
		{"a StatefulSet", stateful, []client.Object{statefulSet(2, nil)}, nil, []string{"s-0 Running, ready; s-1 Running, ready; "}, 18},
		{
			"a StatefulSet in parallel", stateful, []client.Object{statefulSet(2, func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement })}, nil,
			[]string{"s-0 Running, ready; s-1 Running, ready; "}, 32,
		},
		{
			"claims that go with their set", stateful, []client.Object{statefulSet(1, withClaims(appsv1.RetainPersistentVolumeClaimRetentionPolicyType))},
			[]controllerruntime.Action{controllerruntime.Delete(statefulSet(1, nil))},
			[]string{"", "claim data-s-0 Bound of StatefulSet; s-0 Running, ready; "}, 215,
		},
		{
			"Pods on no node", gone, []client.Object{statefulSet(1, nil)}, []controllerruntime.Action{controllerruntime.Delete(statefulSet(1, nil))},
			[]string{"", "s-0 Running, ready; "}, 43,
		},
		{
			"a Deployment", []companions.Companion{companions.Deployments(), companions.ReplicaSets(), companions.Pods()},
			[]client.Object{&appsv1.Deployment{ObjectMeta: named("d"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1), Selector: selector(), Template: template()}}}, nil,
			[]string{"d-*-zw001 Running, ready; "}, 38,
		},
		{
			"a Service", serving, []client.Object{service, statefulSet(1, nil)}, []controllerruntime.Action{controllerruntime.Scale(statefulSet(1, nil), 0)},
			[]string{"0 endpoints; 0 subsets; ", "1 endpoints, ready true; 1 subsets; s-0 Running, ready; "}, 343,
		},
		{
			"a Service that is deleted", serving, []client.Object{service, statefulSet(0, nil)}, []controllerruntime.Action{controllerruntime.Delete(service)},
			[]string{"", "0 endpoints; 0 subsets; "}, 64,
		},
		{
			"a DaemonSet", daemons, []client.Object{daemonSet, node("a"), node("b")}, []controllerruntime.Action{join},
			[]string{"d-zf001 Running, ready; d-zf002 Running, ready; ", "d-zf001 Running, ready; d-zf002 Running, ready; d-zf003 Running, ready; "}, 172,
		},
		{
			"a DaemonSet that leaves a Node", daemons, []client.Object{daemonSet, node("a"), node("b")}, []controllerruntime.Action{drain},
			[]string{"d-zf001 Running, ready; ", "d-zf001 Running, ready; d-zf002 Running, ready; "}, 102,
		},
		{"a Job", worked, []client.Object{job(func(*batchv1.JobSpec) {})}, nil, []string{"SuccessCriteriaMet; Complete; j-bq001 Succeeded; "}, 22},
		{"a Job with indexes", worked, []client.Object{job(indexed)}, nil, []string{"SuccessCriteriaMet; Complete; j-0-kn001 Succeeded; j-1-wb001 Succeeded; "}, 154},
		{
			"a Job that fails", []companions.Companion{companions.Jobs(), failing}, []client.Object{job(func(*batchv1.JobSpec) {})}, nil,
			[]string{"FailureTarget; Failed; j-bq001 Failed; j-bq002 Failed; "}, 41,
		},
		{"a Job whose Pods last", []companions.Companion{companions.Jobs(), lasting}, []client.Object{job(func(*batchv1.JobSpec) {})}, nil, []string{"j-bq001 Running, ready; "}, 10},
		{
			"a Job that is suspended", worked, []client.Object{job(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })},
			nil, []string{"Suspended; "}, 3,
		},
		{
			"a Job that expires", []companions.Companion{companions.Jobs(), companions.JobTTL(), companions.Pods()},
			[]client.Object{job(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](10) })}, nil, []string{""}, 29,
		},
		{"a CronJob", runs[:1], cronJob(batchv1.AllowConcurrent), nil, []string{"2 active; "}, 22},
		{"a CronJob that replaces", runs[:1], cronJob(batchv1.ReplaceConcurrent), nil, []string{"1 active; "}, 38},
		{"a CronJob that waits", runs[:1], cronJob(batchv1.ForbidConcurrent), nil, []string{"1 active; "}, 6},
		{
			"a CronJob with Jobs", runs, cronJob(batchv1.ForbidConcurrent), nil,
			[]string{"0 active; SuccessCriteriaMet; Complete; c-15778082-bq001 Succeeded; "}, 15242, // it compares times, so that no order is left out; 79 else
		},
		{"a claim", stateful, []client.Object{waiting.DeepCopy(), claim("c")}, nil, []string{"claim c Bound; p Running, ready; "}, 6},
		{"no claim", stateful, []client.Object{waiting.DeepCopy()}, nil, []string{"p Pending; "}, 2},
		{"a gate", sets, []client.Object{gated.DeepCopy()}, nil, []string{"p Running; "}, 3},
		{"a Pod that ends", sets, []client.Object{once.DeepCopy()}, nil, []string{"p Succeeded; "}, 4},
		{"a Pod that fails", []companions.Companion{failing}, []client.Object{once.DeepCopy()}, nil, []string{"p Failed; "}, 4},
		{"a Pod in time", overrunning(false), []client.Object{timed.DeepCopy()}, nil, []string{"p Succeeded; "}, 4},
		{"a Pod whose time is over", overrunning(true), []client.Object{timed.DeepCopy()}, nil, []string{"p Failed for DeadlineExceeded; "}, 4},
		{"a Pod without a deadline", overrunning(true), []client.Object{once.DeepCopy()}, nil, []string{"p Succeeded; "}, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			hashes := regexp.MustCompile(`d-[0-9a-z]{5,10}-`)
			report := explore(t, test.with, test.objects, test.actions...)
			if report.Verdict != core.Holds || report.States != test.states {
				t.Errorf("%s with %d states, want %d: %v", report.Verdict, report.States, test.states, report.Reasons)
				for _, finding := range report.Findings {
					t.Errorf("%s: %s", finding.Property, finding.Summary)
				}
			}
			// The hash of a template depends on the version of its type.
			got := summaries(report)
			for i := range got {
				got[i] = hashes.ReplaceAllString(got[i], "d-*-")
			}
			if !slices.Equal(got, test.outcomes) {
				t.Errorf("outcomes %q, want %q", got, test.outcomes)
			}
		})
	}
}

// TestRefused checks that a companion says what to change if it cannot be had.
func TestRefused(t *testing.T) {
	empty, err := kube.NewServer(runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		companion companions.Companion
		says      string
	}{
		{companions.CronJobs(-1), "not negative"},
		{companions.CronJobs(1), "needs the kind CronJob: add the Go types of batch/v1"},
		{companions.EndpointSlices(), "needs the kind Service: add the Go types of v1"},
	} {
		if _, err := test.companion(empty); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("got %v, want an error that says %q", err, test.says)
		}
	}
}

// TestLeftOut checks that no check holds with a field that a companion leaves out.
func TestLeftOut(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: named("d"), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: template()}}
	deployment.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: "1"}
	cron := &batchv1.CronJob{ObjectMeta: named("c"), Spec: batchv1.CronJobSpec{
		Schedule: "* * * * *", StartingDeadlineSeconds: ptr.To[int64](1), JobTemplate: batchv1.JobTemplateSpec{Spec: job(func(*batchv1.JobSpec) {}).Spec},
	}}
	pod := &corev1.Pod{ObjectMeta: named("p"), Spec: template().Spec}
	pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
	service := &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{
		Selector: labels(), Ports: []corev1.ServicePort{{Port: 80}}, TrafficDistribution: ptr.To(corev1.ServiceTrafficDistributionPreferSameZone),
	}}
	near := &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Selector: labels(), Ports: []corev1.ServicePort{{Port: 80}}}}
	near.Annotations = map[string]string{corev1.AnnotationTopologyMode: "Auto"}
	claiming := func(change func(*corev1.PersistentVolumeClaimSpec)) *corev1.PersistentVolumeClaim {
		c := claim("c")
		change(&c.Spec)
		return c
	}
	for _, test := range []struct {
		companion companions.Companion
		object    client.Object
		says      string
	}{
		{companions.Jobs(), job(func(j *batchv1.JobSpec) { j.ActiveDeadlineSeconds = ptr.To[int64](1) }), "spec.activeDeadlineSeconds of Job default/j"},
		{companions.CronJobs(1), cron, "spec.startingDeadlineSeconds of CronJob default/c"},
		{companions.Deployments(), deployment, "rollback.to] of Deployment default/d"},
		{companions.VolumeClaims(), claiming(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeName = "v" }), "spec.volumeName of PersistentVolumeClaim default/c"},
		{companions.VolumeClaims(), claiming(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("") }), "spec.storageClassName of"},
		{companions.VolumeClaims(), claiming(func(s *corev1.PersistentVolumeClaimSpec) { s.Selector = selector() }), "spec.selector of"},
		{companions.Pods(), pod, "spec.activeDeadlineSeconds of Pod default/p"},
		{companions.EndpointSlices(), service, "spec.trafficDistribution of Service default/s"},
		{companions.EndpointSlices(), near, "topology-mode] of Service default/s"},
	} {
		report := explore(t, []companions.Companion{test.companion}, []client.Object{test.object})
		if report.Verdict != core.Inconclusive || !strings.Contains(fmt.Sprint(report.Reasons), test.says) {
			t.Errorf("%v %v, want it to be inconclusive and to say %q", report.Verdict, report.Reasons, test.says)
		}
	}
}

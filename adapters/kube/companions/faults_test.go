package companions_test

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube/companions"
	"github.com/orrery-dev/orrery/core"
)

// TestFaults checks what faults of Pods and nodes come to with companions. Each may happen or not.
func TestFaults(t *testing.T) {
	first := companions.Target{Namespace: "default", Labels: labels()}
	second := companions.Target{Namespace: "default", Labels: labels(), Number: 1}
	labelled := job(func(s *batchv1.JobSpec) { s.Template.Labels = labels() })
	again := job(func(s *batchv1.JobSpec) {
		s.Template.Labels = labels()
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		s.BackoffLimit = ptr.To[int32](3) // restarts count
	})
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: named("b"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector(), MinAvailable: ptr.To(intstr.FromInt32(1))},
	}
	failing := func(times int) []controllerruntime.Action {
		return companions.Budget(times, companions.ContainerExits(first, 3))
	}
	evicted := []controllerruntime.Action{companions.PodEvicted(first)}
	lost := []controllerruntime.Action{companions.NodeLost("node")}
	finalized := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: labels(), Finalizers: []string{"example.com/f"}}, Spec: template().Spec}
	for _, test := range []struct {
		name     string
		with     companions.Companion
		objects  []client.Object
		actions  []controllerruntime.Action
		outcomes []string
	}{
		{
			"containers that are started again", companions.StatefulSets(), []client.Object{statefulSet(1, nil)}, failing(2),
			[]string{"s-0 Running, ready, restarted 1; ", "s-0 Running, ready, restarted 2; ", "s-0 Running, ready; "},
		},
		{
			"a Job whose Pods fail", companions.Jobs(), []client.Object{labelled}, failing(2),
			[]string{
				"FailureTarget; Failed; j-bq001 Failed; j-bq002 Failed; ", "SuccessCriteriaMet; Complete; j-bq001 Failed; j-bq002 Succeeded; ",
				"SuccessCriteriaMet; Complete; j-bq001 Succeeded; ",
			},
		},
		{
			"a Job whose containers are started again", companions.Jobs(), []client.Object{again}, failing(1),
			[]string{"SuccessCriteriaMet; Complete; j-bq001 Succeeded, restarted 1; ", "SuccessCriteriaMet; Complete; j-bq001 Succeeded; "},
		},
		{
			"the first of two is evicted", companions.ReplicaSets(), []client.Object{replicaSet(2)}, evicted,
			[]string{"r-zw001 Failed for Evicted; r-zw002 Running, ready; r-zw003 Running, ready; ", "r-zw001 Running, ready; r-zw002 Running, ready; "},
		},
		{
			"the second of two is evicted", companions.ReplicaSets(), []client.Object{replicaSet(2)}, []controllerruntime.Action{companions.PodEvicted(second)},
			[]string{"r-zw001 Running, ready; r-zw002 Failed for Evicted; r-zw003 Running, ready; ", "r-zw001 Running, ready; r-zw002 Running, ready; "},
		},
		{
			"there is no second one", companions.ReplicaSets(), []client.Object{replicaSet(1)}, []controllerruntime.Action{companions.PodEvicted(second)},
			[]string{"r-zw001 Running, ready; "},
		},
		{"a StatefulSet is evicted", companions.StatefulSets(), []client.Object{statefulSet(1, nil)}, evicted, []string{"s-0 Running, ready; "}},
		{"a node is lost", companions.StatefulSets(), []client.Object{statefulSet(1, nil)}, lost, []string{"s-0 Running, ready; "}},
		{"a node is lost with a Pod that somebody waits for", companions.ReplicaSets(), []client.Object{finalized}, lost, []string{"p Failed; ", "p Running, ready; "}},
		{"a node is lost that nothing is on", companions.StatefulSets(), []client.Object{statefulSet(1, nil)}, []controllerruntime.Action{companions.NodeLost("other")}, []string{"s-0 Running, ready; "}},
		{
			"a Pod is drained", companions.ReplicaSets(), []client.Object{finalized}, []controllerruntime.Action{companions.PodDrained(first)},
			[]string{"p Failed; ", "p Running, ready; "},
		},
		{
			"a Pod may not be drained", companions.ReplicaSets(), []client.Object{finalized, budget}, []controllerruntime.Action{companions.PodDrained(first)},
			[]string{"p Running, ready; "},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := explore(t, []companions.Companion{test.with, companions.Pods()}, test.objects, test.actions...)
			if report.Verdict == core.Inconclusive {
				t.Errorf("%s: %v", report.Verdict, report.Reasons)
			}
			for _, finding := range report.Findings {
				t.Errorf("%s: %s", finding.Property, finding.Summary)
			}
			// An outcome may also differ in a status, such as that of a Pod that was made anew.
			if got := slices.Compact(summaries(report)); !slices.Equal(got, test.outcomes) {
				t.Errorf("outcomes %q, want %q", got, test.outcomes)
			}
		})
	}
}

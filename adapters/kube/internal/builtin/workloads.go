package builtin

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
)

// revisionHistory is how many old revisions the kinds of apps keep.
const revisionHistory = 10

func defaultDeployment(d *appsv1.Deployment) {
	spec := &d.Spec
	point(&spec.Replicas, 1)
	point(&spec.RevisionHistoryLimit, revisionHistory)
	point(&spec.ProgressDeadlineSeconds, 600)
	fill(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		point(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		point(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		point(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	defaultPodSpec(&spec.Template.Spec)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	if d.Annotations[appsv1.DeprecatedTemplateGeneration] == "" {
		d.Annotations[appsv1.DeprecatedTemplateGeneration] = "0"
	}
	spec := &d.Spec
	point(&spec.RevisionHistoryLimit, revisionHistory)
	fill(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		point(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		point(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		point(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	defaultPodSpec(&spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	spec := &s.Spec
	point(&spec.Replicas, 1)
	point(&spec.RevisionHistoryLimit, revisionHistory)
	fill(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		point(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil && spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		point(&rolling.Partition, 0)
	}
	point(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	fill(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fill(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	for i := range spec.VolumeClaimTemplates {
		claim := &spec.VolumeClaimTemplates[i]
		claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
		defaultClaim(claim)
	}
	defaultPodSpec(&spec.Template.Spec)
}

func defaultReplicationController(r *corev1.ReplicationController) {
	point(&r.Spec.Replicas, 1)
	if r.Spec.Template == nil {
		return
	}
	if len(r.Spec.Selector) == 0 {
		r.Spec.Selector = r.Spec.Template.Labels
	}
	if len(r.Labels) == 0 {
		r.Labels = r.Spec.Template.Labels
	}
	defaultPodSpec(&r.Spec.Template.Spec)
}

func defaultJob(j *batchv1.Job) {
	defaultJobSpec(&j.Spec)
	if j.Spec.Completions == nil && j.Spec.Parallelism == nil {
		point(&j.Spec.Completions, 1)
	}
	point(&j.Spec.Parallelism, 1)
	switch {
	case j.Spec.BackoffLimitPerIndex != nil:
		point(&j.Spec.BackoffLimit, math.MaxInt32)
	default:
		point(&j.Spec.BackoffLimit, 6)
	}
	point(&j.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	point(&j.Spec.Suspend, false)
	point(&j.Spec.ManualSelector, false)
	switch {
	case j.Spec.PodFailurePolicy != nil:
		point(&j.Spec.PodReplacementPolicy, batchv1.Failed)
	default:
		point(&j.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	}
}

// defaultJobSpec sets the defaults that hold for the Jobs of a CronJob as well.
func defaultJobSpec(spec *batchv1.JobSpec) {
	if spec.PodFailurePolicy != nil {
		for _, rule := range spec.PodFailurePolicy.Rules {
			for i := range rule.OnPodConditions {
				fill(&rule.OnPodConditions[i].Status, corev1.ConditionTrue)
			}
		}
	}
	defaultPodSpec(&spec.Template.Spec)
}

func defaultCronJob(c *batchv1.CronJob) {
	fill(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	point(&c.Spec.Suspend, false)
	point(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	point(&c.Spec.FailedJobsHistoryLimit, 1)
	defaultJobSpec(&c.Spec.JobTemplate.Spec)
}

func defaultAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) {
	point(&a.Spec.MinReplicas, 1)
	if len(a.Spec.Metrics) == 0 {
		utilization := int32(80)
		a.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
			},
		}}
	}
	if a.Spec.Behavior == nil {
		return
	}
	const quarterMinute = 15
	allPods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: quarterMinute}
	fourPods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: quarterMinute}
	point(&a.Spec.Behavior.ScaleUp, autoscalingv2.HPAScalingRules{})
	point(&a.Spec.Behavior.ScaleUp.StabilizationWindowSeconds, 0)
	defaultScaling(a.Spec.Behavior.ScaleUp, fourPods, allPods)
	point(&a.Spec.Behavior.ScaleDown, autoscalingv2.HPAScalingRules{})
	defaultScaling(a.Spec.Behavior.ScaleDown, allPods)
}

// defaultScaling completes the rules for one direction of scaling.
func defaultScaling(rules *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	point(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.Policies == nil {
		rules.Policies = policies
	}
}

// alignSources makes the two fields for what a claim is filled with say the same. The older
// one can name a claim or a snapshot and nothing else. A source in another namespace is not kept, since
// its feature gate is off. What an update finds stays.
func alignSources(object, current *unstructured.Unstructured) {
	if current != nil && (jsontree.At(current, "spec", "dataSource") != nil || jsontree.At(current, "spec", "dataSourceRef") != nil) {
		return
	}
	spec, _ := jsontree.At(object, "spec").(map[string]any)
	source, _ := spec["dataSource"].(map[string]any)
	if source != nil && !isOldSource(source) {
		source = nil
		delete(spec, "dataSource")
	}
	reference, _ := spec["dataSourceRef"].(map[string]any)
	if namespace, _ := reference["namespace"].(string); namespace != "" {
		reference = nil
		delete(spec, "dataSourceRef")
	}
	switch {
	case source != nil && reference == nil:
		spec["dataSourceRef"] = runtime.DeepCopyJSON(source)
	case source == nil && reference != nil:
		spec["dataSource"] = jsontree.Without(runtime.DeepCopyJSON(reference), "namespace")
	}
}

// isOldSource reports whether dataSource could name something before dataSourceRef was there.
func isOldSource(source map[string]any) bool {
	group, _ := source["apiGroup"].(string)
	switch group {
	case "":
		return source["kind"] == string(kinds.Claim)
	case "snapshot.storage.k8s.io":
		return source["kind"] == "VolumeSnapshot"
	}
	return false
}

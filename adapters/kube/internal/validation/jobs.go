package validation

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// The largest numbers in a Job whose Pods are numbered. Of Jobs with more than
// manyCompletions the others may be no larger than a tenth.
const (
	manyCompletions = 100_000
	aTenth          = 10_000
)

const maxManagedBy = 63

func validateJob(j *batchv1.Job) field.ErrorList {
	errs := validateOwnSelector(j)
	errs = append(errs, validateJobSpec(&j.Spec)...)
	if indexed(&j.Spec) && ptr.Deref(j.Spec.Completions, 0) > 0 {
		last := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
		if len(utilvalidation.IsDNS1123Label(last)) > 0 {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+last))
		}
	}
	return errs
}

func indexed(spec *batchv1.JobSpec) bool {
	return ptr.Deref(spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

// validateOwnSelector checks that a Job selects its own Pods and no others, unless the
// user sees to that.
func validateOwnSelector(j *batchv1.Job) field.ErrorList {
	if ptr.Deref(j.Spec.ManualSelector, false) || j.Spec.Selector == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("spec", "template", "metadata", "labels")
	own := OwnPodLabels(j.Name, string(j.UID))
	for _, name := range slices.Sorted(maps.Keys(own)) {
		has, found := j.Spec.Template.Labels[name]
		must := fmt.Sprintf("must be '%s'", own[name])
		switch {
		case !found:
			errs = append(errs, field.Required(path.Key(name), must))
		case has != own[name]:
			errs = append(errs, field.Invalid(path.Key(name), j.Spec.Template.Labels, must))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !selector.Matches(labels.Set(own)) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// OwnPodLabels are the labels that the server gives to the Pods of a Job.
func OwnPodLabels(name, uid string) map[string]string {
	return map[string]string{
		"controller-uid":           uid,
		batchv1.ControllerUidLabel: uid,
		"job-name":                 name,
		batchv1.JobNameLabel:       name,
	}
}

func validateJobSpec(s *batchv1.JobSpec) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateJobWork(s, spec)
	if s.Selector == nil {
		errs = append(errs, field.Required(spec.Child("selector"), ""))
	} else {
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Selector, metav1validation.LabelSelectorValidationOptions{}, spec.Child("selector"))...)
	}
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// validateJobWork checks what a Job is to do, or each Job of a CronJob.
func validateJobWork(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	template := spec.Child("template")
	errs := validateJobCounts(s, spec)
	errs = append(errs, validateCompletionMode(s, spec)...)
	errs = append(errs, validateFailurePolicy(s, spec.Child("podFailurePolicy"))...)
	errs = append(errs, validateSuccessPolicy(s, spec.Child("successPolicy"))...)
	errs = append(errs, validateReplacement(s, spec.Child("podReplacementPolicy"))...)
	return append(errs, validateJobRestarts(s, template.Child("spec", "restartPolicy"))...)
}

func validateJobCounts(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	errs := notNegative(s.Parallelism, spec.Child("parallelism"))
	errs = append(errs, notNegative(s.Completions, spec.Child("completions"))...)
	errs = append(errs, notNegative(s.ActiveDeadlineSeconds, spec.Child("activeDeadlineSeconds"))...)
	errs = append(errs, notNegative(s.BackoffLimit, spec.Child("backoffLimit"))...)
	errs = append(errs, notNegative(s.TTLSecondsAfterFinished, spec.Child("ttlSecondsAfterFinished"))...)
	errs = append(errs, notNegative(s.BackoffLimitPerIndex, spec.Child("backoffLimitPerIndex"))...)
	errs = append(errs, notNegative(s.MaxFailedIndexes, spec.Child("maxFailedIndexes"))...)
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(spec.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if s.ManagedBy != nil {
		path := spec.Child("managedBy")
		errs = append(errs, utilvalidation.IsDomainPrefixedPath(path, *s.ManagedBy)...)
		if len(*s.ManagedBy) > maxManagedBy {
			errs = append(errs, field.TooLong(path, "", maxManagedBy))
		}
	}
	return errs
}

// validateCompletionMode checks what only one of the modes can have.
func validateCompletionMode(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch mode := ptr.Deref(s.CompletionMode, batchv1.NonIndexedCompletion); mode {
	case batchv1.IndexedCompletion:
		return validateIndexed(s, spec)
	case batchv1.NonIndexedCompletion:
		const only = "requires indexed completion mode"
		if n := s.BackoffLimitPerIndex; n != nil {
			errs = append(errs, field.Invalid(spec.Child("backoffLimitPerIndex"), *n, only))
		}
		if n := s.MaxFailedIndexes; n != nil {
			errs = append(errs, field.Invalid(spec.Child("maxFailedIndexes"), *n, only))
		}
	default:
		modes := []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}
		errs = append(errs, field.NotSupported(spec.Child("completionMode"), mode, modes))
	}
	return errs
}

func validateIndexed(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	atMost := func(n *int32, limit int32, name, message string) {
		if n != nil && *n > limit {
			errs = append(errs, field.Invalid(spec.Child(name), *n, message))
		}
	}
	if s.Completions == nil {
		errs = append(errs, field.Required(spec.Child("completions"), fmt.Sprintf("when completion mode is %s", batchv1.IndexedCompletion)))
	}
	atMost(s.Parallelism, manyCompletions, "parallelism",
		fmt.Sprintf("must be less than or equal to %d when completion mode is %s", manyCompletions, batchv1.IndexedCompletion))
	if s.Completions != nil {
		atMost(s.MaxFailedIndexes, *s.Completions, "maxFailedIndexes", "must be less than or equal to completions")
	}
	atMost(s.MaxFailedIndexes, manyCompletions, "maxFailedIndexes", fmt.Sprintf("must be less than or equal to %d", manyCompletions))
	if ptr.Deref(s.Completions, 0) <= manyCompletions || s.BackoffLimitPerIndex == nil {
		return errs
	}
	if s.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(spec.Child("maxFailedIndexes"), fmt.Sprintf("must be specified when completions is above %d", manyCompletions)))
	}
	tooMany := fmt.Sprintf("must be less than or equal to %d when completions are above %d and used with backoff limit per index", aTenth, manyCompletions)
	atMost(s.Parallelism, aTenth, "parallelism", tooMany)
	atMost(s.MaxFailedIndexes, aTenth, "maxFailedIndexes", tooMany)
	return errs
}

// validateReplacement checks when Pods are replaced: with a policy for failures, not
// before they have failed.
func validateReplacement(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	known := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if s.PodFailurePolicy != nil {
		known = known[:1]
	}
	if p := s.PodReplacementPolicy; p != nil && !slices.Contains(known, *p) {
		return field.ErrorList{field.NotSupported(path, *p, known)}
	}
	return nil
}

func validateJobRestarts(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	known := []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
	switch policy := s.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways || policy == "":
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q, %q", known[0], known[1]))}
	case !slices.Contains(known, policy):
		return field.ErrorList{field.NotSupported(path, policy, known)}
	case s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(path, policy, fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever))}
	}
	return nil
}

// validateJobUpdate refuses changes of what a Job runs, besides what is wrong with it in
// any case. Where the Pods of a suspended Job are scheduled can change, and what they
// need, while it has none.
func validateJobUpdate(object, current *unstructured.Unstructured) field.ErrorList {
	j, old := &batchv1.Job{}, &batchv1.Job{}
	jsontree.MustInto(object, j)
	jsontree.MustInto(current, old)
	errs := validateJobSpec(&j.Spec)
	errs = append(errs, validateCompletionsUpdate(&j.Spec, &old.Spec)...)
	errs = append(errs, unchanged(object, current, "spec", "selector")...)
	errs = append(errs, validateJobTemplateUpdate(j, old)...)
	for _, name := range []string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		errs = append(errs, unchanged(object, current, "spec", name)...)
	}
	return errs
}

func validateCompletionsUpdate(s, old *batchv1.JobSpec) field.ErrorList {
	path := field.NewPath("spec", "completions")
	switch {
	case ptr.Equal(s.Completions, old.Completions):
		return nil
	case !indexed(s):
		return field.ErrorList{field.Invalid(path, s.Completions, validation.FieldImmutableErrorMsg)}
	case s.Completions != nil && !ptr.Equal(s.Completions, s.Parallelism):
		return field.ErrorList{field.Invalid(path, s.Completions, "can only be modified in tandem with spec.parallelism")}
	}
	return nil
}

func validateJobTemplateUpdate(j, old *batchv1.Job) field.ErrorList {
	path := field.NewPath("spec", "template")
	suspended := ptr.Deref(old.Spec.Suspend, false)
	idle := suspended && hasCondition(old, batchv1.JobSuspended) && old.Status.Active == 0
	was := old.Spec.Template.DeepCopy()
	if idle {
		reschedule(was, &j.Spec.Template)
		keepResources(was.Spec.Containers, j.Spec.Template.Spec.Containers)
		keepResources(was.Spec.InitContainers, j.Spec.Template.Spec.InitContainers)
		if equality.Semantic.DeepEqual(&j.Spec.Template.Spec, &was.Spec) {
			return nil
		}
		return field.ErrorList{field.Invalid(path.Child("spec"), j.Spec.Template.Spec, validation.FieldImmutableErrorMsg)}
	}
	return validation.ValidateImmutableField(&j.Spec.Template, was, path)
}

// reschedule takes over where the Pods of a template are scheduled.
func reschedule(t, from *corev1.PodTemplateSpec) {
	if t.Spec.Affinity == nil {
		t.Spec.Affinity = &corev1.Affinity{}
	}
	t.Spec.Affinity.NodeAffinity = nil
	if from.Spec.Affinity != nil {
		t.Spec.Affinity.NodeAffinity = from.Spec.Affinity.NodeAffinity
	}
	if from.Spec.Affinity == nil && *t.Spec.Affinity == (corev1.Affinity{}) {
		t.Spec.Affinity = nil
	}
	t.Labels, t.Annotations = from.Labels, from.Annotations
	t.Spec.NodeSelector, t.Spec.Tolerations, t.Spec.SchedulingGates = from.Spec.NodeSelector, from.Spec.Tolerations, from.Spec.SchedulingGates
}

// keepResources takes over what containers need.
func keepResources(containers, from []corev1.Container) {
	if len(containers) != len(from) {
		return
	}
	for i := range containers {
		if containers[i].Name == from[i].Name {
			containers[i].Resources = from[i].Resources
		}
	}
}

// longestCronJob is how long the name of a CronJob can be: those of its Jobs have the time
// of the start besides, and are labels.
const longestCronJob = 52

func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if c.Spec.Schedule == "" {
		errs = append(errs, field.Required(spec.Child("schedule"), ""))
	} else {
		errs = append(errs, fieldrules.WellFormed("cron", c.Spec.Schedule, spec.Child("schedule"))...)
	}
	errs = append(errs, notNegative(c.Spec.StartingDeadlineSeconds, spec.Child("startingDeadlineSeconds"))...)
	if zone := c.Spec.TimeZone; zone != nil {
		errs = append(errs, fieldrules.WellFormed("time-zone", *zone, spec.Child("timeZone"))...)
	}
	policies := []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}
	if !slices.Contains(policies, c.Spec.ConcurrencyPolicy) {
		errs = append(errs, field.NotSupported(spec.Child("concurrencyPolicy"), c.Spec.ConcurrencyPolicy, policies))
	}
	job := spec.Child("jobTemplate", "spec")
	errs = append(errs, validateJobWork(&c.Spec.JobTemplate.Spec, job)...)
	if selector := c.Spec.JobTemplate.Spec.Selector; selector != nil {
		errs = append(errs, field.Invalid(job.Child("selector"), selector, "`selector` will be auto-generated"))
	}
	if ptr.Deref(c.Spec.JobTemplate.Spec.ManualSelector, false) {
		errs = append(errs, field.NotSupported(job.Child("manualSelector"), true, []string{"nil", "false"}))
	}
	errs = append(errs, notNegative(c.Spec.SuccessfulJobsHistoryLimit, spec.Child("successfulJobsHistoryLimit"))...)
	errs = append(errs, notNegative(c.Spec.FailedJobsHistoryLimit, spec.Child("failedJobsHistoryLimit"))...)
	if len(c.Name) > longestCronJob {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

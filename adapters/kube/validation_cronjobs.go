package kube

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/fieldrules"
)

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

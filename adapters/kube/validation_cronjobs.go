package kube

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// longestCronJob is how long the name of a CronJob can be: those of its Jobs have the time
// of the start besides, and are labels.
const longestCronJob = 52

// validateCronJob checks a CronJob. Whether its schedule is one, and whether there is such a
// time zone, is not known here.
func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	spec := field.NewPath("spec")
	schedule := spec.Child("schedule")
	var errs field.ErrorList
	switch {
	case c.Spec.Schedule == "":
		errs = append(errs, field.Required(schedule, ""))
	case strings.Contains(c.Spec.Schedule, "TZ"):
		errs = append(errs, field.Invalid(schedule, c.Spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	errs = append(errs, notNegative(c.Spec.StartingDeadlineSeconds, spec.Child("startingDeadlineSeconds"))...)
	if zone := c.Spec.TimeZone; zone != nil && *zone == "" {
		errs = append(errs, field.Invalid(spec.Child("timeZone"), *zone, "timeZone must be nil or non-empty string"))
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

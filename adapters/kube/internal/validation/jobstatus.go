package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
)

// hasCondition reports whether a condition of a Job is true.
func hasCondition(j *batchv1.Job, condition batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == condition && c.Status == corev1.ConditionTrue
	})
}

// jobChange is a new status of a Job. What was wrong before, and has not changed, is let
// pass.
type jobChange struct {
	job, old *batchv1.Job
	errs     field.ErrorList
}

// validateJobStatus returns what is wrong with a new status of a Job.
func validateJobStatus(object, current *unstructured.Unstructured) field.ErrorList {
	c := &jobChange{job: &batchv1.Job{}, old: &batchv1.Job{}}
	jsontree.MustInto(object, c.job)
	jsontree.MustInto(current, c.old)
	c.checkCounts()
	c.checkUncounted()
	c.checkConditions()
	c.checkFinished()
	c.checkTimes()
	c.checkIndexes()
	c.checkProgress()
	return c.errs
}

// refuse notes that a field of the status is invalid.
func (c *jobChange) refuse(name string, value any, message string) {
	c.errs = append(c.errs, field.Invalid(field.NewPath("status", name), value, message))
}

// refuseConditions notes that some conditions do not go with each other, or come or go
// when they must not.
func (c *jobChange) refuseConditions(message string) {
	c.refuse("conditions", field.OmitValueType{}, message)
}

func (c *jobChange) require(name, message string) {
	c.errs = append(c.errs, field.Required(field.NewPath("status", name), message))
}

// changed reports whether a condition has become true, or is true no more.
func (c *jobChange) changed(conditions ...batchv1.JobConditionType) bool {
	return slices.ContainsFunc(conditions, func(t batchv1.JobConditionType) bool { return hasCondition(c.job, t) != hasCondition(c.old, t) })
}

// finished reports whether a Job has come to its end.
func finished(j *batchv1.Job) bool {
	return hasCondition(j, batchv1.JobComplete) || hasCondition(j, batchv1.JobFailed)
}

func (c *jobChange) checkCounts() {
	status, now, was := field.NewPath("status"), c.job.Status, c.old.Status
	c.errs = append(c.errs, notNegative(&now.Active, status.Child("active"))...)
	c.errs = append(c.errs, notNegative(&now.Succeeded, status.Child("succeeded"))...)
	c.errs = append(c.errs, notNegative(&now.Failed, status.Child("failed"))...)
	c.errs = append(c.errs, notNegative(now.Ready, status.Child("ready"))...)
	c.errs = append(c.errs, notNegative(now.Terminating, status.Child("terminating"))...)
	if changed := !ptr.Equal(now.Ready, was.Ready) || now.Active != was.Active; changed && now.Ready != nil && *now.Ready > now.Active {
		c.refuse("ready", *now.Ready, "cannot set more ready pods than active")
	}
}

func (c *jobChange) checkUncounted() {
	pods := c.job.Status.UncountedTerminatedPods
	if pods == nil {
		return
	}
	path := field.NewPath("status", "uncountedTerminatedPods")
	seen := map[types.UID]bool{}
	check := func(uids []types.UID, path *field.Path) {
		for i, uid := range uids {
			switch {
			case uid == "":
				c.errs = append(c.errs, field.Invalid(path.Index(i), uid, "must not be empty"))
			case seen[uid]:
				c.errs = append(c.errs, field.Duplicate(path.Index(i), uid))
			}
			seen[uid] = true
		}
	}
	check(pods.Succeeded, path.Child("succeeded"))
	check(pods.Failed, path.Child("failed"))
}

// checkConditions checks that the conditions go with each other.
func (c *jobChange) checkConditions() {
	complete, failed := hasCondition(c.job, batchv1.JobComplete), hasCondition(c.job, batchv1.JobFailed)
	met, target := hasCondition(c.job, batchv1.JobSuccessCriteriaMet), hasCondition(c.job, batchv1.JobFailureTarget)
	failedIndexesChanged := !ptr.Equal(c.job.Status.FailedIndexes, c.old.Status.FailedIndexes)
	if complete && failed && c.changed(batchv1.JobComplete, batchv1.JobFailed) {
		c.refuseConditions("cannot set Complete=True and Failed=true conditions")
	}
	if complete && target && c.changed(batchv1.JobComplete, batchv1.JobFailureTarget) {
		c.refuseConditions("cannot set Complete=True and FailureTarget=true conditions")
	}
	if failed && !target && (c.changed(batchv1.JobFailed) || failedIndexesChanged) {
		c.refuseConditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if complete && !met && c.changed(batchv1.JobComplete, batchv1.JobSuccessCriteriaMet) {
		c.refuseConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
	if met && failed {
		c.refuseConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if met && target {
		c.refuseConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if c.job.Spec.SuccessPolicy != nil && !met && complete {
		c.refuseConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// checkFinished checks that nothing goes on in a Job that is finished.
func (c *jobChange) checkFinished() {
	if !finished(c.job) {
		return
	}
	now, was := c.job.Status, c.old.Status
	ended := !finished(c.old)
	if now.Active > 0 && (ended || now.Active != was.Active) {
		c.refuse("active", now.Active, "active>0 is invalid for finished job")
	}
	never := ptr.Deref(c.job.Spec.Suspend, false) && ptr.Equal(c.job.Spec.Completions, ptr.To(int32(0)))
	if now.StartTime == nil && (ended || was.StartTime != nil) && !never {
		c.require("startTime", "startTime is required for finished job")
	}
	if pods := now.UncountedTerminatedPods; pods != nil && len(pods.Failed)+len(pods.Succeeded) > 0 &&
		(ended || !equality.Semantic.DeepEqual(pods, was.UncountedTerminatedPods)) {
		c.refuse("uncountedTerminatedPods", pods, "must be empty for finished job")
	}
	if n := now.Terminating; ptr.Deref(n, 0) > 0 && (ended || !ptr.Equal(n, was.Terminating)) {
		c.refuse("terminating", n, "terminating>0 is invalid for finished job")
	}
}

func (c *jobChange) checkTimes() {
	now, was := c.job.Status, c.old.Status
	complete := hasCondition(c.job, batchv1.JobComplete)
	started, completed := !now.StartTime.Equal(was.StartTime), !now.CompletionTime.Equal(was.CompletionTime)
	if c.changed(batchv1.JobComplete) || completed {
		switch {
		case now.CompletionTime != nil && !complete:
			c.refuse("completionTime", now.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
		case now.CompletionTime == nil && complete:
			c.require("completionTime", "completionTime is required for Complete jobs")
		}
	}
	if (started || completed) && now.StartTime != nil && now.CompletionTime != nil && now.CompletionTime.Before(now.StartTime) {
		c.refuse("completionTime", now.CompletionTime, "must be equal to or after `startTime`")
	}
	if now.CompletionTime != nil && was.CompletionTime != nil && completed {
		c.refuse("completionTime", now.CompletionTime, "field is immutable")
	}
	if resumed := hasCondition(c.old, batchv1.JobSuspended) && c.notSuspended(); started && was.StartTime != nil && !resumed && !ptr.Deref(c.job.Spec.Suspend, false) {
		c.refuse("startTime", now.StartTime, "field is immutable for unsuspended job once set")
	}
}

// notSuspended reports whether the Job says that it is not suspended.
func (c *jobChange) notSuspended() bool {
	return slices.ContainsFunc(c.job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return condition.Type == batchv1.JobSuspended && condition.Status == corev1.ConditionFalse
	})
}

// checkIndexes checks which Pods have completed and which have failed.
func (c *jobChange) checkIndexes() {
	now, was := c.job.Status, c.old.Status
	completedChanged, failedChanged := now.CompletedIndexes != was.CompletedIndexes, !ptr.Equal(now.FailedIndexes, was.FailedIndexes)
	var completed, failed indexes
	if n := c.job.Spec.Completions; n != nil {
		var err error
		if completed, err = parseIndexes(now.CompletedIndexes, *n); err != nil && completedChanged {
			c.refuse("completedIndexes", now.CompletedIndexes, "error parsing completedIndexes: "+err.Error())
		}
		if failed, err = parseIndexes(ptr.Deref(now.FailedIndexes, ""), *n); err != nil && failedChanged && c.job.Spec.BackoffLimitPerIndex != nil {
			c.refuse("failedIndexes", now.FailedIndexes, "error parsing failedIndexes: "+err.Error())
		}
	}
	if completedChanged && now.CompletedIndexes != "" && !indexed(&c.job.Spec) {
		c.refuse("completedIndexes", now.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if failedChanged && now.FailedIndexes != nil && c.job.Spec.BackoffLimitPerIndex == nil {
		c.refuse("failedIndexes", *now.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if both, overlap := completed.common(failed); overlap && (completedChanged || failedChanged) {
		c.refuse("failedIndexes", *now.FailedIndexes, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", both))
	}
}

// checkProgress checks that a Job does not go back on what it has come to.
func (c *jobChange) checkProgress() {
	for _, last := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if hasCondition(c.old, last) && !hasCondition(c.job, last) {
			c.refuseConditions(fmt.Sprintf("cannot disable the terminal %s=True condition", last))
		}
	}
	now, was := c.job.Status, c.old.Status
	if now.Failed < was.Failed {
		c.refuse("failed", now.Failed, "cannot decrease the failed counter")
	}
	if scales := indexed(&c.job.Spec) && ptr.Equal(c.job.Spec.Completions, c.job.Spec.Parallelism); now.Succeeded < was.Succeeded && !scales {
		c.refuse("succeeded", now.Succeeded, "cannot decrease the succeeded counter")
	}
	met, wasMet := hasCondition(c.job, batchv1.JobSuccessCriteriaMet), hasCondition(c.old, batchv1.JobSuccessCriteriaMet)
	switch {
	case wasMet && !met:
		c.refuseConditions("cannot disable the SuccessCriteriaMet=True condition")
	case !wasMet && met && hasCondition(c.old, batchv1.JobComplete):
		c.refuseConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}

// indexes are numbers of the Pods of a Job, as intervals from the first to the last, both
// of which belong to them. They are written like "1,3-5,7".
type indexes [][2]int32

// parseIndexes reads the indexes of a Job with so many completions. What is written must
// be in order. With an error there are none.
func parseIndexes(text string, completions int32) (indexes, error) {
	if text == "" {
		return nil, nil
	}
	var all indexes
	for part := range strings.SplitSeq(text, ",") {
		interval, err := parseInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && all[n-1][1] >= interval[0] {
			return nil, notIncreasing(all[n-1][1], interval[0])
		}
		all = append(all, interval)
	}
	return all, nil
}

func notIncreasing(previous, current int32) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, current)
}

func parseInterval(text string, completions int32) (interval [2]int32, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > len(interval) {
		return interval, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	for i, end := range ends {
		n, err := strconv.Atoi(end)
		switch {
		case err != nil:
			return interval, fmt.Errorf("cannot convert string to integer for index: %q", end)
		case n >= int(completions):
			return interval, fmt.Errorf("too large index: %q", end)
		}
		interval[i] = int32(n)
	}
	switch {
	case len(ends) == 1:
		interval[1] = interval[0]
	case interval[0] >= interval[1]:
		return interval, notIncreasing(interval[0], interval[1])
	}
	return interval, nil
}

// count is how many indexes there are.
func (x indexes) count() int32 {
	var n int32
	for _, interval := range x {
		n += interval[1] - interval[0] + 1
	}
	return n
}

// common returns the first index that is among both.
func (x indexes) common(other indexes) (int32, bool) {
	for i, j := 0, 0; i < len(x) && j < len(other); {
		switch a, b := x[i], other[j]; {
		case a[0] <= b[1] && b[0] <= a[1]:
			return max(a[0], b[0]), true
		case a[0] <= b[0]:
			i++
		default:
			j++
		}
	}
	return 0, false
}

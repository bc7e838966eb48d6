package companions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// indexes are indexes of Pods, the smallest first.
type indexes []int

func (x indexes) has(index int) bool {
	_, found := slices.BinarySearch(x, index)
	return found
}

func (x *indexes) add(index int) {
	if at, found := slices.BinarySearch(*x, index); !found {
		*x = slices.Insert(*x, at, index)
	}
}

// String writes the indexes as the status of a Job does: "1,2,4-6".
func (x indexes) String() string {
	var parts []string
	for i := 0; i < len(x); {
		last := i
		for last+1 < len(x) && x[last+1] == x[last]+1 {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, strconv.Itoa(x[i]))
		case 1:
			parts = append(parts, strconv.Itoa(x[i]), strconv.Itoa(x[last]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", x[i], x[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// parseIndexes reads indexes below a number. What cannot be read is left out.
func parseIndexes(text string, below int) indexes {
	var x indexes
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			continue
		}
		for index := max(from, 0); index <= to && index < below; index++ {
			x.add(index)
		}
	}
	return x
}

// indexOf is the index of a Pod, -1 if it has none.
func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 {
		return -1
	}
	return index
}

// indexesOf are the indexes of Pods.
func indexesOf(pods []*corev1.Pod) indexes {
	var x indexes
	for _, pod := range pods {
		if index := indexOf(pod); index >= 0 {
			x.add(index)
		}
	}
	return x
}

// pending are the first indexes, up to a number of them, that need a Pod.
func (s *jobSync) pending(number int) indexes {
	taken := indexesOf(s.active)
	if waitsForEnd(s.job) {
		for _, pod := range filter(s.pods, isTerminating) {
			taken.add(indexOf(pod))
		}
	}
	var x indexes
	for index := 0; index < s.completions() && len(x) < number; index++ {
		if !taken.has(index) && !s.completed.has(index) && !s.given.has(index) {
			x = append(x, index)
		}
	}
	return x
}

// failures is a number of failures that a Pod was made with.
func failures(pod *corev1.Pod, annotation string) int {
	number, err := strconv.Atoi(pod.Annotations[annotation])
	if err != nil {
		return 0
	}
	return number
}

// tries is how often Pods of its index had failed before a Pod.
func tries(pod *corev1.Pod) int {
	return failures(pod, batchv1.JobIndexFailureCountAnnotation) + failures(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// failuresBefore are the annotations of a new Pod with the failures of those before it.
func (s *jobSync) failuresBefore(index int) map[string]string {
	if s.job.Spec.BackoffLimitPerIndex == nil {
		return nil
	}
	counted, ignored := 0, 0
	if before := s.replaced[index]; before != nil {
		counted, ignored = failures(before, batchv1.JobIndexFailureCountAnnotation), failures(before, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if policyFor(s.job, before).counts {
			counted++
		} else {
			ignored++
		}
	}
	annotations := map[string]string{batchv1.JobIndexFailureCountAnnotation: strconv.Itoa(counted)}
	if ignored > 0 {
		annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(ignored)
	}
	return annotations
}

// succeedsBy tells by which rule of its success policy a Job has succeeded.
func succeedsBy(job *batchv1.Job, completed indexes) (string, bool) {
	if job.Spec.SuccessPolicy == nil || len(completed) == 0 {
		return "", false
	}
	for number, rule := range job.Spec.SuccessPolicy.Rules {
		of, needed := completed, ptr.Deref(rule.SucceededCount, -1)
		if rule.SucceededIndexes != nil {
			required := parseIndexes(*rule.SucceededIndexes, int(ptr.Deref(job.Spec.Completions, 0)))
			if len(required) == 0 {
				continue
			}
			of = slices.DeleteFunc(slices.Clone(required), func(index int) bool { return !completed.has(index) })
			if needed < 0 {
				needed = int32(len(required))
			}
		}
		if needed >= 0 && len(of) >= int(needed) {
			return fmt.Sprintf("Matched rules at index %d", number), true
		}
	}
	return "", false
}

// policy is what the failure of a Pod comes to.
type policy struct {
	// counts tells that it counts towards the limits, and failsIndex that its index is given up.
	counts, failsIndex bool
	// failsJob says why the Job fails, "" if it does not.
	failsJob string
}

// policyFor is what the pod failure policy of a Job says of a Pod.
func policyFor(job *batchv1.Job, pod *corev1.Pod) policy {
	if job.Spec.PodFailurePolicy == nil {
		return policy{counts: true}
	}
	for number, rule := range job.Spec.PodFailurePolicy.Rules {
		what := ""
		switch {
		case rule.OnExitCodes != nil:
			what = exited(pod, rule.OnExitCodes)
		case len(rule.OnPodConditions) > 0:
			what = conditioned(pod, rule.OnPodConditions)
		}
		if what == "" {
			continue
		}
		switch rule.Action {
		case batchv1.PodFailurePolicyActionIgnore:
			return policy{}
		case batchv1.PodFailurePolicyActionFailIndex:
			return policy{counts: true, failsIndex: true}
		case batchv1.PodFailurePolicyActionFailJob:
			return policy{counts: true, failsJob: fmt.Sprintf("%s matching %v rule at index %d", what, rule.Action, number)}
		case batchv1.PodFailurePolicyActionCount:
			return policy{counts: true}
		}
	}
	return policy{counts: true}
}

// exited says which container has ended as required, "" if none has.
func exited(pod *corev1.Pod, required *batchv1.PodFailurePolicyOnExitCodesRequirement) string {
	for _, status := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		ended := status.State.Terminated
		if ended == nil || ended.ExitCode == 0 || required.ContainerName != nil && *required.ContainerName != status.Name {
			continue
		}
		if slices.Contains(required.Values, ended.ExitCode) == (required.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
			return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v", status.Name, pod.Namespace, pod.Name, ended.ExitCode)
		}
	}
	return ""
}

// conditioned says which condition a Pod has that is asked for, "" if it has none.
func conditioned(pod *corev1.Pod, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) string {
	for _, condition := range pod.Status.Conditions {
		for _, pattern := range patterns {
			if condition.Type == pattern.Type && condition.Status == pattern.Status {
				return fmt.Sprintf("Pod %s/%s has condition %v", pod.Namespace, pod.Name, condition.Type)
			}
		}
	}
	return ""
}

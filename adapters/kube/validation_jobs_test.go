package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// indexedJob is the spec of a Job with three numbered Pods.
func indexedJob(more tree) tree {
	spec := tree{"completionMode": "Indexed", "completions": 3, "parallelism": 3, "template": tree{"spec": tree{"restartPolicy": "Never", "containers": []any{tree{"name": "c", "image": "i"}}}}}
	for name, value := range more {
		spec[name] = value
	}
	return spec
}

func TestJobValidation(t *testing.T) {
	only := func(more tree) tree { return indexedJob(more) }
	rules := func(list ...any) tree { return tree{"rules": list} }
	exit := func(fields tree) tree { return tree{"action": "FailJob", "onExitCodes": fields} }
	for _, test := range []struct {
		spec tree
		want []string
	}{
		{only(nil), nil},
		{only(tree{"backoffLimitPerIndex": 1, "maxFailedIndexes": 2}), nil},
		{only(tree{"maxFailedIndexes": 4}), []string{
			"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
			"spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions",
		}},
		{only(tree{"completionMode": "NonIndexed", "backoffLimitPerIndex": 1}), []string{
			"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
		}},
		{only(tree{"parallelism": 100_001}), []string{
			"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
		}},
		{only(tree{"completions": 100_001, "parallelism": 10_001, "backoffLimitPerIndex": 1}), []string{
			"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000",
			"spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000",
		}},
		{only(tree{"managedBy": "nobody"}), []string{`spec.managedBy: Invalid value: "nobody": must be a domain-prefixed path`}},
		{only(tree{"podReplacementPolicy": "Odd"}), []string{`spec.podReplacementPolicy: Unsupported value: "Odd": supported values: "Failed", "TerminatingOrFailed"`}},
		{only(tree{"podFailurePolicy": rules(exit(tree{"operator": "In", "values": []any{1, 2}}))}), nil},
		{only(tree{"podFailurePolicy": rules(exit(tree{"operator": "In", "containerName": "d", "values": []any{2, 0, 2}}))}), []string{
			`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d"`,
			"spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
			"spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2",
			"spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered",
		}},
		{only(tree{"podFailurePolicy": rules(tree{"action": "FailIndex"})}), []string{
			`spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
			"spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
		}},
		{only(tree{"successPolicy": rules(tree{"succeededIndexes": "0-1", "succeededCount": 2})}), nil},
		{only(tree{"successPolicy": rules(tree{"succeededIndexes": "1,0", "succeededCount": 7}, tree{})}), []string{
			`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1,0": error parsing succeededIndexes: non-increasing order, previous: 1, current: 0`,
			"spec.successPolicy.rules[0].succeededCount: Invalid value: 7: must be less than or equal to 3",
			"spec.successPolicy.rules[0].succeededCount: Invalid value: 7: must be less than or equal to 0",
			"spec.successPolicy.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified",
		}},
	} {
		w := newWorld(t)
		r := request(Create, jobKind, "")
		r.Body = object(jobKind, tree{"name": "a"}, tree{"spec": test.spec})
		expectCauses(t, w, r, test.want)
	}
}

// The status of a Job can be written by others than the controller of Jobs, so a server
// sees to it that it makes sense, but only where it changes.
func TestJobStatusValidation(t *testing.T) {
	conditions := func(names string) string { return `"conditions":[` + names + `]` }
	is := func(name string) string { return `{"type":"` + name + `","status":"True"}` }
	complete := `{"startTime":"2020-01-01T00:00:00Z","completionTime":"2020-01-02T00:00:00Z",` + conditions(is("SuccessCriteriaMet")+","+is("Complete")) + `}`
	for _, test := range []struct {
		before, status string
		want           []string
	}{
		{"", complete, nil},
		{"", `{"active":-1,"ready":0}`, []string{
			"status.active: Invalid value: -1: must be greater than or equal to 0", "status.ready: Invalid value: 0: cannot set more ready pods than active",
		}},
		{"", `{` + conditions(is("Complete")) + `}`, []string{
			"status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
			"status.startTime: Required value: startTime is required for finished job",
			"status.completionTime: Required value: completionTime is required for Complete jobs",
		}},
		{"", `{"startTime":"2020-01-01T00:00:00Z",` + conditions(is("Failed")) + `}`, []string{
			"status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
		}},
		{"", `{"startTime":"2020-01-01T00:00:00Z","terminating":1,` + conditions(is("Failed")+","+is("FailureTarget")) + `}`, []string{
			"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
		}},
		{"", `{"uncountedTerminatedPods":{"succeeded":["x","x"],"failed":[""]}}`, []string{
			`status.uncountedTerminatedPods.succeeded[1]: Duplicate value: "x"`, `status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty`,
		}},
		{"", `{"completedIndexes":"0-1","failedIndexes":"1-2"}`, []string{
			`status.failedIndexes: Invalid value: "1-2": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
			`status.failedIndexes: Invalid value: "1-2": failedIndexes and completedIndexes overlap at index: 1`,
		}},
		{`{"succeeded":2,"failed":1}`, `{"succeeded":1,"failed":0}`, []string{"status.failed: Invalid value: 0: cannot decrease the failed counter"}},
		{`{"startTime":"2020-01-01T00:00:00Z"}`, `{"startTime":"2020-01-02T00:00:00Z"}`, []string{
			"status.startTime: Invalid value:",
		}},
		{complete, `{"completionTime":"2020-01-03T00:00:00Z"}`, []string{"status.completionTime: Invalid value:"}},
		{complete, `{` + conditions("") + `}`, []string{
			"status.completionTime: Invalid value:",
			"status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
			"status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
		}},
		{complete, `{"succeeded":3}`, nil},
	} {
		w := newWorld(t)
		r := request(Create, jobKind, "")
		r.Body = object(jobKind, tree{"name": "a"}, tree{"spec": indexedJob(nil)})
		w.must(r)
		write := func(status string) *Request {
			return ofStatus(patching(jobKind, "a", types.MergePatchType, `{"status":`+status+`}`))
		}
		if test.before != "" {
			w.must(write(test.before))
		}
		expectCauses(t, w, write(test.status), test.want)
	}
}

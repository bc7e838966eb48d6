package main

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/orrery-dev/orrery/adapters/controllerruntime"
	"github.com/orrery-dev/orrery/adapters/kube"
	"github.com/orrery-dev/orrery/adapters/kube/upstream"
	"github.com/orrery-dev/orrery/catalog"
	"github.com/orrery-dev/orrery/core"
	"github.com/orrery-dev/orrery/examples/jobset/operator"
	"github.com/orrery-dev/orrery/properties"
)

// entries returns the example for the command.
func entries() []catalog.Entry {
	return []catalog.Entry{{
		Name: "jobset",
		Doc:  "The published JobSet controllers with a JobSet of several replicated jobs.",
		Params: []catalog.Param{
			{Name: "jobsets", Doc: "JobSets", Default: 1, Min: 1, Max: 8},
			{Name: "groups", Doc: "replicated jobs of each JobSet", Default: 2, Min: 1, Max: 8},
			{Name: "replicas", Doc: "Jobs of each replicated job", Default: 1, Min: 1, Max: 8},
			{Name: "restarts", Doc: "how often a JobSet may be restarted; the first Job of each fails every time", Default: 0, Min: 0, Max: 4},
		},
		Build: func(v catalog.Values) (*core.System, error) {
			return newSystem(size{jobSets: v["jobsets"], groups: v["groups"], replicas: v["replicas"], restarts: v["restarts"]})
		},
	}}
}

// size says how large the system is.
type size struct {
	jobSets, groups, replicas int
	// restarts is how often a JobSet may be restarted. If it may be at all, its first
	// Job fails every time.
	restarts int
}

// newSystem returns the controllers with JobSets of a size.
func newSystem(of size) (*core.System, error) {
	scheme, err := operator.NewScheme()
	if err != nil {
		return nil, err
	}
	definition, err := operator.DefinitionFile()
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for i := range of.jobSets {
		objects = append(objects, operator.NewJobSet(fmt.Sprintf("js%d", i+1), of.groups, of.replicas, of.restarts))
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("jobset"),
		controllerruntime.CRDs(definition),
		controllerruntime.APIServer(kube.WithRules(upstream.Rules())),
		controllerruntime.Setup(operator.Setup),
		controllerruntime.Reconciler("job", func(c client.Client) reconcile.Reconciler {
			return &operator.Jobs{Client: c, Fails: func(job *batchv1.Job) bool {
				return of.restarts > 0 && job.Labels[api.ReplicatedJobNameKey] == "group1" && job.Labels[api.JobIndexKey] == "0"
			}}
		}, controllerruntime.For(&batchv1.Job{})),
		controllerruntime.GarbageCollection(&batchv1.Job{}, &corev1.Service{}),
		controllerruntime.ObjectValues(objects...),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

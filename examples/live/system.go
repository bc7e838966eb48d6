package main

import (
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
		Name:  "jobset",
		Doc:   "The published JobSet controllers with a JobSet of several replicated jobs.",
		Build: func(catalog.Values) (*core.System, error) { return newSystem() },
	}}
}

// newSystem returns the controllers that are recorded, with the JobSet of the recording at its start.
func newSystem() (*core.System, error) {
	scheme, err := operator.NewScheme()
	if err != nil {
		return nil, err
	}
	definition, err := operator.DefinitionFile()
	if err != nil {
		return nil, err
	}
	return controllerruntime.New(scheme,
		controllerruntime.Name("jobset"),
		controllerruntime.CRDs(definition),
		controllerruntime.APIServer(kube.WithRules(upstream.Rules()), kube.ManagedFields()),
		controllerruntime.Setup(operator.Setup),
		controllerruntime.Reconciler("jobs", func(c client.Client) reconcile.Reconciler { return newJobs(c) }, controllerruntime.For(&batchv1.Job{})),
		controllerruntime.GarbageCollection(&batchv1.Job{}, &corev1.Service{}),
		controllerruntime.ObjectValues(newJobSet("js1", 1)),
		controllerruntime.Properties(properties.Convergent()...),
	)
}

// failing is the image of what fails.
const failing = "failing:1"

// newJobs returns what stands in for the controller of Jobs, recorded as well. A Job with the image of what fails does.
func newJobs(c client.Client) *operator.Jobs {
	return &operator.Jobs{Client: c, Fails: func(job *batchv1.Job) bool { return job.Spec.Template.Spec.Containers[0].Image == failing }}
}

// newJobSet is a JobSet with two Jobs. It may be restarted so often, and then the first Job fails every time.
func newJobSet(name string, restarts int) *api.JobSet {
	js := operator.NewJobSet(name, 2, 1, restarts)
	if restarts > 0 {
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0].Image = failing
	}
	return js
}

package kube

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/orrery-dev/orrery/adapters/kube/internal/apply"
	"github.com/orrery-dev/orrery/adapters/kube/internal/builtin"
	"github.com/orrery-dev/orrery/adapters/kube/internal/jsontree"
	"github.com/orrery-dev/orrery/adapters/kube/internal/kinds"
	"github.com/orrery-dev/orrery/adapters/kube/internal/storage"
	"github.com/orrery-dev/orrery/core"
)

// evict deletes a Pod if its disruption budget allows for it.
func (op *operation) evict() (*Response, error) {
	eviction := &policyv1.Eviction{}
	if err := jsontree.Decode(op.request.Body, eviction); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if eviction.Name != op.request.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	deletion, err := op.evictionAs(eviction.DeleteOptions)
	if err != nil {
		return nil, err
	}
	key := op.key(op.request.Name)
	from := op.find(key)
	if from == nil {
		return nil, op.notFound()
	}
	pod := &corev1.Pod{}
	if err := jsontree.Into(from.Tree, pod); err != nil {
		return nil, err
	}
	if !isDisrupted(pod) {
		if err := op.spendBudget(pod); err != nil {
			return nil, err
		}
	}
	if err := deletion.checkPreconditions(key, from); err != nil {
		return nil, err
	}
	if deletion.request.DryRun {
		op.writes = nil
		return done(nil), nil
	}
	object := from.Copy()
	builtin.SetCondition(builtin.PodStatus(object), corev1.PodCondition{
		LastTransitionTime: op.server.now(),
		Type:               corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	deletion.removeChanged(key, from, object)
	op.writes = append(op.writes, deletion.writes...)
	return done(nil), nil
}

// evictionAs is the deletion that an eviction comes down to. The request or the body may
// ask for a dry run, or both.
func (op *operation) evictionAs(options *metav1.DeleteOptions) (*operation, error) {
	request := &Request{
		Verb: Delete, Kind: op.request.Kind, Namespace: op.request.Namespace, Name: op.request.Name, DryRun: op.request.DryRun,
	}
	if options != nil {
		all := []string{metav1.DryRunAll}
		if op.request.DryRun && len(options.DryRun) > 0 && !slices.Equal(options.DryRun, all) {
			return nil, builtin.InternalError(fmt.Sprintf("Non-matching dry-run options in request and content: %v and %v", all, options.DryRun))
		}
		request.DryRun = request.DryRun || len(options.DryRun) > 0
		request.GracePeriodSeconds = options.GracePeriodSeconds
		if options.PropagationPolicy != nil {
			request.Propagation = string(*options.PropagationPolicy)
		}
		if p := options.Preconditions; p != nil {
			if p.UID != nil {
				request.PreconditionUID = string(*p.UID)
			}
			if p.ResourceVersion != nil {
				request.PreconditionResourceVersion = *p.ResourceVersion
			}
		}
	}
	return &operation{server: op.server, state: op.state, request: request, resource: op.resource}, nil
}

// isDisrupted reports whether a Pod does not serve anyway, so that no budget counts it.
func isDisrupted(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodPending, corev1.PodFailed, corev1.PodSucceeded:
		return true
	}
	return pod.DeletionTimestamp != nil
}

// spendBudget takes the eviction from the budget of a Pod, if it has one.
func (op *operation) spendBudget(pod *corev1.Pod) error {
	budgets, err := op.budgets(pod)
	switch {
	case err != nil || len(budgets) == 0:
		return err
	case len(budgets) > 1:
		return builtin.InternalError("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	budget := budgets[0]
	if !isReady(pod) {
		always := budget.Spec.UnhealthyPodEvictionPolicy != nil && *budget.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		if always || budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0 {
			return nil
		}
	}
	resource := policyv1.Resource("poddisruptionbudget")
	switch status := &budget.Status; {
	case status.ObservedGeneration < budget.Generation:
		return tooManyRequests(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget.Name))
	case status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(resource, budget.Name, fmt.Errorf("pdb disruptions allowed is negative"))
	case status.DisruptionsAllowed == 0:
		return tooManyRequests(0, whyExhausted(budget))
	}
	return op.writeBudget(budget, pod.Name)
}

// budgets are the disruption budgets that select a Pod.
func (op *operation) budgets(pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	var found []*policyv1.PodDisruptionBudget
	for _, o := range op.state.List(kinds.Budget, pod.Namespace) {
		budget := &policyv1.PodDisruptionBudget{}
		if err := jsontree.Into(storage.Of(o.Content).Tree, budget); err != nil {
			return nil, err
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, budget)
		}
	}
	return found, nil
}

// whyExhausted says why a budget allows for no disruption.
func whyExhausted(budget *policyv1.PodDisruptionBudget) string {
	status := budget.Status
	condition := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	explained := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case explained && condition.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", budget.Name, condition.Message)
	case status.CurrentHealthy <= status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy, status.CurrentHealthy)
	case explained:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", budget.Name, condition.Reason, condition.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", budget.Name)
}

// tooManyRequests is the refusal of an eviction for the time being.
func tooManyRequests(retryAfterSeconds int, cause string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}

// writeBudget counts a Pod as disrupted.
func (op *operation) writeBudget(budget *policyv1.PodDisruptionBudget, pod string) error {
	status := &budget.Status
	status.DisruptionsAllowed--
	if status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
			ObservedGeneration: status.ObservedGeneration, LastTransitionTime: op.server.now(),
		})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod] = op.server.now()
	tree, err := jsontree.Of(budget)
	if err != nil {
		return err
	}
	key := core.Key{Kind: kinds.Budget, Namespace: budget.Namespace, Name: budget.Name}
	from := op.find(key)
	if managers := apply.RecordOf(from.Meta()); managers != nil {
		jsontree.Set(tree, managers, "metadata", "managedFields")
	}
	op.commit(key, from, op.next(key, tree))
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
